"""Find credentials in headers, addresses, settings and options of programs. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.values import is_code, is_mixed, is_nominal, is_opaque, is_stand_in, is_template, is_words

# Find credentials in HTTP headers: Authorization, Cookie, and schemes named without their header. Pure.
#
# Sources: RFC 9110 (Authorization), RFC 6265 (Cookie). Only the credential is a finding: the name of the header and
# the scheme stay readable. Each pattern is matched only where its word stands.

_AUTHORIZATION = re.compile(
    r"""(?ix) authorization ["'\\]{0,3} \s{0,4} [:=,] \s{0,4} (?:[bf]?\\?["'`])? \s{0,4}
        (?P<scheme> (?:basic|bearer|token|api-?key|key|digest|negotiate|aws4-hmac-sha256|oauth|bot|ssws|genie-?key)
            \s{1,4} )?
        (?P<secret> [^\s"'`<>\\,;]{6,16384}+ (?: (?<=[=,]) \s [^\s"'`<>\\]{1,1024}+ ){0,8} )"""
)
_SCHEME = re.compile(r"(?i)(?:bearer|basic)\s{1,4}(?P<secret>[\w.~+/=-]{16,16384}+)")
_COOKIE = re.compile(
    r"""(?ix) cookie ["'\\]{0,3} : \s{0,4} ["'\\]{0,3}
        (?P<secret> [\w.!#$%&*+^|~-]{1,80}+ = [^\s"'\\;]{6,16384}+
            (?: ; \s? [\w.!#$%&*+^|~-]{1,80}+ = [^\s"'\\;]{0,16384}+ ){0,40} )"""
)
_HEADERS = ("authorization", "bearer", "basic", "cookie")
_LONG = 12  # a bearer token may be all digits; a shorter number is none


def find_in_headers(text: str, lowered: str) -> Iterator[Finding]:
    """Yield every credential in a header, or behind the name of a scheme, in `text`."""
    if not any(map(lowered.__contains__, _HEADERS)):
        return
    for found in _anchored(text, lowered, "authorization", _AUTHORIZATION):
        if _is_credential(found["secret"], with_scheme=bool(found["scheme"])):
            yield Finding(*found.span("secret"), "authorization")
    for scheme in ("bearer", "basic"):
        for found in _anchored(text, lowered, scheme, _SCHEME):
            if is_opaque(found["secret"]) and not is_stand_in(found["secret"]):
                yield Finding(*found.span("secret"), "authorization")
    for found in _anchored(text, lowered, "cookie", _COOKIE):
        if not is_stand_in(found["secret"].partition("=")[2]):
            yield Finding(*found.span("secret"), "cookie")


def _anchored(text: str, lowered: str, word: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    at = lowered.find(word)
    while at >= 0:
        found = pattern.match(text, at)
        if found:
            yield found
        at = lowered.find(word, found.end() if found else at + 1)


def _is_credential(value: str, *, with_scheme: bool) -> bool:
    if is_stand_in(value):
        return False
    if is_opaque(value):
        return True
    return with_scheme and not is_words(value) and (len(value) > _LONG or not is_code(value))


# Find passwords where a program's settings or options carry them: curl's user, Bundler, npm. Pure.
#
# Sources: curl(1), Bundler's and npm's documentation of credentials for hosts. Only the password is a finding, or
# the user where a token stands in its place.

_CURL_USER = re.compile(
    r"""-(?:u|U|-user|-proxy-user)[= ]{0,3}\\?["']?"""
    r"""(?P<user>[^\s:"'\\]{0,128}+)["']?:["']?(?P<password>[^\s"'\\]{0,256}+)"""
)
_VARIABLE = re.compile(r"(?:\$\{[^{}]*\}|\$\([^()]*\)|%\w+%)+")  # filled in by the shell
_CURL_REACH = 600  # a command with several header lines
_BUNDLER = re.compile(
    r"""(?P<name>BUNDLE_\w{1,128}+)["']?\s{0,4}[:=]\s{0,4}["']?(?P<secret>[^\s:"';]{1,256}+:[^\s"';]{1,256}+)"""
)
_NPMRC = re.compile(
    r"""//\w[^\s=]{0,255}:_(?:authToken|auth|password)\s{0,2}=\s{0,2}["']?(?P<secret>[^\s"']{8,2048}+)"""
)


def find_logins(text: str) -> Iterator[Finding]:
    """Yield every password that a curl command or a package manager's settings carry in `text`."""
    for found in _BUNDLER.finditer(text):
        if "__" in found["name"] and not is_template(found["secret"]):
            yield Finding(*found.span("secret"), "bundler-password")
    for found in _NPMRC.finditer(text):
        if not found["secret"].startswith(("$", "%", "<")):
            yield Finding(*found.span("secret"), "npm-auth")
    if "curl" in text:
        yield from _curl_users(text)


def _curl_users(text: str) -> Iterator[Finding]:
    """Yield the passwords of curl commands; other programs mean other things by `-u`."""
    for found in _CURL_USER.finditer(text):
        at = found.start()
        if text.rfind("curl", max(0, at - _CURL_REACH), at) < 0 or not text[at - 1].isspace():
            continue
        user, password = found["user"], found["password"]
        if password and _is_password(password):
            yield Finding(*found.span("password"), "curl-password")
        elif not password and is_mixed(user) and not is_stand_in(user):
            yield Finding(*found.span("user"), "curl-password")


def _is_password(password: str) -> bool:
    if _VARIABLE.fullmatch(password):
        return False
    return is_opaque(password) or not (is_nominal(password) or is_template(password))


# Find the secret parts of URLs: userinfo, the paths of web hooks, signatures. Pure.
#
# Sources: RFC 3986 (userinfo); the documentation of Slack, Discord and Teams web hooks, of Azure's shared access
# signatures, of AWS and Google signed URLs. Every pattern begins with plain characters, which are searched fast, and
# stops at the next slash, blank or quote, so the time is linear.

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


def find_in_urls(text: str) -> Iterator[Finding]:
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
