"""Finds credentials in headers, URLs and settings. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from skilld.redact.findings import (
    Finding,
    is_code,
    is_mixed,
    is_opaque,
    is_password_word,
    is_scrambled,
    is_stand_in,
    is_template,
    is_words,
)

# Credentials in HTTP headers: Authorization, Cookie, and schemes named without their header. Sources: RFC 9110
# (Authorization), RFC 6265 (Cookie). Only the credential is a finding: the name of the header and the scheme stay
# readable.

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
_HEADER_WORDS = ("authorization", "bearer", "basic", "cookie")
_MIN_TOKEN = 12  # a bearer token may be all digits; a shorter number is not a token


def find_in_headers(text: str, lowered: str) -> Iterator[Finding]:
    """Yield every credential in a header, or after the name of a scheme, in `text`."""
    if not any(map(lowered.__contains__, _HEADER_WORDS)):
        return
    for found in _find_anchored(text, lowered, "authorization", _AUTHORIZATION):
        if _is_credential(found["secret"], with_scheme=bool(found["scheme"])):
            yield Finding(*found.span("secret"), "authorization")
    for scheme in ("bearer", "basic"):
        for found in _find_anchored(text, lowered, scheme, _SCHEME):
            if is_opaque(found["secret"]) and not is_stand_in(found["secret"]):
                yield Finding(*found.span("secret"), "authorization")
    for found in _find_anchored(text, lowered, "cookie", _COOKIE):
        if not is_stand_in(found["secret"].partition("=")[2]):
            yield Finding(*found.span("secret"), "cookie")


def _find_anchored(text: str, lowered: str, word: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
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
    return with_scheme and not is_words(value) and (len(value) > _MIN_TOKEN or not is_code(value))


# Passwords in programs' settings or options: curl's user, Bundler, npm. Sources: curl(1), Bundler's and npm's
# documentation of credentials for hosts. Only the password is a finding, or the user if that is a token.

_CURL_USER = re.compile(
    r"""-(?:u|U|-user|-proxy-user)[= ]{0,3}\\?["']?"""
    r"""(?P<user>[^\s:"'\\]{0,128}+)["']?:["']?(?P<password>[^\s"'\\]{0,256}+)"""
)
_SHELL_VARIABLE = re.compile(r"(?:\$\{[^{}]*\}|\$\([^()]*\)|%\w+%)+")  # filled in by the shell
_CURL_REACH = 600  # a command with several header lines
_BUNDLER = re.compile(
    r"""(?P<name>BUNDLE_\w{1,128}+)["']?\s{0,4}[:=]\s{0,4}["']?(?P<secret>[^\s:"';]{1,256}+:[^\s"';]{1,256}+)"""
)
_NPMRC = re.compile(
    r"""//\w[^\s=]{0,255}:_(?:authToken|auth|password)(?:\s{0,2}=|\s)\s{0,2}["']?(?P<secret>[^\s"']{8,2048}+)"""
)


def find_logins(text: str) -> Iterator[Finding]:
    """Yield every password in curl commands and package managers' settings in `text`."""
    for found in _BUNDLER.finditer(text):
        if "__" in found["name"] and not is_template(found["secret"]):
            yield Finding(*found.span("secret"), "bundler-password")
    for found in _NPMRC.finditer(text):
        if not found["secret"].startswith(("$", "%", "<")):
            yield Finding(*found.span("secret"), "npm-auth")
    if "curl" in text:
        yield from _curl_users(text)


def find_login_pairs(text: str, lowered: str) -> Iterator[Finding]:
    """Yield every password that stands next to a user in `text`, without a name of its own."""
    for found in _BARE_LOGIN.finditer(text) if "@" in text else ():
        secret = found["secret"] or found["oracle"]
        if is_mixed(secret) and not (is_stand_in(secret) or is_template(secret)):
            yield Finding(*found.span("secret" if found["secret"] else "oracle"), "url-password")
    if not any(word in lowered for word in ("auth", "login", "sign", "cred", "log_in")):
        return
    for found in itertools.chain(_LOGIN_PAIR.finditer(text), _CREDS_PAIR.finditer(text)):
        secret = found["secret"]
        if (is_mixed(secret) or is_scrambled(secret)) and not (is_stand_in(secret) or is_template(secret)):
            yield Finding(*found.span("secret"), "password")


