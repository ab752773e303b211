"""Find credentials in HTTP headers: Authorization, Cookie, and schemes named without their header. Pure.

Sources: RFC 9110 (Authorization), RFC 6265 (Cookie). Only the credential is a finding: the name of the header and the
scheme stay readable. Each pattern is matched only where its word stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.opacity import is_opaque
from skilld.redact.values import is_code, is_stand_in, is_words

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
_LONG = 12  # a bearer token may be all digits; a shorter number is none


def find(text: str) -> Iterator[Finding]:
    """Yield every credential in a header, or behind the name of a scheme, in `text`."""
    lowered = text.replace("\u0130", "i").lower()  # the one letter whose lower case is longer
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
