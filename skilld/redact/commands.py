"""Finds secrets in commands: in options of known programs, after verbs that take one, on their way into a pipe. Pure.

Options whose own names promise a secret (`--api-token`) are found by `assignments`, whatever the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from functools import cache

from skilld.redact.findings import (
    Finding,
    is_mixed,
    is_opaque,
    is_password_word,
    is_path,
    is_scrambled,
    is_template,
)

# Passwords in the options of known programs, whose names (`-p`) promise nothing. Sources: the manual of each program. A
# command is read to the end of its line, and only its password is a finding.

_MAX_COMMAND = 400  # characters of a command
# A value in a shell: quoted, or up to a blank.
_VALUE = r"""(?:'(?P<single>[^'\n]{1,256}+)'|"(?P<double>[^"\n]{1,256}+)"|(?P<bare>[^\s'"`|;<>]{1,256}+))"""
_P_OPTION = r"(?:-p|--pass(?:word)?|--pw)(?:\s{1,4}|=)"

# Programs, and what stands between a blank and their password; the value of a cookie may have angle brackets.
_COMMANDS = (
    ("sshpass", r"-p\s{0,4}"),
    ("mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mariadb mariadb-dump mysqlsh mycli", "-p"),
    ("7z 7za 7zz unrar rar", "-p"),
    ("redis-cli valkey-cli keydb-cli", r"(?:-a|--pass)\s{1,4}"),
    ("smbclient rpcclient smbget smbmap net", r"-U\s{0,4}['\"]?[^\s%'\"]{1,128}+%"),
    (
        (
            "docker podman nerdctl buildah skopeo helm oras crane regctl oc cf argocd rancher az npm vault psql"
            " mongo mongosh mongodump mongoexport mongorestore mongoimport cqlsh rabbitmqadmin influx mc cypher-shell"
            " clickhouse-client arangosh couchbase-cli mosquitto_pub ssh-keygen"
        ),
        _P_OPTION,
    ),
    ("mosquitto_sub mosquitto_pub ipmitool sqlcmd bcp zip unzip couchbase-cli ssh-keygen", r"-P\s{0,4}"),
    ("ssh-keygen", r"-N\s{1,4}"),
    ("ldapsearch ldapadd ldapmodify ldapwhoami ldapdelete ldappasswd", r"-w\s{0,4}"),
    ("openssl", r"[\"']?pass:"),
    ("openssl", r"-k\s{1,4}"),
    ("keytool jarsigner", r"-(?:store|srcstore|deststore|new)pass(?:wd)?\s{1,4}"),
    ("keytool jarsigner", r"-(?:src|dest)?keypass(?:wd)?\s{1,4}"),
    ("gpg gpg2", r"--passphrase(?:\s{1,4}|=)"),
    ("http https xh curlie curl", r"(?:-a|--auth|-u|--user)[\s=]{1,4}['\"]?[\w.@-]{1,128}+:"),
    ("lftp", r"-u\s{0,4}['\"]?[^\s,'\"]{1,128}+,"),
    ("curl wget http https xh", r"(?:-b|--cookie)(?:\s{1,4}|=)['\"]?[\w.-]{1,64}+=(?P<bare>[^\s'\"`;|]{6,256}+)"),
    ("htpasswd", r"-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}\s{1,4}(?:\S{1,256}+\s{1,4}){1,2}"),
    ("xfreerdp xfreerdp3 wlfreerdp", "/p:"),
    ("rdesktop psexec psexec64 PsExec PsExec64", r"-p\s{1,4}"),
    ("plink pscp psftp", r"-pw\s{1,4}"),
    ("schtasks", r"/[rR]?[pP]\s{1,4}"),
    ("pdftk", r"(?:input|user|owner)_pw\s{1,4}"),
    ("ConvertTo-SecureString", r"(?:-String\s{1,4}|(?=['\"]))"),
    ("sqlplus rman expdp impdp sqlldr", r"[\w$#]{1,64}+/"),
    ("wpa_passphrase", r"(?:'[^'\n]{1,64}+'|\"[^\"\n]{1,64}+\"|\S{1,64}+)\s{1,4}"),
    ("rabbitmqctl", r"(?:change_password|add_user|authenticate_user)\s{1,4}\S{1,256}+\s{1,4}"),
    ("rclone", r"obscure\s{1,4}"),
    ("useradd usermod adduser", r"(?:-p|--password)(?:\s{1,4}|=)"),
    ("gh glab", r"(?:secret|variable)\s{1,4}set\s[^\n]{0,200}?\s(?:-b|--body|-v|--value)(?:\s{1,4}|=)"),
    ("nmcli", r"(?:password|psk|802-11-wireless-security\.psk)\s{1,4}"),
)


