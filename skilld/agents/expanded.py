"""What of a prompt a person typed where a client put a template in the place of a `/name`, without any mark.

A prompt's text and the templates that were there to be called in; the typed arguments out. Placeholders seen: Pi 0.73.1
(`$1`, `$@`, `${@:2}`, `$ARGUMENTS`), opencode 1.18.33 (also a command's output), Codex up to 0.16x (also `$NAME`).
Knows no file and no agent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, runtime_checkable

from skilld.text import fold

Lookup = Callable[[str | None], Sequence[str]]  # a session's folder -> the texts of the templates it could call
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_HOLE = re.compile(r"(\$\{@:\d+(?::\d+)?\}|\$(?:\d+|@|[A-Z][A-Z0-9_]*)|!`[^`\n]*`)")
_WORD = re.compile(r"\w")


@runtime_checkable
class Expanding(Protocol):
    """A parser of an agent whose prompts may be templates without a mark."""

    def know(self, templates: Lookup) -> None:
        """Take in where to look templates up. A parser that is never told takes every prompt for typed."""


def no_templates(folder: str | None) -> Sequence[str]:
    """Return no templates: the lookup of a parser that was told of none."""
    del folder
    return ()


def typed_arguments(text: str, templates: Iterable[str]) -> str | None:
    """Return the arguments typed to the template that the text was made of, "" where they cannot be told.

    None where it was made of none of them.
    """
    words = fold(text)
    found = [arguments for each in templates if (arguments := _filled_in(words, each)) is not None]
    return min(found, key=len, default=None)


def _filled_in(words: str, template: str) -> str | None:
    parts = _HOLE.split(_FRONT.sub("", template, count=1))
    literals = [fold(part) for part in parts[::2]]
    if len(literals) == 1:
        return "" if words == literals[0] else None
    if not any(map(_WORD.search, literals)):  # whatever is typed could have come of it
        return None
    at, end = len(literals[0]), len(words) - len(literals[-1])
    if not words.startswith(literals[0]) or not words.endswith(literals[-1]) or end < at:
        return None
    typed: list[str] = []
    for literal in literals[1:-1]:
        found = words.find(literal, at, end)
        if found < 0:
            return None
        typed.append(words[at:found].strip())
        at = found + len(literal)
    typed.append(words[at:end].strip())
    # What a program printed may hold any of the template's own words.
    ran = any(hole.startswith("!") for hole in parts[1::2])
    return "" if ran else " ".join(filter(None, dict.fromkeys(typed)))
