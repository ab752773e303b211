"""Find private keys: PEM and PGP blocks, whole or cut off at either end, and PuTTY keys. Pure.

Source: RFC 7468 (PEM), RFC 9580 (PGP armour), PuTTY's documentation of its key file. A mere mention of the first line
is no key: some base64 must follow (or stand before the last line).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding

_LONGEST = 16384  # a 16,384 bit RSA key takes 12,700 characters
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_MARK = "PRIVATE KEY"
_BASE64_LINE = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{24,}")
# What may stand between the lines of a key that was pasted: line ends, also escaped, quotes, commas, `>` and `|`.
_JOIN = r"[\s\\\"'`,>|+#*]"
_LINES = rf"(?:{_JOIN}*+[A-Za-z0-9+/=]{{4,}}+)*+"
_FIELD = r"[A-Z][A-Za-z-]{1,40}+: [^\n]{1,80}+\n"  # Proc-Type and the like
_BODY = re.compile(rf"{_JOIN}*+(?:{_FIELD})*+{_LINES}")
_TAIL_REVERSED = re.compile(_LINES)
_PUTTY = re.compile(r"Private-Lines: \d{1,4}\s*+(?P<secret>(?:[A-Za-z0-9+/=]{4,}+[ \t]*+(?:\r?\n|$))++)")


def find(text: str) -> Iterator[Finding]:
    """Yield every private key block in `text`, from its first line to its last, or as far as its base64 goes."""
    covered = 0
    for found in _lines(text, _BEGIN):
        if found.start() >= covered:
            covered = _end_of_block(text, found)
            if covered:
                yield Finding(found.start(), covered, "private-key")
    for found in _lines(text, _END):
        start = _start_of_tail(text, found.start())
        if start < found.start():
            yield Finding(start, found.end(), "private-key")
    for found in _PUTTY.finditer(text):
        yield Finding(*found.span("secret"), "private-key")


def _lines(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    return pattern.finditer(text) if _MARK in text else iter(())


def _end_of_block(text: str, begin: re.Match[str]) -> int:
    """Return where the block ends that `begin` opens, 0 if no key follows."""
    end = _END.search(text, begin.end(), begin.end() + _LONGEST)
    again = _BEGIN.search(text, begin.end(), end.start() if end else begin.end() + _LONGEST)
    if end and not again:
        return end.end() if _BASE64_LINE.search(text, begin.end(), end.start()) else 0
    body = _BODY.match(text, begin.end())
    return body.end() if body and _BASE64_LINE.search(text, begin.end(), body.end()) else 0


def _start_of_tail(text: str, at: int) -> int:
    """Return where the base64 begins that runs up to `at` (the rest of a block whose first lines were cut off)."""
    reversed_text = text[max(0, at - _LONGEST) : at][::-1]
    tail = _TAIL_REVERSED.match(reversed_text)
    start = at - (tail.end() if tail else 0)
    return start if _BASE64_LINE.search(text, start, at) else at
