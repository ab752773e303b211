"""Read what a name is given: the syntax of assignments in code, data, shells, markup and prose. Pure.

Knows nothing of secrets: a name's place in, the place of its value out. Every quantifier is bounded or possessive, and
only what stands directly before or behind the name is looked at.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple


class Way(Enum):
    """How a value is given."""

    LITERAL = auto()  # a string for certain
    BARE = auto()  # without quotes or as an argument: it may be code
    NEXT = auto()  # nothing but a blank between: it may be any word


class Given(NamedTuple):
    """A value at [start, end). `equals` tells that the sign between has a `=` in it."""

    start: int
    end: int
    way: Way
    equals: bool


# What may stand between a name and its value.
_LINK = re.compile(
    r"""(?x)
      \\{0,3}["'`]? \*{0,2} \]? (?:\[["'\w]{0,24}\])? [ \t]{0,8}
      (?: :[ ]?[A-Za-z][\w.\[\]]{0,24}[ \t]{0,4}=(?![=>])              # name: type =
        | [ \t]{1,4}[A-Za-z][\w.*\[\]]{0,24}[ \t]{1,4}:?=(?![=>])      # name type =
        | ={2,3} | !={1,2} | :{0,3}=>? | \?= | \|\|= | -> | <- | :(?!:) | ： | \b(?:is|was)\b:?
      ) \*{0,2} \s{0,8} (?:\[\s{0,8}(?=["'`]))?
    | (?P<argument> \\{0,3}["'] [ \t]{0,4} , ) \s{0,8} (?=\\{0,3}["'])            # ("name", "value")
    | (?P<call> (?:\.(?:set\w{0,16}|assign|equals|put|append|push))? \( ) (?=@?\\{0,3}["'`])  # name("value")
    | [ \t]{1,4} (?=@?\\{0,3}["'])                                                # name "value"
    | \\{0,3}["'`]? \s{1,40} (?:value|content)["'`]? \s{0,4} [:=] \s{0,4}           # <add key="name" value="value"/>
    | (?P<element> > \s{0,40} )                                                   # <name>value</name>
    """
)
_BLANK = re.compile(r"[ \t]{1,4}(?!-)")  # --name value
_QUOTED = re.compile(
    r"""(?:@|(?P<prefix>[fFrRbBuU]{1,2}))?(?P<quote>\\{0,3}(?:'''|\"{3}|["'`]))"""
    r"""(?P<value>(?:(?!(?P=quote))[^\n]){1,16384}+)(?P=quote)"""
)
_ELEMENT = re.compile(r"(?P<value>[^<\s]{4,16384}+)\s{0,40}</")
_BARE = re.compile(
    r"""(?x)
    (?: (?! [;&,|]\s?["']?[A-Za-z_][\w.-]{0,63}+["']?[=:]  # the next pair of a query or a list
          | & | \\[nr] | <[/A-Za-z] | \\?["'`](?=[,;)\s}\]]|$) )
        \S ){1,16384}+"""
)
_TRAILING = ".,;:!?)]}'\"`\\"
_COMPARED = re.compile(r"""(["'`])(?P<value>[^"'`\n]{4,256})\1\s{0,2}[=!]==?\s{0,2}$""")
_BEFORE = 264  # the longest literal a name is compared with, and the operator
_ENV_LINE = re.compile(r"[ \t]*(?:(?:export|set|ENV|-)[ \t]+|\$env:)?[A-Z][A-Z0-9_]*=[ \t]*")
_LINE_START = 80
_PAIR_SIGNS = (";", "&", "?")  # before a pair of a connection string or of a query


def given(text: str, start: int, end: int) -> Given | None:
    """Return the value that the name at [start, end) of `text` is given, or None where it is given none."""
    link = _LINK.match(text, end)
    if not link:
        blank = _BLANK.match(text, end)
        return _bare(text, blank.end(), Way.BARE if text[start] == "-" else Way.NEXT) if blank else None
    if link["argument"] and not text[max(0, start - 4) : start].rstrip("\\\"'").endswith("("):
        return None  # a list of names
    at, equals = link.end(), "=" in link[0]
    if link["element"]:
        found = _ELEMENT.match(text, at)
        return Given(*found.span("value"), Way.LITERAL, equals=True) if found else None
    if quoted := _QUOTED.match(text, at):
        if "f" in (quoted["prefix"] or "").lower() and "{" in quoted["value"]:
            return None
        may_be_code = link["argument"] or link["call"] or quoted["quote"] == "`"  # Markdown quotes names so
        return Given(*quoted.span("value"), Way.BARE if may_be_code else Way.LITERAL, equals)
    if "\n" in link[0]:
        return None
    is_string = (equals and text[start - 1 : start] in _PAIR_SIGNS) or _is_env_line(text, start, at)
    return _bare(text, at, Way.LITERAL if is_string else Way.BARE, equals=equals)


def compared(text: str, start: int) -> Given | None:
    """Return the literal that the name beginning at `start` is compared with, if it stands before the name."""
    if not text[max(0, start - 4) : start].rstrip().endswith("="):
        return None
    offset = max(0, start - _BEFORE)
    found = _COMPARED.search(text[offset:start])
    return (
        Given(offset + found.start("value"), offset + found.end("value"), Way.LITERAL, equals=True) if found else None
    )


def _bare(text: str, at: int, way: Way, *, equals: bool = False) -> Given | None:
    found = _BARE.match(text, at)
    return Given(at, at + len(found[0].rstrip(_TRAILING)), way, equals) if found else None


def _is_env_line(text: str, start: int, end: int) -> bool:
    """Whether the name at `start` begins a line of the form NAME= (export, set and the like aside)."""
    begin = text.rfind("\n", max(0, start - _LINE_START), start) + 1
    return _ENV_LINE.fullmatch(text, begin or max(0, start - _LINE_START), end) is not None
