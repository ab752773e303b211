"""Read what a name is given: the syntax of assignments in code, data, shells, markup and prose. Pure.

Knows nothing of secrets: a name's place in, the place of its value out. Every quantifier is bounded or possessive, and
only what stands directly before or behind the name is looked at.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Given(NamedTuple):
    """A value at [start, end). `literal`: a string for certain, not code. `equals`: given by a sign with `=` in it."""

    start: int
    end: int
    literal: bool
    equals: bool


# What may stand between a name and its value.
_LINK = re.compile(
    r"""(?x)
      \\{0,3}["'`]? \]? (?:\[["'\w]{0,24}\])? [ \t]{0,8}
      (?: :[ ]?[A-Za-z][\w.\[\]]{0,24}[ \t]{0,4}=(?![=>])              # name: type =
        | [ \t]{1,4}[A-Za-z][\w.*\[\]]{0,24}[ \t]{1,4}:?=(?![=>])      # name type =
        | ={2,3} | !={1,2} | :{0,3}=>? | \?= | \|\|= | -> | <- | :(?!:) | ： | \bis\b | \bwas\b
      ) \s{0,8} (?:\[\s{0,8}(?=["'`]))?
    | (?P<argument> \\{0,3}["'] [ \t]{0,4} , ) \s{0,8} (?=\\{0,3}["'])            # ("name", "value")
    | (?P<call> (?:\.(?:set\w{0,16}|assign|equals|put|append|push))? \( ) (?=@?\\{0,3}["'`])  # name("value")
    | [ \t]{1,4} (?=@?\\{0,3}["'])                                                # name "value"
    | \\{0,3}["'`]? \s{1,40} (?:value|content)["'`]? \s{0,4} [:=] \s{0,4}           # <add key="name" value="value"/>
    | (?P<element> > \s{0,40} )                                                   # <name>value</name>
    """
)
_FLAG_LINK = re.compile(r"[ \t]{1,4}(?!-)")  # --name value
_QUOTED = re.compile(
    r"""(?:@|(?P<prefix>[fFrRbBuU]{1,2}))?(?P<quote>\\{0,3}(?:'''|\"{3}|["'`]))"""
    r"""(?P<value>(?:(?!(?P=quote))[^\n]){1,2048}+)(?P=quote)"""
)
_ELEMENT = re.compile(r"(?P<value>[^<\s]{4,2048}+)\s{0,40}</")
_BARE = re.compile(r"\S{1,2048}+")
_STOP = re.compile(
    r"""[;&,|]\s?[A-Za-z_][\w.-]{0,63}[=:] | & | \\[nr] | \\?["'`](?=[,;)\s}\]]|$) | <[/A-Za-z] | ,$""", re.VERBOSE
)
_TRAILING = ".,;:!?)]}'\"`\\"
_COMPARED = re.compile(r"""(["'`])(?P<value>[^"'`\n]{4,256})\1\s{0,2}[=!]==?\s{0,2}$""")
_BEFORE = 264  # the longest literal a name is compared with, and the operator
_ENV_LINE = re.compile(r"[ \t]*(?:(?:export|set|ENV|-)[ \t]+|\$env:)?[A-Z][A-Z0-9_]*=[ \t]*")
_LINE_START = 80


def given(text: str, start: int, end: int) -> Given | None:
    """Return the value that the name at [start, end) of `text` is given, or None where it is given none."""
    link = _LINK.match(text, end)
    if not link:
        flag = _FLAG_LINK.match(text, end) if text[start] == "-" else None
        return _bare(text, flag.end(), literal=False, equals=False) if flag else None
    if link["argument"] and not text[max(0, start - 4) : start].rstrip("\\\"'").endswith("("):
        return None  # a list of names
    at, equals = link.end(), "=" in link[0]
    if link["element"]:
        found = _ELEMENT.match(text, at)
        return Given(*found.span("value"), literal=True, equals=True) if found else None
    if quoted := _QUOTED.match(text, at):
        if "f" in (quoted["prefix"] or "").lower() and "{" in quoted["value"]:
            return None
        return Given(*quoted.span("value"), literal=not (link["argument"] or link["call"]), equals=equals)
    if "\n" in link[0]:
        return None
    return _bare(text, at, literal=_is_env_line(text, start, at), equals=equals)


def compared(text: str, start: int) -> Given | None:
    """Return the literal that the name beginning at `start` is compared with, if it stands before the name."""
    offset = max(0, start - _BEFORE)
    found = _COMPARED.search(text[offset:start]) if text[max(0, start - 4) : start].rstrip()[-1:] == "=" else None
    return Given(*(offset + at for at in found.span("value")), literal=True, equals=True) if found else None


def _bare(text: str, at: int, *, literal: bool, equals: bool) -> Given | None:
    found = _BARE.match(text, at)
    if not found:
        return None
    stop = _STOP.search(found[0])
    value = found[0][: stop.start()] if stop else found[0]
    return Given(at, at + len(value.rstrip(_TRAILING)), literal, equals)


def _is_env_line(text: str, start: int, end: int) -> bool:
    """Whether the name at `start` begins a line of the form NAME= (export, set and the like aside)."""
    begin = text.rfind("\n", max(0, start - _LINE_START), start) + 1
    return _ENV_LINE.fullmatch(text, begin or max(0, start - _LINE_START), end) is not None
