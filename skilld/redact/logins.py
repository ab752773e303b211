"""Find passwords where a program's settings or options carry them: curl's user, Bundler, npm. Pure.

Sources: curl(1), Bundler's and npm's documentation of credentials for hosts. Only the password is a finding, or the
user where a token stands in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.opacity import is_mixed, is_opaque
from skilld.redact.values import is_nominal, is_stand_in, is_template

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


def find(text: str) -> Iterator[Finding]:
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
