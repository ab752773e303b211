"""Find credentials by where a protocol puts them: HTTP headers, URL userinfo, curl's user option. Pure.

Sources: RFC 9110 (Authorization), RFC 6265 (Cookie), RFC 3986 (userinfo), curl(1). Only the credential is a finding:
the header's name, the scheme, the user and the host stay readable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.values import is_code, is_mixed, is_nominal, is_opaque, is_stand_in, is_template, is_words

_AUTHORIZATION = re.compile(
    r"""(?ix) authorization ["'\\]{0,3} \s{0,4} [:=,] \s{0,4} (?:[bf]?\\?["'`])? \s{0,4}
        (?: (?P<scheme> basic|bearer|token|apikey|api-key|key|digest|negotiate|aws4-hmac-sha256|oauth|bot|ssws|genie-?key)
            \s{1,4} )?
        (?P<secret> [^\s"'`<>\\,;]{6,4096}+ (?: (?<=[=,]) \s [^\s"'`<>\\]++ ){0,8} )"""
)
_SCHEME = re.compile(r"(?i)\b(?:bearer|basic)\s{1,4}(?P<secret>[\w.~+/=-]{16,4096})")
_COOKIE = re.compile(
    r"""(?i)(?<![\w-])(?:set-)?cookie["'\\]{0,3}:\s{0,4}["'\\]{0,3}(?P<secret>[\w.!#$%&*+^|~-]{1,80}=[^\s"'\n\\;]{6,4096}"""
    r"""(?:;\s?[\w.!#$%&*+^|~-]{1,80}=[^\s"'\n\\;]{0,4096}){0,40})"""
)
_USERINFO = re.compile(
    r"""://[^\s:/?#@"'`<>()]{0,128}:(?P<secret>[^\s/?#"'`<>;]{1,256})@(?=[\w\[$%{-])""",
)
_USER_ONLY = re.compile(r"://(?P<secret>[^\s:/?#@\"'`<>()]{8,512})@(?=[\w\[])")
_CURL_USER = re.compile(
    r"""(?<!\S)(?:-u|-U|--user|--proxy-user)[= ]{0,3}\\?["']?(?P<user>[^\s:"'\\]{0,128}):(?P<password>[^\s"'\\]{0,256})"""
)
_BUNDLER = re.compile(
    r"""BUNDLE_\w{1,128}__\w{1,64}["']?\s{0,4}[:=]\s{0,4}["']?(?P<secret>[^\s:"';]{1,256}:[^\s"';]{1,256})"""
)
_NPMRC = re.compile(r":_(?:authToken|auth|password)\s{0,2}=\s{0,2}[\"']?(?P<secret>[^\s\"']{8,2048})")
_CURL_REACH = 600  # a command with several header lines
_LONG = 12  # a bearer token may be all digits; a shorter number is none


def find(text: str) -> Iterator[Finding]:
    """Yield every credential that stands where HTTP, a URL or a curl command carries one."""
    lowered = text.lower()
    if "authorization" in lowered:
        yield from _authorization(text)
    if "bearer" in lowered or "basic" in lowered:
        yield from (
            Finding(*found.span("secret"), "authorization")
            for found in _SCHEME.finditer(text)
            if is_opaque(found["secret"]) and not is_stand_in(found["secret"])
        )
    if "cookie" in lowered:
        yield from (
            Finding(*found.span("secret"), "cookie")
            for found in _COOKIE.finditer(text)
            if not is_stand_in(found["secret"].split("=", 1)[1])
        )
    if "://" in text:
        yield from _userinfo(text)
    if "BUNDLE_" in text:
        yield from (
            Finding(*found.span("secret"), "gem-host-password")
            for found in _BUNDLER.finditer(text)
            if not is_template(found["secret"])
        )
    if ":_" in text:
        yield from (
            Finding(*found.span("secret"), "npm-auth")
            for found in _NPMRC.finditer(text)
            if not is_template(found["secret"])
        )
    if "curl" in lowered:
        yield from _curl_users(text, lowered)


def _authorization(text: str) -> Iterator[Finding]:
    for found in _AUTHORIZATION.finditer(text):
        value = found["secret"]
        if is_stand_in(value) or (is_words(value) and not is_opaque(value)):
            continue
        if is_opaque(value) or (found["scheme"] and (len(value) > _LONG or not is_code(value))):
            yield Finding(*found.span("secret"), "authorization")


def _userinfo(text: str) -> Iterator[Finding]:
    for found in _USERINFO.finditer(text):
        if not is_template(found["secret"]):
            yield Finding(*found.span("secret"), "url-password")
    for found in _USER_ONLY.finditer(text):
        if is_opaque(found["secret"]):
            yield Finding(*found.span("secret"), "url-password")


def _curl_users(text: str, lowered: str) -> Iterator[Finding]:
    for found in _CURL_USER.finditer(text):
        if lowered.rfind("curl", max(0, found.start() - _CURL_REACH), found.start()) < 0:
            continue
        user, password = found["user"], found["password"]
        if password and not is_nominal(password) and not is_template(password):
            yield Finding(*found.span("password"), "curl-password")
        elif not password and is_mixed(user) and not is_stand_in(user):
            yield Finding(*found.span("user"), "curl-password")
