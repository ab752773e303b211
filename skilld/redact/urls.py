"""Find the secret parts of URLs: userinfo, the paths of web hooks, signatures. Pure.

Sources: RFC 3986 (userinfo); the documentation of Slack, Discord and Teams web hooks, of Azure's shared access
signatures, of AWS and Google signed URLs. Every pattern begins with plain characters, which are searched fast, and
stops at the next slash, blank or quote, so the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.opacity import is_opaque
from skilld.redact.values import is_nominal, is_template

_PASSWORD = re.compile(
    r"""://[^\s:/?#@"'`<>()]{0,128}+:(?P<secret>[^\s/?#"'`<>;]{1,256})@(?P<host>[\w\[$%{][\w.-]{0,253}+)"""
)
_STAND_IN_HOST = re.compile(
    r"(?i)(?:[\w-]+\.)*(?:host|hostname|localhost|server|domain|example)(?:\.\w+)?"
)  # and RFC 2606
_USER = re.compile(r"""://(?P<secret>[^\s:/?#@"'`<>()]{8,512}+)@(?=[\w\[])""")
_PARTS = (
    ("slack-webhook", re.compile(r"hooks\.slack\.com/\w{1,32}/(?P<secret>T\w{1,32}(?:/[\w-]{1,64}+){1,4})")),
    ("discord-webhook", re.compile(r"/api/webhooks/(?P<secret>\d{15,20}/[\w-]{50,100}+)")),
    ("teams-webhook", re.compile(r"\.webhook\.office\.com/(?P<secret>[\w@/-]{60,512}+)")),
    ("softlayer", re.compile(r"api\.softlayer\.com/soap/v3(?:\.1)?/(?P<secret>[a-z0-9]{64})")),
    ("signed-url", re.compile(r"sig=(?P<secret>[\w%+/-]{40,512}+=*+)")),
    ("signed-url", re.compile(r"-Signature=(?P<secret>[\w%+/-]{60,2048}+=*+)")),
)


def find(text: str) -> Iterator[Finding]:
    """Yield every password, web hook path and signature in the URLs of `text`."""
    for found in _PASSWORD.finditer(text):
        stand_in = is_nominal(found["secret"]) and _STAND_IN_HOST.fullmatch(found["host"])
        if not (stand_in or is_template(found["secret"])):
            yield Finding(*found.span("secret"), "url-password")
    for found in _USER.finditer(text):
        if is_opaque(found["secret"]):
            yield Finding(*found.span("secret"), "url-password")
    for kind, pattern in _PARTS:
        for found in pattern.finditer(text):
            yield Finding(*found.span("secret"), kind)
