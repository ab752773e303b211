"""Finds credentials in headers, URLs and settings, and in command options. Pure."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from functools import cache
from typing import NamedTuple

from skilld.redact.findings import (
    Finding,
    is_code,
    is_mixed,
    is_opaque,
    is_password_word,
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
_MIN_TOKEN = 12  # a bearer token may be all digits; a shorter number is none


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
    for found in (
        _LOGIN_PAIR.finditer(text)
        if any(word in lowered for word in ("auth", "login", "sign", "cred", "log_in"))
        else ()
    ):
        if is_mixed(found["secret"]) and not (is_stand_in(found["secret"]) or is_template(found["secret"])):
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
_KNOWN_URL = re.compile(r"\.(?:com|net|office|cn)/|/hooks/|/api/webhooks/|sig=|-Signature=")  # also without a scheme
_HOOK_PATH = r"(?P<secret>[\w%.~-]{8,256}+)"
# Anybody with one of these addresses may write: kind, a plain part of the address, and what follows it.
_SECRET_URLS = tuple(
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


def find_in_urls(text: str) -> Iterator[Finding]:
    """Yield every password, web hook path and signature in the URLs of `text`."""
    yield from _find_userinfo(text)
    for kind, anchor, pattern in _SECRET_URLS if "://" in text or _KNOWN_URL.search(text) else ():
        for found in re.finditer(pattern, text) if anchor in text else ():
            if not is_stand_in(found["secret"]):
                yield Finding(*found.span("secret"), kind)


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
        if is_opaque(found["secret"]):
            yield Finding(*found.span("secret"), "url-password")


# Passwords in the options of commands, whose names (`-p`) promise nothing. Sources: the manual of each program. A
# command is read to the end of its line, and only its password is a finding.

_MAX_COMMAND = 400  # characters of a command
# A value in a shell: quoted, or up to a blank.
_VALUE = r"""(?:'(?P<single>[^'\n]{1,256}+)'|"(?P<double>[^"\n]{1,256}+)"|(?P<bare>[^\s'"`|;<>]{1,256}+))"""
_ATTACHED = r"(?<=\s)-p" + _VALUE
_P_OPTION = r"(?<=\s)(?:-p|--pass(?:word)?|--pw)(?:\s{1,4}|=)" + _VALUE


class _Command(NamedTuple):
    """Programs, and the regex of the option with their password, compiled when one is found."""

    programs: str
    option: str


_COMMANDS = (
    _Command("sshpass", r"(?<=\s)-p\s{0,4}" + _VALUE),
    _Command(
        "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mariadb mariadb-dump mysqlsh mycli", _ATTACHED
    ),
    _Command("redis-cli valkey-cli keydb-cli", r"(?<=\s)(?:-a|--pass)\s{1,4}" + _VALUE),
    _Command("smbclient rpcclient smbget smbmap net", r"(?<=\s)-U\s{0,4}['\"]?[^\s%'\"]{1,128}+%" + _VALUE),
    _Command(
        "docker podman nerdctl buildah skopeo helm oras crane regctl oc cf argocd rancher az npm vault psql"
        " mongo mongosh mongodump mongoexport mongorestore mongoimport cqlsh rabbitmqadmin influx mc cypher-shell"
        " clickhouse-client arangosh couchbase-cli mosquitto_pub ssh-keygen",
        _P_OPTION,
    ),
    _Command(
        "mosquitto_sub mosquitto_pub ipmitool sqlcmd bcp zip unzip couchbase-cli ssh-keygen",
        r"(?<=\s)-P\s{0,4}" + _VALUE,
    ),
    _Command("ssh-keygen", r"(?<=\s)-N\s{1,4}" + _VALUE),
    _Command("7z 7za 7zz unrar rar", r"(?<=\s)-p" + _VALUE),
    _Command("ldapsearch ldapadd ldapmodify ldapwhoami ldapdelete ldappasswd", r"(?<=\s)-w\s{0,4}" + _VALUE),
    _Command("openssl", r"(?<=[\s\"'])pass:" + _VALUE),
    _Command("openssl", r"(?<=\s)-k\s{1,4}" + _VALUE),
    _Command("keytool jarsigner", r"(?<=\s)-(?:store|key|srcstore|deststore|new)pass(?:wd)?\s{1,4}" + _VALUE),
    _Command("gpg gpg2", r"(?<=\s)--passphrase(?:\s{1,4}|=)" + _VALUE),
    _Command("http https xh curlie curl", r"(?<=\s)(?:-a|--auth|-u|--user)[\s=]{1,4}['\"]?[\w.@-]{1,128}+:" + _VALUE),
    _Command("lftp", r"(?<=\s)-u\s{0,4}['\"]?[^\s,'\"]{1,128}+," + _VALUE),
    _Command("htpasswd", r"(?<=\s)-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}\s{1,4}(?:\S{1,256}+\s{1,4}){1,2}" + _VALUE),
    _Command("xfreerdp xfreerdp3 wlfreerdp", r"(?<=\s)/p:" + _VALUE),
    _Command("rdesktop", r"(?<=\s)-p\s{1,4}" + _VALUE),
    _Command("sqlplus rman expdp impdp sqlldr", r"(?<=\s)[\w$#]{1,64}+/" + _VALUE),
    _Command("wpa_passphrase", r"(?<=\s)(?:'[^'\n]{1,64}+'|\"[^\"\n]{1,64}+\"|\S{1,64}+)\s{1,4}" + _VALUE),
    _Command("rabbitmqctl", r"\s(?:change_password|add_user|authenticate_user)\s{1,4}\S{1,256}+\s{1,4}" + _VALUE),
    _Command("rclone", r"\sobscure\s{1,4}" + _VALUE),
    _Command("useradd usermod adduser", r"(?<=\s)(?:-p|--password)(?:\s{1,4}|=)" + _VALUE),
    _Command(
        "gh glab", r"\s(?:secret|variable)\s{1,4}set\s[^\n]{0,200}?\s(?:-b|--body|-v|--value)(?:\s{1,4}|=)" + _VALUE
    ),
    _Command("nmcli", r"(?<=\s)(?:password|psk|802-11-wireless-security\.psk)\s{1,4}" + _VALUE),
)


