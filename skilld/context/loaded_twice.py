"""Finds text that an agent loads twice. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilld.context.values import LoadedFile, Scope
from skilld.text import folded

_MIN_LINE = 40  # characters: shorter lines are headings and the like


@dataclass(frozen=True, slots=True)
class LoadedTwice:
    """Lines that two files have: how many characters, and the first of them with its number in the second file."""

    path: str
    other: str
    line: int
    text: str
    size: int


def loaded_twice(files: Sequence[LoadedFile]) -> list[LoadedTwice]:
    """Return what is in two files that are loaded; of a file that is loaded twice, all of it."""
    first: dict[str, str] = {}
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for place, file in enumerate(files):
        if file.scope is Scope.SKILL:
            continue
        own: dict[str, str] = {}
        for segment in file.segments:
            for number, line in enumerate(segment.text.split("\n"), segment.line):
                said = folded(line)
                if len(said) < _MIN_LINE:
                    continue
                if said in first:
                    found.setdefault((first[said], f"{place} {file.path}"), []).append((number, line.strip()))
                own.setdefault(said, file.path)
        first = own | first
    return [
        LoadedTwice(path, other.partition(" ")[2], lines[0][0], lines[0][1], sum(len(line) for _, line in lines))
        for (path, other), lines in found.items()
    ]
