"""Find tokens by the prefix their issuer documents. Pure: text in, findings out.

Each prefix is looked for as a plain substring, and what follows is read once with a bounded, possessive class: the
time is linear in the text whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from skilld.redact.findings import Finding
from skilld.redact.formats import FORMATS, Format
from skilld.redact.values import is_opaque, is_stand_in, is_template

_LONGEST = 4096  # a 1Password service account token has about 900 characters
_SHORT = re.compile(r".{1,3}|[a-z]{3}[-.]")  # prefixes that may also be the middle of a name or of base64url text
_BASE64 = re.compile(r"[A-Za-z0-9+/]{32}")
_KINDS = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]")))
_ESCAPE = re.compile(r"\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9a-fA-F]{4}")
_ESCAPE_LENGTH = 6


def find(text: str) -> Iterator[Finding]:
    """Yield every token of a known format in `text`."""
    for token_format in FORMATS:
        for prefix in token_format.prefixes.split():
            at = text.find(prefix)
            while at >= 0:
                end = _end_of_token(text, at, prefix, token_format)
                if end:
                    yield Finding(at, end, token_format.kind)
                at = text.find(prefix, end or at + len(prefix))


def begins_token(text: str, at: int, joiners: str = "") -> bool:
    """Whether a token may begin at `at`: no letter, digit or one of `joiners` stands directly before it.

    The last letter of an escape in JSON or in a URL (a newline written as two characters, `%3D`) is no letter here.
    """
    if at == 0:
        return True
    before = text[at - 1]
    if not (before.isalnum() or before in joiners):
        return True
    return any(found.end() == at for found in _ESCAPE.finditer(text, max(0, at - _ESCAPE_LENGTH), at))


def _end_of_token(text: str, at: int, prefix: str, token_format: Format) -> int:
    """Return where the token that begins at `at` ends, 0 if there is none."""
    if not begins_token(text, at, "_-+/." if _SHORT.fullmatch(prefix) else ""):
        return 0
    found = _body(token_format.alphabet, token_format.least).match(text, at + len(prefix))
    if not found or text[found.end() : found.end() + 1].isalnum() or in_base64(text, at):
        return 0
    if is_template(found[0]) or (token_format.opaque and not is_opaque(found[0])):
        return 0
    if is_stand_in(found[0]) and not token_format.repeats:
        return 0
    return found.end()


def in_base64(text: str, at: int) -> bool:
    """Whether a long piece of base64 runs up to `at`, so that a prefix there is chance."""
    before = _BASE64.fullmatch(text, max(0, at - 32), at)
    return before is not None and all(kind.search(before[0]) for kind in _KINDS)


@cache
def _body(alphabet: str, least: int) -> re.Pattern[str]:
    return re.compile(rf"[{alphabet}]{{{least},{_LONGEST}}}+")
