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
from skilld.redact.values import is_nominal, is_stand_in, is_template

_PASSWORD = re.compile(
    r"""://[^\s:/?#@"'`<>()]{0,128}+:(?P<secret>[^\s/?#"'`<>;]{1,256})@(?P<host>[\w\[$%{][\w.-]{0,253}+)"""
)
_STAND_IN_HOST = re.compile(
    r"(?i)(?:[\w-]+\.)*(?:host|hostname|localhost|server|domain|example)(?:\.\w+)?"
)  # and RFC 2606
_USER = re.compile(r"""://(?P<secret>[^\s:/?#@"'`<>()]{8,512}+)@(?=[\w\[])""")
_ADDRESS = re.compile(r"\.(?:com|net|office|cn)/|/hooks/|/api/webhooks/|sig=|-Signature=")  # also without a scheme
_HOOK = r"(?P<secret>[\w%.~-]{8,256}+)"
# Whoever has one of these addresses may write: kind, a plain part of it, and what follows it.
_PARTS = tuple(
    (kind, anchor, re.escape(anchor) + pattern)
    for kind, anchor, pattern in (
        ("slack-webhook", "hooks.slack.com/", r"\w{1,32}/(?P<secret>T\w{1,32}(?:/[\w-]{1,64}+){1,4})"),
        ("discord-webhook", "/api/webhooks/", r"(?P<secret>\d{15,20}/[\w-]{50,100}+)"),
        ("teams-webhook", ".webhook.office.com/", r"(?P<secret>[\w@/-]{60,512}+)"),
        (
            "google-chat-webhook",
            "chat.googleapis.com/",
            r"v1/spaces/(?P<secret>[\w-]{1,64}+/messages\?[^\s\"'<>)]{16,512}+)",
        ),
        (
            "mattermost-webhook",
            "/hooks/",
            r"(?P<secret>[a-z0-9]{26}+|[A-Za-z0-9]{17,24}+/[A-Za-z0-9]{32,64}+)(?![\w/-])",
        ),
        ("lark-webhook", "/open-apis/bot/v2/hook/", _HOOK),
        ("dingtalk-webhook", "oapi.dingtalk.com/robot/send?access_token=", _HOOK),
        ("wecom-webhook", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", _HOOK),
        ("webex-webhook", "webexapis.com/v1/webhooks/incoming/", _HOOK),
        ("zapier-webhook", "hooks.zapier.com/hooks/catch/", r"(?P<secret>\d{1,16}/\w{4,32}+)"),
        ("make-webhook", ".make.com/", r"(?P<secret>[a-z0-9]{24,48}+)(?![\w/-])"),
        ("ifttt-webhook", "maker.ifttt.com/trigger/", r"[\w-]{1,128}+/(?:json/)?with/key/" + _HOOK),
        ("pipedream-webhook", ".m.pipedream.net", r"(?P<secret>/[\w/-]{8,128}+)"),
        ("ping-address", "hc-ping.com/", r"(?P<secret>[0-9a-f-]{36})"),
        ("telegram", "api.telegram.org/bot", r"(?P<secret>\d{5,16}:[\w-]{30,64}+)"),
        ("softlayer", "api.softlayer.com/soap/v3", r"(?:\.1)?/(?P<secret>[a-z0-9]{64})"),
        ("signed-url", "sig=", r"(?P<secret>[\w%+/-]{40,512}+=*+)"),
        ("signed-url", "-Signature=", r"(?P<secret>[\w%+/-]{60,2048}+=*+)"),
    )
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
    for kind, anchor, pattern in _PARTS if "://" in text or _ADDRESS.search(text) else ():
        for found in re.finditer(pattern, text) if anchor in text else ():
            if not is_stand_in(found["secret"]):
                yield Finding(*found.span("secret"), kind)