def _curl_users(text: str) -> Iterator[Finding]:
    """Yield the passwords of curl commands; in other programs `-u` has other meanings."""
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
    if _SHELL_VARIABLE.fullmatch(password):
        return False
    return is_opaque(password) or not (is_password_word(password) or is_template(password))


# The secret parts of URLs: userinfo, the paths of web hooks, signatures. Sources: RFC 3986 (userinfo); the
# documentation of Slack, Discord and Teams web hooks, of Azure's shared access signatures, of AWS and Google signed
# URLs. Every pattern begins with plain characters and stops at the next slash, blank or quote: the time is linear.

_URL_PASSWORD = re.compile(
    r"""://(?P<user>[^\s:/?#@"'`<>()]{0,128}+):(?P<secret>[^\s/?#"'`<>;]{1,256})@(?P<host>[\w\[$%{][\w.-]{0,253}+)"""
)
# People write a password into a database's address as it is; a password ends at the last @.
_DATABASE_PASSWORD = re.compile(
    r"""(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse|snowflake)(?:\+\w{1,16})?"""
    r"""://[^\s:/?#@"'`<>()]{0,128}+:(?P<secret>[^\s"'`<>]{1,256})@[\w\[][\w.-]{0,253}+(?=[:/?,\]]|[\s"'`]|$)"""
)
# And RFC 2606.
_STAND_IN_HOST = re.compile(r"(?i)(?:[\w-]+\.)*(?:host|hostname|localhost|server|domain|example)(?:\.\w+)?")
_URL_USER = re.compile(r"""://(?P<secret>[^\s:/?#@"'`<>()]{8,512}+)@(?=[\w\[])""")
# The same without a scheme, with a port or a path (e-mail addresses have none), and Oracle's.
_BARE_LOGIN = re.compile(
    r"""(?<![\w./@-])[A-Za-z][\w.-]{0,63}+(?:
        :(?P<secret>[^\s:/@"'`<>()]{6,128}+)@[A-Za-z][\w.-]{0,253}+(?::\d{2,5}\b|/\w)
        |/(?P<oracle>[^\s:/@"'`<>()]{4,128}+)@//?\w)""",
    re.VERBOSE,
)
# Two arguments or items: a user and a password.
_LOGIN_PAIR = re.compile(
    r"""(?i)\b(?:log_?in|sign_?in|authenticate|(?:http_?)?(?:basic_?)?auth|credentials?)["']?\s{0,4}[:=]?\s{0,4}[(\[]\s{0,4}
        (?P<quote>["'])[^"'\n]{1,64}+(?P=quote)\s{0,4},\s{0,4}(?P<end>["'])(?P<secret>[^"'\n]{6,128}+)(?P=end)\s{0,4}[)\]]""",
    re.VERBOSE,
)
# "The creds are scott/tiger99".
_CREDS_PAIR = re.compile(
    r"""(?i)\b(?:creds?|credentials?)\b(?:\s[\w-]{1,32}+){0,4}?(?:\s(?:are|is|=)|:)\s{1,4}[`"']?
        [\w.@-]{1,64}+[/:](?P<secret>[^\s/`"']{6,128}+)(?!/)""",
    re.VERBOSE,
)
_KNOWN_URL = re.compile(r"\.(?:com|net|office|cn)/|/hooks/|/api/webhooks/|sig=|-Signature=")  # also without a scheme
_HOOK_PATH = r"(?P<secret>[\w%.~-]{8,256}+)"
# Anybody with one of these addresses may write: kind, a plain part of the address, and what follows it.
_SECRET_URLS = tuple(
    (kind, anchor, re.escape(anchor) + pattern)
    for kind, anchor, pattern in (
        ("slack-webhook", "hooks.slack.com/", r"\w{1,32}/(?P<secret>T\w{1,32}(?:/[\w-]{1,64}+){1,4})"),
        ("discord-webhook", "/api/webhooks/", r"(?P<secret>\d{15,20}/[\w-]{50,100}+)"),
        ("teams-webhook", ".office.com/", r"(?P<secret>webhook(?:b2)?/[\w@/-]{60,512}+)"),
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
        ("lark-webhook", "/open-apis/bot/v2/hook/", _HOOK_PATH),
        ("dingtalk-webhook", "oapi.dingtalk.com/robot/send?access_token=", _HOOK_PATH),
        ("wecom-webhook", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", _HOOK_PATH),
        ("webex-webhook", "webexapis.com/v1/webhooks/incoming/", _HOOK_PATH),
        ("zapier-webhook", "hooks.zapier.com/hooks/catch/", r"(?P<secret>\d{1,16}/\w{4,32}+)"),
        ("make-webhook", ".make.com/", r"(?P<secret>[a-z0-9]{24,48}+)(?![\w/-])"),
        ("ifttt-webhook", "maker.ifttt.com/trigger/", r"[\w-]{1,128}+/(?:json/)?with/key/" + _HOOK_PATH),
        ("pipedream-webhook", ".m.pipedream.net", r"(?P<secret>/[\w/-]{8,128}+)"),
        ("ping-address", "hc-ping.com/", r"(?P<secret>[0-9a-f-]{36})"),
        ("telegram", "api.telegram.org/bot", r"(?P<secret>\d{5,16}:[\w-]{30,64}+)"),
        ("softlayer", "api.softlayer.com/soap/v3", r"(?:\.1)?/(?P<secret>[a-z0-9]{64})"),
        ("signed-url", "sig=", r"(?P<secret>[\w%+/-]{40,512}+=*+)"),
        ("signed-url", "-Signature=", r"(?P<secret>[\w%+/-]{60,2048}+=*+)"),
    )
)


# Of any host: whoever has the link may enter, so that its last part is the key.
_KEY_LINK = re.compile(
    r"/(?:(?:shared?_?)?invit(?:es?|ations?)|join|secrets?|shared?|resets?|(?:reset|forgot)-password|password-reset|confirm(?:ation)?|verif(?:y|ication)"
    r"|magic(?:-?link)?|(?P<busy>hooks?|webhooks?|tokens?|auth|activat(?:e|ion))|unsubscribe)/(?:[\w.~%-]{1,64}+/){0,3}?"
    r"(?P<secret>[\w~%=-]{8,256}+)(?![/.]\w)"
)
_KEY_IN_QUERY = re.compile(
    r"[?&](?:invit(?:e|ation)|code|ticket|magic|otp|confirmation|reset)=(?P<secret>[\w~%-]{8,256}+)"
)
_CODE_HOSTING = re.compile(r"/(?:commits?|blob|tree|raw|pull|compare|issues|releases|merge_requests)/")
_DIGEST = re.compile(r"[0-9a-f]{7,64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MAX_BEFORE = 256  # characters of an address before such a part


def _find_key_links(text: str) -> Iterator[Finding]:
    for found in (*_KEY_LINK.finditer(text), *_KEY_IN_QUERY.finditer(text)):
        before = text[max(0, found.start() - _MAX_BEFORE) : found.start()]
        host = before.rfind("://")
        if host < 0 or any(map(str.isspace, before[host:])) or _CODE_HOSTING.search(before[host:] + found[0]):
            continue
        secret = found["secret"]
        busy = found.groupdict().get("busy") and _DIGEST.fullmatch(secret)  # a path of an interface
        if (is_opaque(secret) or is_scrambled(secret)) and not (busy or is_stand_in(secret)):
            yield Finding(*found.span("secret"), "key-link")


def find_in_urls(text: str) -> Iterator[Finding]:
    """Yield every password, web hook path, signature and key in the URLs of `text`."""
    yield from _find_userinfo(text)
    for kind, anchor, pattern in _SECRET_URLS if "://" in text or _KNOWN_URL.search(text) else ():
        for found in re.finditer(pattern, text) if anchor in text else ():
            if not is_stand_in(found["secret"]):
                yield Finding(*found.span("secret"), kind)
    if "://" in text:
        yield from _find_key_links(text)


def _find_userinfo(text: str) -> Iterator[Finding]:
    for found in _URL_PASSWORD.finditer(text):
        stand_in = is_password_word(found["secret"]) and _STAND_IN_HOST.fullmatch(found["host"])
        if not (stand_in or is_template(found["secret"])):
            yield Finding(*found.span("secret"), "url-password")
        if is_opaque(found["user"]):  # GitHub: TOKEN:x-oauth-basic
            yield Finding(*found.span("user"), "url-password")
    for found in _DATABASE_PASSWORD.finditer(text):
        if not (is_password_word(found["secret"]) or is_template(found["secret"])):
            yield Finding(*found.span("secret"), "url-password")
    for found in _URL_USER.finditer(text):
        if is_opaque(found["secret"]) or is_scrambled(found["secret"]):
            yield Finding(*found.span("secret"), "url-password")
