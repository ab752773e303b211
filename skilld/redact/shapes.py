"""Find tokens that no prefix gives away, by their shape: telegram and discord bots, web hooks, JWTs and the like. Pure.

Each shape has an anchor, a plain substring that every such token contains. Only a window around each anchor is
matched, so the time is linear in the text. Sources: the issuers' public documentation; RFC 7519 for JWTs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from skilld.redact.findings import Finding
from skilld.redact.tokens import begins_token, in_base64
from skilld.redact.values import is_opaque, is_stand_in


class Shape(NamedTuple):
    """Tokens that match `pattern`, from at most `before` characters before an occurrence of `anchor` to `after` behind.

    Without an anchor the pattern itself begins with a rare character. What matched must not stand inside a longer word
    and not be a stand-in (but for those whose issuer's own tools take one); only its group `secret` is the finding.
    """

    kind: str
    anchor: str
    pattern: re.Pattern[str]
    before: int
    after: int
    stand_ins: bool = False


def _shape(kind: str, anchor: str, pattern: str, before: int, after: int, *, stand_ins: bool = False) -> Shape:
    if "?P<secret>" not in pattern:
        pattern = f"(?P<secret>{pattern})"
    return Shape(kind, anchor, re.compile(pattern, re.ASCII), before, after, stand_ins)


SHAPES = (
    _shape("jwt", "eyJ", r"eyJ[\w-]{8,}+=*+\.[\w-]{8,}+=*+(?:\.[\w-]*+){0,3}=*+", 0, 16384),
    _shape("azure-client-secret", "Q~", r"[\w.~-]{3}\dQ~[\w.~-]{31,34}", 4, 40),
    _shape("telegram", ":A", r"\d{8,10}:A[\w-]{34}", 10, 40),
    _shape("discord", "", r"[MNO][\w-]{23,27}+\.[\w-]{6}\.[\w-]{27,40}", 0, 0),
    _shape("mailchimp", "-us", r"[0-9a-f]{32}-us\d{1,2}", 32, 6),
    _shape("facebook", "|", r"\d{15,16}\|[\w-]{27}", 16, 30),
    _shape("airtable", "pat", r"pat\w{14}\.[0-9a-f]{64}", 0, 90),
    _shape("asana", "", r"[012]/\d{15,18}(?:/\d{15,18})?:[0-9a-f]{32}", 0, 0),
    _shape("terraform", ".atlasv1.", r"\w{14}\.atlasv1\.[\w=-]{50,}", 14, 120),
    _shape("maxmind", "_mmk", r"\w{6}_\w{29}_mmk", 37, 4),
    _shape("twilio", "SK", r"SK[a-z0-9]{32}", 0, 40, stand_ins=True),
    _shape("twilio", "AC", r"AC[a-z0-9]{32}", 0, 40, stand_ins=True),
    _shape("artifactory", "AKC", r"AKC[A-Za-z0-9]{10,}", 0, 256, stand_ins=True),
    _shape("artifactory", "AP", r"AP[0-9A-F][A-Za-z0-9]{8,}", 0, 256, stand_ins=True),
    _shape(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/\w+/(?P<secret>T\w+(?:/[\w-]+){1,4})",
        0,
        256,
        stand_ins=True,
    ),
    _shape(
        "softlayer", "api.softlayer.com/soap/", r"api\.softlayer\.com/soap/v3(?:\.1)?/(?P<secret>[a-z0-9]{64})", 0, 100
    ),
    _shape("discord-webhook", "/api/webhooks/", r"/api/webhooks/(?P<secret>\d{15,20}/[\w-]{50,})", 0, 160),
    _shape("teams-webhook", ".webhook.office.com/", r"\.webhook\.office\.com/(?P<secret>[\w@/-]{60,})", 0, 400),
    _shape("signed-url", "sig=", r"sig=(?P<secret>[\w%+/=-]{40,})", 0, 200),
    _shape("signed-url", "-Signature=", r"-Signature=(?P<secret>[\w%+/=-]{60,})", 0, 1200),
)


def find(text: str) -> Iterator[Finding]:
    """Yield every token of a known shape in `text`."""
    for shape in SHAPES:
        for found in _matches(text, shape):
            start, end = found.span("secret")
            if _is_token(text, shape, start, end):
                yield Finding(start, end, shape.kind)


def _matches(text: str, shape: Shape) -> Iterator[re.Match[str]]:
    if not shape.anchor:
        yield from shape.pattern.finditer(text)
        return
    at = text.find(shape.anchor)
    while at >= 0:
        end = min(len(text), at + shape.after)
        if shape.before:
            found = shape.pattern.search(text, max(0, at - shape.before), end)
        else:
            found = shape.pattern.match(text, at, end) if begins_token(text, at, "_-") else None
        if found:
            yield found
        at = text.find(shape.anchor, max(at + 1, found.end() if found else 0))


def _is_token(text: str, shape: Shape, start: int, end: int) -> bool:
    if shape.kind != "discord" and not begins_token(text, start, "_-"):
        return False
    if text[end : end + 1].isalnum() or in_base64(text, start):
        return False
    body = text[start:end]
    if shape.kind == "artifactory":
        return body[2].isdigit() or is_opaque(body) or not _has_vowels(body[3:])
    return shape.stand_ins or not is_stand_in(body)


def _has_vowels(word: str) -> bool:
    return any(char in "aeiouyAEIOUY" for char in word)
