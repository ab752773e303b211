"""Find passwords in the options of commands, which are called `-p` and promise nothing. Pure.

Sources: the manual of each program. One table; a command is read to the end of its line, and only its password goes.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from functools import cache
from typing import NamedTuple

from skilld.redact.findings import Finding
from skilld.redact.values import is_nominal, is_template

_REACH = 400  # characters of a command
# A value as a shell has it: quoted, or up to a blank.
_VALUE = r"""(?:'(?P<single>[^'\n]{1,256}+)'|"(?P<double>[^"\n]{1,256}+)"|(?P<bare>[^\s'"`|;<>]{1,256}+))"""
_ATTACHED = r"(?<=\s)-p" + _VALUE
_P = r"(?<=\s)(?:-p|--pass(?:word)?|--pw)(?:\s{1,4}|=)" + _VALUE


class _Command(NamedTuple):
    """Programs, and the regex of the option that carries their password: compiled where one is met."""

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
        _P,
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


# What tells that a command may carry a password; each begins with plain characters, which are searched fast.
_MARKS = (
    (" -", re.compile(r" -[pPaUuwkNbsdn-]")),
    *((word, re.compile(f"{word}.")) for word in ("sqlplus ", "wpa_passphrase ", "nmcli ")),
    *((sign, re.compile(sign)) for sign in ("pass:", " /p:")),
)
_NET_USE = ("net use", "NET USE", "Net use")
_NET = re.compile(r"(?i)net user? |net use ")
_END = re.compile(r"(?<!\\)\n|[;|]|&&")
_PIPED = re.compile(
    r"""echo\s{1,4}(?:-n\s{1,4})?["']?(?:[\w.-]{1,64}+:)?(?P<bare>[^\s"'|:]{4,128}+)["']?\s{0,4}\|\s{0,4}(?:sudo\s+-S|sudo\s+chpasswd|chpasswd|passwd)"""
)
_NET_USER = re.compile(
    r"(?i)net\s{1,4}user?\s{1,4}(?:[a-z*]:?\s{1,4})?\S{1,256}+\s{1,4}(?:/user:\S{1,64}+\s{1,4})?(?P<bare>[^\s/*|;]{4,128}+)(?=\s|$)"
)
_NO_PASSWORD = re.compile(r"[\d,.-]{1,12}|\d{1,5}(?::\d{1,5}){1,2}(?:/\w+)?|-.*|\$.*|%\w+%|<.*")
_WORDS = re.compile(r"(?i)pass(?:word)?|pwd|stdin|secret|\w{1,3}")


def find(text: str) -> Iterator[Finding]:
    """Yield the passwords that commands in `text` are given."""
    for mark in (mark for anchor, mark in _MARKS if anchor in text):
        done = 0  # no program that is not dealt with begins before
        for option in mark.finditer(text):
            if option.start() < done:
                continue
            program = _program(text, done, option.start())
            done = (yield from _of(text, program)) if program else option.start()
    if "|" in text and "echo" in text:
        yield from filter(None, map(_password, _PIPED.finditer(text)))
    for net in _NET.finditer(text) if any(map(text.__contains__, _NET_USE)) else ():
        if found := _NET_USER.match(text, net.start()):
            yield from filter(None, [_password(found)])


def _program(text: str, start: int, at: int) -> re.Match[str] | None:
    """Return the program whose option stands at `at`: the last one named before it on the line, from `start` on."""
    start = max(start, at - _REACH)
    start = max(start, text.rfind("\n", start, at) + 1)
    return max(_programs().finditer(text, start, at + 1), key=re.Match.start, default=None)


def _of(text: str, program: re.Match[str]) -> Generator[Finding, None, int]:
    """Yield the passwords of a command; return where it ends."""
    end = min(len(text), program.end() + _REACH)
    stop = _END.search(text, program.end(), end)
    end = stop.start() if stop else end
    for option in _options()[program[0]]:
        given = re.compile(option).search(text, program.end(), end)
        if given and (finding := _password(given)):
            yield finding
    return end


def _password(given: re.Match[str]) -> Finding | None:
    groups = given.groupdict()
    name = next(name for name in ("single", "double", "bare") if groups.get(name))
    value = groups[name]
    if name == "bare" and (_NO_PASSWORD.fullmatch(value) or _WORDS.fullmatch(value)):
        return None
    if is_template(value) or is_nominal(value) or (name == "double" and value.startswith("$")):
        return None
    return Finding(*given.span(name), "command-password")