@cache
def _options() -> dict[str, list[str]]:
    """Return the regexes of options by program."""
    found: dict[str, list[str]] = {}
    for command in _COMMANDS:
        for program in command.programs.split():
            found.setdefault(program, []).append(command.option)
    return found


@cache
def _programs() -> re.Pattern[str]:
    names = sorted(map(re.escape, _options()), key=len, reverse=True)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(names)})(?=\s)")


# Signs that a command may contain a password; each begins with plain characters, which are searched fast.
_OPTION_MARKS = (
    (" -", re.compile(r" -[pPaUuvwkNbsdn-]")),
    *(
        (word, re.compile(rf"(?<={word}) \S"))  # at the blank, so that the program stands before it
        for word in ("sqlplus", "wpa_passphrase", "nmcli", "rabbitmqctl", "rclone")
    ),
    *((sign, re.compile(sign)) for sign in ("pass:", " /p:")),
)
_SQL = re.compile(
    r"(?i)\bidentified\s{1,4}(?:with\s{1,4}\S{1,64}\s{1,4})?(?:by|as)\s{1,4}(?:password\s{1,4})?(?=['\"])" + _VALUE
)
_NET_USE = ("net use", "NET USE", "Net use")
_NET = re.compile(r"(?i)net user? |net use ")
_COMMAND_END = re.compile(r"(?<!\\)\n|[;|]|&&")
_PIPED = re.compile(
    r"""echo\s{1,4}(?:-n\s{1,4})?["']?(?:[\w.-]{1,64}+:)?(?P<bare>[^\s"'|:]{4,128}+)["']?\s{0,4}\|\s{0,4}(?:sudo\s+-S|sudo\s+chpasswd|chpasswd|passwd)"""
)
_NET_USER = re.compile(
    r"(?i)net\s{1,4}user?\s{1,4}(?:[a-z*]:?\s{1,4})?\S{1,256}+\s{1,4}(?:/user:\S{1,64}+\s{1,4})?(?P<bare>[^\s/*|;]{4,128}+)(?=\s|$)"
)
_NO_PASSWORD = re.compile(r"[\d,.-]{1,12}|\d{1,5}(?::\d{1,5}){1,2}(?:/\w+)?|-.*|\$.*|%\w+%|<.*")
_ORDINARY_WORD = re.compile(r"(?i)pass(?:word)?|pwd|stdin|secret|\w{1,3}")


def find_in_commands(text: str) -> Iterator[Finding]:
    """Yield the passwords in commands in `text`."""
    for mark in (mark for anchor, mark in _OPTION_MARKS if anchor in text):
        done = 0  # all programs before this were handled
        for option in mark.finditer(text):
            if option.start() < done:
                continue
            program = _find_program(text, done, option.start())
            done = (yield from _command_passwords(text, program)) if program else option.start()
    if "dentified" in text or "IDENTIFIED" in text:
        yield from filter(None, map(_password_finding, _SQL.finditer(text)))
    if "|" in text and "echo" in text:
        yield from filter(None, map(_password_finding, _PIPED.finditer(text)))
    for net in _NET.finditer(text) if any(map(text.__contains__, _NET_USE)) else ():
        if found := _NET_USER.match(text, net.start()):
            yield from filter(None, [_password_finding(found)])


def _find_program(text: str, start: int, at: int) -> re.Match[str] | None:
    """Return the program whose option is at `at`: the last one named before it on the line, from `start` on."""
    start = max(start, at - _MAX_COMMAND)
    start = max(start, text.rfind("\n", start, at) + 1)
    return max(_programs().finditer(text, start, at + 1), key=re.Match.start, default=None)


def _command_passwords(text: str, program: re.Match[str]) -> Generator[Finding, None, int]:
    """Yield the passwords of a command; return where it ends."""
    end = min(len(text), program.end() + _MAX_COMMAND)
    stop = _COMMAND_END.search(text, program.end(), end)
    end = stop.start() if stop else end
    for option in _options()[program[0]]:
        given = re.compile(option).search(text, program.end(), end)
        if given and (finding := _password_finding(given)):
            yield finding
    return end


def _password_finding(given: re.Match[str]) -> Finding | None:
    groups = given.groupdict()
    name = next(name for name in ("single", "double", "bare") if groups.get(name))
    value = groups[name]
    if name == "bare" and (_NO_PASSWORD.fullmatch(value) or _ORDINARY_WORD.fullmatch(value)):
        return None
    if is_template(value) or is_password_word(value) or (name == "double" and value.startswith("$")):
        return None
    return Finding(*given.span(name), "command-password")
