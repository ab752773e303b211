"""What a token format is: a prefix that its issuer documents, and what may follow it. Pure data."""

from __future__ import annotations

from typing import NamedTuple

DIGIT_UPPER = "A-Z0-9"
HEX = "0-9a-fA-F"
HEX_DASH = r"0-9a-fA-F\-"
ALNUM = "A-Za-z0-9"
WORD = "A-Za-z0-9_"
URL = r"A-Za-z0-9_\-"  # base64url without padding
DOTTED = r"A-Za-z0-9_.=\-"
BASE64 = r"A-Za-z0-9+/=_\-"


class Format(NamedTuple):
    """Tokens of one issuer: any of `prefixes`, then at least `least` characters of `alphabet` (a regex class body).

    `prefixes` are separated by blanks. `opaque` asks that the rest looks made by a machine: for prefixes so short that
    an ordinary name may begin with them. `repeats` tells that even one character over and over makes a key.
    """

    kind: str
    prefixes: str
    alphabet: str
    least: int
    opaque: bool = False
    repeats: bool = False
