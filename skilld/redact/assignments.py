"""Find secrets by the name they are given: `password = ...`, .env lines, JSON, YAML, flags, XML, comparisons. Pure.

Only the value is a finding. How little a value must show depends on what its name promises (`keys`); code, templates,
paths and plain words are left alone. Every quantifier is bounded, so the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Finding
from skilld.redact.keys import STEMS, Promise, promise_of
from skilld.redact.values import is_call, is_code, is_mixed, is_nominal, is_opaque, is_stand_in, is_template

_REACH = 64  # characters of a name on either side of its stem
_NAME_BEFORE = re.compile(r"[\w.-]*$")
_NAME_AFTER = re.compile(rf"[\w.-]{{0,{_REACH}}}+")

# What may stand between a name and its value.
_LINK = re.compile(
    r"""(?x)
    (?: \\{0,3}["'`]? \]? (?:\[["'\w]{0,24}\])? [\ \t]{0,8}
        (?: :\ ?[A-Za-z][\w.\[\]]{0,24}[\ \t]{0,4}=(?![=>])           # name: type =
          | [\ \t]{1,4}[A-Za-z][\w.*\[\]]{0,24}[\ \t]{1,4}:?=(?![=>])  # name type =   (Go)
          | ={2,3} | !={1,2} | :{0,3}=>? | \?= | \|\|= | -> | <- | :(?!:) | ：| \bis\b | \bwas\b
        ) \s{0,8} (?:\[\s{0,8}(?=["'`]))?
      | (?P<pair> \\{0,3}["'] [\ \t]{0,4} , ) \s{0,8} (?=\\{0,3}["'])        # ("name", "value")
      | (?: \.(?:set\w{0,16}|assign|equals|put|append|push) )? \( (?=@?\\{0,3}["'`])  # name("value"), name.assign("value")
      | [\ \t]{1,4} (?=@?\\{0,3}["'])                                    # name "value"
      | \\{0,3}["'`]? \s{1,40} (?:value|content)["'`]? \s{0,4} [:=] \s{0,4}  # key="name" value="value"; name: X, value: V
      | > \s{0,40}                                                      # <name>value</name>
    )"""
)
_FLAG_LINK = re.compile(r"[ \t]{1,4}(?!-)")
_QUOTED = re.compile(
    r"""@?(?P<quote>\\{0,3}(?:'''|\"{3}|["'`]))(?P<value>(?:(?!(?P=quote))[^\n]){1,2048}+)(?P=quote)"""
)
_ELEMENT = re.compile(r"(?P<value>[^<\s]{4,2048}+)\s{0,40}</")
_BARE = re.compile(r"[^\s]{1,2048}+")
_NEXT_PAIR = re.compile(r"[;&,|]\s?[A-Za-z_][\w.-]{0,63}[=:]|&|\\[nr]|\\?[\"'`](?=[,;)\s}\]]|$)|<[/A-Za-z]|,$")
_TRAILING = ".,;:!?)]}'\"`\\"
_COMPARED = re.compile(r"""(?P<quote>["'`])(?P<value>[^"'`\n]{4,256})(?P=quote)\s{0,2}[=!]==?\s{0,2}$""")
_ENV_LINE = re.compile(r"[ \t]*(?:(?:export|set|ENV|- )[ \t]+|\$env:)?[A-Z][A-Z0-9_]*=[ \t]*")

_ABOUT_SECRETS = re.compile(r"(?i)pass|secret|token|key|login|sign|enter|\b(?:the|your|an?|is|for|of)\b")
_ENDLESS = re.compile(r"[a-z]{24,}+|[A-Z]{24,}+")  # the longest common word has 20 letters
_LABEL_WORDS = 6  # more words than this are a sentence

_SHORTEST = 4
# A number is no secret unless it is as long as this.
_DIGITS = {Promise.PASSWORD: 6, Promise.SECRET: 12, Promise.PERHAPS: 64, Promise.NOTHING: 64}


def find(text: str) -> Iterator[Finding]:
    """Yield the value of every name in `text` that promises a secret and is given one."""
    done = 0
    lowered = text.replace("\u0130", "i").lower()  # the one letter whose lower case is longer
    for stem in STEMS.finditer(lowered):
        if stem.start() < done:
            continue
        start = stem.start() - len(_before(text, stem.start()))
        after = _NAME_AFTER.match(text, stem.start())
        end = after.end() if after else stem.end()
        done = end
        finding = _value_of(text, start, end)
        if finding:
            done = finding.end
            yield finding


def _before(text: str, at: int) -> str:
    found = _NAME_BEFORE.search(text[max(0, at - _REACH) : at])
    return found[0] if found else ""


def _value_of(text: str, start: int, end: int) -> Finding | None:
    """Return the secret that the name at [start, end) is given or compared with, if it is one."""
    name = text[start:end].removeprefix("-D").strip(".-")
    promise = promise_of(name)
    if promise is Promise.NOTHING:
        return None
    link = _link(text, start, end)
    if name.lower() == "pass" and not (link and "=" in link[0]):  # the verb: "tests pass: ...", "pass 'x'"
        return None
    if link:
        return _given(text, start, link, promise)
    compared = _COMPARED.search(text[max(0, start - 264) : start])
    if compared and _is_secret(compared["value"], promise, quoted=True):
        shift = max(0, start - 264)
        return _finding(shift + compared.start("value"), shift + compared.end("value"), promise)
    return None


def _link(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return what joins the name at [start, end) to a value, if anything does."""
    link = _LINK.match(text, end)
    if not link:
        return _FLAG_LINK.match(text, end) if text[start : start + 1] == "-" else None
    if link["pair"] and not text[max(0, start - 4) : start].rstrip("\\\"'").endswith("("):
        return None  # a list of names
    return link


def _given(text: str, start: int, link: re.Match[str], promise: Promise) -> Finding | None:
    at = link.end()
    quoted = _QUOTED.match(text, at)
    if quoted:
        if not _is_label(quoted["value"], link[0]) and _is_secret(quoted["value"], promise, quoted=True):
            return _finding(*quoted.span("value"), promise)
        return None
    if link[0].lstrip().startswith(">"):
        element = _ELEMENT.match(text, at)
        if element and _is_secret(element["value"], promise, quoted=True):
            return _finding(*element.span("value"), promise)
        return None
    value = "" if "\n" in link[0] else _bare_value(text, at)
    if _is_secret(value, promise, quoted=_is_env_line(text, start, link.end())):
        return _finding(at, at + len(value), promise)
    return None


def _is_label(value: str, link: str) -> bool:
    """Whether `value` is a text about a secret, as interfaces and schemas have: `"password": "Enter your password"`."""
    words = value.split()
    return (
        len(words) > 1 and "=" not in link and (len(words) > _LABEL_WORDS or _ABOUT_SECRETS.search(value) is not None)
    )


def _is_env_line(text: str, start: int, end: int) -> bool:
    """Whether the name at `start` begins a line of the form NAME= (export, set and the like aside)."""
    line = text.rfind("\n", max(0, start - _REACH), start) + 1
    return _ENV_LINE.fullmatch(text, line or max(0, start - _REACH), end) is not None


def _bare_value(text: str, at: int) -> str:
    found = _BARE.match(text, at)
    if not found or is_template(found[0]):
        return ""
    cut = _NEXT_PAIR.search(found[0])
    value = found[0][: cut.start()] if cut else found[0]
    return value.rstrip(_TRAILING)


def _is_secret(value: str, promise: Promise, *, quoted: bool) -> bool:
    """Whether `value` is one, given what its name promises; a quoted value is a literal, a bare one may be code."""
    if len(value) < _SHORTEST or is_template(value):
        return False
    if value.isdigit():
        return len(value) >= _DIGITS[promise]
    if promise is Promise.PASSWORD and quoted:
        return not is_nominal(value) and not is_call(value)
    if is_stand_in(value) or (not quoted and is_code(value)):
        return False
    if is_opaque(value):
        return True
    return promise is not Promise.PERHAPS and (is_mixed(value) or _ENDLESS.fullmatch(value) is not None)


def _finding(start: int, end: int, promise: Promise) -> Finding:
    return Finding(start, end, "password" if promise is Promise.PASSWORD else "secret-value")
