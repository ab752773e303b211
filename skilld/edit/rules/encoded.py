"""Lint family T-15: text that a reader cannot read: encoded, or a blob of no known form.

What can be decoded is decoded once; a decoded sentence is refused, whatever it says. Digests, identifiers and paths
are told from payloads by what decoding them gives.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag, refuse

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9a-fA-F]{2}[ ,:]?){12,})(?![0-9A-Za-z])")
_ESCAPES = re.compile(r"(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[0-3][0-7]{2}){4,}")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}){4,}")
_ENTITIES = re.compile(r"(?:&#(?:\d{2,7}|x[0-9a-fA-F]{2,6});){4,}")
_BINARY = re.compile(r"(?:[01]{8}\s?){4,}")
_MORSE = re.compile(r"(?:[.\-–·]{1,6}(?:\s|/)+){8,}")
_TOKEN = re.compile(r"\S{200,}")
_BLOB = 60  # characters from which a run without any meaning is opaque
_BLOB_ENTROPY = 4.3  # bits per character; English in base64 has about 5, identifiers under 4.2
_PART = 20  # characters between the signs of base64; a path has about 8 between its slashes
_READABLE = 0.95  # share of its characters
_SHORTEST = 4  # characters of a word that commands anything


def check(change: Change) -> Iterator[Finding]:
    """Refuse text that says something only when decoded; flag what stays opaque."""
    for pattern, decode in _CODES:
        for match in change.matches(pattern):
            decoded = decode(match[0])
            if _is_text(decoded):
                yield refuse("encoded-text", "It adds encoded text that reads", decoded)
    for match in change.matches(_MORSE):
        yield flag("encoded-text", "It adds text in Morse code", match[0])
    for match in change.matches(_BASE64):
        if _is_blob(match[0]):
            yield refuse("opaque-blob", "It adds data that nobody can read", match[0])
    for match in change.matches(_TOKEN):
        yield flag("opaque-blob", "It adds a very long word", match[0])


def _base64(text: str) -> str:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _hex(text: str) -> str:
    return bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", text.removeprefix("0x"))).decode("utf-8", "replace")


def _escapes(text: str) -> str:
    return codecs.decode(text, "unicode_escape")


def _binary(text: str) -> str:
    return "".join(chr(int(octet, 2)) for octet in re.findall(r"[01]{8}", text))


_CODES: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (_BASE64, _base64),
    (_HEX, _hex),
    (_ESCAPES, _escapes),
    (_PERCENT, unquote),
    (_ENTITIES, html.unescape),
    (_BINARY, _binary),
)


def _is_text(decoded: str) -> bool:
    """Whether it reads as words: nearly all printable ASCII, half of it letters, as no random bytes would be."""
    printable = sum(char.isascii() and (char.isprintable() or char in "\n\t") for char in decoded)
    letters = sum(char.isalpha() for char in decoded)
    return len(decoded) >= _SHORTEST and printable >= _READABLE * len(decoded) and 2 * letters >= len(decoded)


def _is_blob(run: str) -> bool:
    """Whether a run has the length, the mixture and the evenness of encoded bytes, and no words between its signs."""
    kinds = all(any(test(char) for char in run) for test in (str.isupper, str.islower, str.isdigit))
    counts = Counter(run)
    entropy = -sum(n / len(run) * math.log2(n / len(run)) for n in counts.values())
    parts = len(re.findall(r"[/+_-]+", run)) + 1
    return len(run) >= _BLOB and kinds and entropy >= _BLOB_ENTROPY and len(run) / parts >= _PART