@cache
def _options() -> dict[str, list[str]]:
    """Return the regexes of options by program."""
    found: dict[str, list[str]] = {}
    for programs, option in _COMMANDS:
        for program in programs.split():
            found.setdefault(program, []).append(rf"(?<=\s){option}{'' if '(?P<bare>' in option else _VALUE}")
    return found


@cache
def _programs() -> re.Pattern[str]:
    names = sorted(map(re.escape, _options()), key=len, reverse=True)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(names)})(?=\s)")


# Signs that a command may contain a password; each begins with plain characters, which are searched fast.
_OPTION_MARKS = (
    (" -", re.compile(r" -[pPaUuvwkNbsdn-]")),
    *(
        (word, re.compile(rf"(?<={word}) \S"))  # at the blank, so that the program comes before it
        for word in ("sqlplus", "wpa_passphrase", "nmcli", "rabbitmqctl", "rclone", "SecureString")
    ),
    *((sign, re.compile(sign)) for sign in ("pass:", " /p:", " /rp ", " /RP ", "_pw ")),
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


# The same of any program: what looks made by a machine after a verb that logs in or stores a secret.
_LOGIN_WORDS = ("login", "log-in", "signin", "sign-in", "auth", "unlock", "upload", "publish")
_STORE_WORDS = ("secret", "kv ", "kv:", "item ", "put-parameter")
_LOGIN_VERB = re.compile(
    r"(?<![\w/.-])(?:log-?in|sign-?in|auth(?:enticate|orize)?|unlock|(?:(?:add|set)-)?auth-?token|upload|publish)"
    r"(?=[ \t])"
)
_LOGIN_ARGUMENT = re.compile(r"[ \t]{1,4}(?:(?:init|set|add|token|with)[ \t]{1,4})?" + _VALUE + r"(?=\s|$)")
_LOGIN_OPTION = re.compile(r"(?<=\s)-[pPtkw](?:\s{1,4}|=)" + _VALUE)
_STORE_VERB = re.compile(
    r"(?<![\w/.-])(?:(?:secrets?|kv)[ \t:]{1,4}(?:set|put|create|add|patch|update|write|edit)|create[ \t]{1,4}secret"
    r"|item[ \t]{1,4}(?:create|edit)|put-(?:parameter|secret-value))(?=[ \t])"
)
_STORED = re.compile(
    r"(?<=\s)(?:(?:--from-literal[ =])?['\"]?[A-Za-z_][\w.-]{0,63}+=|--(?:value|body|data|secret-string)[ =])" + _VALUE
)
_REACH = 200  # characters of a command after such a verb
_PIN = re.compile(
    r"(?<=\s)--?(?:[a-z]{1,16}-)?(?:pin|otp|totp|mfa|2fa|passcode|token-code)[ =](?P<bare>\d{4,10})(?!\w)"
)
_BEARER = re.compile(r"(?<=\s)--?(?:[a-z0-9]{1,16}-){0,2}bearer(?:\s{1,4}|=)" + _VALUE)
_HEX_HASH = re.compile(r"[0-9a-f]{7,40}")
_READERS = (
    r"(?:--?[\w-]{0,32}(?:pass|stdin|token|secret|key|cred)|\bpasswd\b|\b(?:login|auth|cryptsetup|gpg|htpasswd|kinit|vncpasswd|chpasswd)\b|\bbase64\b(?!\s{1,4}--?[dD])"
    r"|\bsecrets?\s{1,4}(?:set|create|put|add)\b)"
)
_ECHOED = re.compile(
    r"""(?:echo|printf)\s{1,4}(?:-n\s{1,4}|["']%s["']\s{1,4})?["']?(?:[\w.-]{1,64}+:)?(?P<bare>[^\s"'|:]{6,128}+)["']?\s{0,4}"""
    r"""\|(?=[^\n|]{0,200}?""" + _READERS + r")"
)
_HERE = re.compile(r"""(?<!<)<<<(?!<)\s{0,4}["']?(?:[\w.-]{1,64}+:)?(?P<bare>[^\s"'|:]{6,128}+)""")
_READER = re.compile(_READERS)
_SENT = re.compile(r"""send\s{1,4}(?:--\s{1,4})?[\\"'{]{1,3}(?P<bare>[^\s"'\\{}]{6,128}+)\\{1,2}[rn]""")


def find_in_commands(text: str) -> Iterator[Finding]:
    """Yield the secrets in commands in `text`."""
    yield from _find_options(text)
    yield from _find_after_verbs(text)
    for pattern in (
        pattern
        for sign, pattern in (("--", _PIN), ("bearer", _BEARER), ("|", _ECHOED), ("send", _SENT))
        if sign in text
    ):
        yield from filter(None, map(_made_finding if pattern is not _PIN else _code_finding, pattern.finditer(text)))
    for found in _HERE.finditer(text) if "<<<" in text else ():
        line = text.rfind("\n", max(0, found.start() - _REACH), found.start())
        if _READER.search(text, max(line, found.start() - _REACH, 0), found.start()):
            yield from filter(None, [_made_finding(found)])


def _code_finding(given: re.Match[str]) -> Finding:
    return Finding(*given.span("bare"), "code")


def _find_after_verbs(text: str) -> Iterator[Finding]:
    for verb in _LOGIN_VERB.finditer(text) if any(map(text.__contains__, _LOGIN_WORDS)) else ():
        argument = _LOGIN_ARGUMENT.match(text, verb.end())
        if argument and (found := _made_finding(argument, looks=_is_random)):
            yield found
        end = _command_end(text, verb.end(), _REACH)
        yield from filter(None, map(_made_finding, _LOGIN_OPTION.finditer(text, verb.end(), end)))
    for verb in _STORE_VERB.finditer(text) if any(map(text.__contains__, _STORE_WORDS)) else ():
        end = _command_end(text, verb.end(), _REACH)
        yield from filter(None, map(_made_finding, _STORED.finditer(text, verb.end(), end)))


def _is_random(value: str) -> bool:
    return (is_opaque(value) or is_scrambled(value)) and not _HEX_HASH.fullmatch(value)


def _is_made(value: str) -> bool:
    return is_mixed(value) or _is_random(value)


def _made_finding(given: re.Match[str], looks: Callable[[str], bool] = _is_made) -> Finding | None:
    """Return the secret in a place where other things are also common: only one that looks generated."""
    found = _password_finding(given)
    value = found and given.string[found.start : found.end]
    is_one = value and looks(value) and not (is_path(value) or value.startswith("@"))
    return found if is_one else None


def _find_options(text: str) -> Iterator[Finding]:
    """Yield the secrets in the options of known programs."""
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
    end = _command_end(text, program.end(), _MAX_COMMAND)
    for option in _options()[program[0]]:
        given = re.compile(option).search(text, program.end(), end)
        if given and (finding := _password_finding(given)):
            yield finding
    return end


def _command_end(text: str, start: int, reach: int) -> int:
    end = min(len(text), start + reach)
    stop = _COMMAND_END.search(text, start, end)
    return stop.start() if stop else end


def _password_finding(given: re.Match[str]) -> Finding | None:
    groups = given.groupdict()
    name = next(name for name in ("single", "double", "bare") if groups.get(name))
    value = groups[name]
    if name == "bare" and (_NO_PASSWORD.fullmatch(value) or _ORDINARY_WORD.fullmatch(value)):
        return None
    if is_template(value) or is_password_word(value) or (name == "double" and value.startswith("$")):
        return None
    return Finding(*given.span(name), "command-password")
