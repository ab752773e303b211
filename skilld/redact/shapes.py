"""Find tokens that no prefix gives away, by their shape: bots, JWTs, keys with a mark in the middle. Pure.

A shape has an anchor, a plain substring that every such token holds, and only what lies around it is matched; or it
begins with a rare character. The time is linear in the text. Sources: the issuers' documentation; RFC 7519 for JWTs.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from skilld.redact.findings import Finding
from skilld.redact.opacity import is_opaque
from skilld.redact.tokens import begins_token
from skilld.redact.values import is_stand_in

_JOSE_HEADER = re.compile(rb'\{"[\w.-]+"\s*:')  # how a JOSE header begins, whatever follows
_URL_SAFE = str.maketrans("-_", "+/")
_VOWEL = re.compile(r"(?i)[aeiouy]")


class Shape(NamedTuple):
    """Tokens that match `pattern`, from at most `before` characters before an occurrence of `anchor` to `after` behind.

    With `before` 0 they begin with the anchor; with an empty anchor, with a rare character. `is_real` judges the whole
    token. `inside` says that so unusual a shape counts inside a longer word too.
    """

    kind: str
    anchor: str
    pattern: re.Pattern[str]
    is_real: Callable[[str], bool]
    before: int
    after: int
    inside: bool


def _is_real(token: str) -> bool:
    return not is_stand_in(token)


def _is_any(token: str) -> bool:
    return bool(token)


def _is_jwt(token: str) -> bool:
    header = token.partition(".")[0].rstrip("=").translate(_URL_SAFE)
    return _JOSE_HEADER.match(binascii.a2b_base64(header[: len(header) // 4 * 4])) is not None


def _is_artifactory(token: str) -> bool:
    """Whether the rest is no name that happens to begin with the two letters, as `APDocument` does."""
    return token[2].isdigit() or is_opaque(token) or not _VOWEL.search(token[3:])


def _shape(
    kind: str,
    anchor: str,
    pattern: str,
    is_real: Callable[[str], bool] = _is_real,
    *,
    before: int = 0,
    after: int = 0,
    inside: bool = False,
) -> Shape:
    return Shape(kind, anchor, re.compile(pattern, re.ASCII), is_real, before, after, inside)


SHAPES = (
    _shape("jwt", "eyJ", r"eyJ[\w-]{8,}+=*+\.[\w-]{8,}+=*+(?:\.[\w-]*+){0,3}=*+", _is_jwt),
    _shape("azure-client-secret", "Q~", r"[\w.~-]{3}\dQ~[\w.~-]{31,34}", before=4, after=40),
    _shape("telegram", ":A", r"\d{5,16}+:A[\w-]{34}", before=16, after=40, inside=True),
    _shape("discord", "", r"[MNO][\w-]{23,27}+\.[\w-]{6}\.[\w-]{27,40}", inside=True),
    _shape("mailchimp", "-us", r"[0-9a-f]{32}-us\d{1,2}", before=32, after=6),
    _shape("facebook", "|", r"\d{15,16}\|[\w-]{27}", before=16, after=32),
    _shape("airtable", "pat", r"pat\w{14}\.[0-9a-f]{64}"),
    _shape("asana", "", r"[012]/\d{15,18}(?:/\d{15,18})?:[0-9a-f]{32}"),
    _shape("terraform", ".atlasv1.", r"\w{14}\.atlasv1\.[\w=-]{50,200}", before=14, after=216),
    _shape("maxmind", "_mmk", r"\w{6}_\w{29}_mmk", before=37, after=4),
    _shape("twilio", "SK", r"SK[a-z0-9]{32}", _is_any),
    _shape("twilio", "AC", r"AC[a-z0-9]{32}", _is_any),
    _shape("artifactory", "AKC", r"AKC[A-Za-z0-9]{10,512}", _is_any),
    _shape("artifactory", "AP", r"AP[0-9A-F][A-Za-z0-9]{8,512}", _is_artifactory),
)


def find(text: str) -> Iterator[Finding]:
    """Yield every token of a known shape in `text`."""
    for shape in SHAPES:
        for found in _matches(text, shape):
            ends = not text[found.end() : found.end() + 1].isalnum()
            if ends and (shape.inside or begins_token(text, found.start())) and shape.is_real(found[0]):
                yield Finding(*found.span(), shape.kind)


def _matches(text: str, shape: Shape) -> Iterator[re.Match[str]]:
    if not shape.anchor:
        yield from shape.pattern.finditer(text)
        return
    at = text.find(shape.anchor)
    while at >= 0:
        if shape.before:
            found = shape.pattern.search(text, max(0, at - shape.before), at + shape.after)
        else:
            found = shape.pattern.match(text, at) if begins_token(text, at, "_-") else None
        if found:
            yield found
        at = text.find(shape.anchor, max(at + 1, found.end() if found else 0))
