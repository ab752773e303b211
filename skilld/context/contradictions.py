"""Finds lines that an agent loads and that contradict an instruction or each other, or are loaded twice. Pure.

Only what the rules of `skilld.classify.contradiction` know is certain: the other of two choices, another number for the
same measure, yes instead of no.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from skilld.classify.contradiction import contradicts_clearly
from skilld.classify.offline.sections import BlockKind, body_lines, sections
from skilld.context.values import LoadedFile, LoadTime, Scope, within
from skilld.text import fold_case
from skilld.values import value_class

_MIN_LINE = 40  # characters: shorter lines are headings and the like


@value_class
class DuplicateText:
    """Lines that two files share: `size` in characters, and the first line with its number in the second file."""

    path: str
    other: str
    line: int
    text: str
    size: int


def find_duplicates(files: Sequence[LoadedFile]) -> list[DuplicateText]:
    """Return the text that is in two loaded files, or in one file that is loaded twice.

    Files of two separate folders are for different work and are not compared.
    """
    first: dict[str, list[LoadedFile]] = {}
    found: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for place, file in enumerate(files):
        if file.scope is Scope.SKILL:
            continue
        own: dict[str, LoadedFile] = {}
        for segment in file.segments:
            for number, line in enumerate(segment.text.split("\n"), segment.line):
                said = fold_case(line)
                if len(said) < _MIN_LINE:
                    continue
                if (other := next((one for one in first.get(said, ()) if _load_together(one, file)), None)) is not None:
                    found.setdefault((other.path, f"{place} {file.path}"), []).append((number, line.strip()))
                own.setdefault(said, file)
        for said, one in own.items():
            first.setdefault(said, []).append(one)
    return [
        DuplicateText(path, other.partition(" ")[2], lines[0][0], lines[0][1], sum(len(line) for _, line in lines))
        for (path, other), lines in found.items()
    ]


def _load_together(one: LoadedFile, other: LoadedFile) -> bool:
    """Whether both files can be loaded at once."""
    apart = one.loaded is LoadTime.ON_USE and other.loaded is LoadTime.ON_USE
    return not apart or within(one.base, other.base) or within(other.base, one.base)


_MAX_LENGTH = 400  # characters: a longer block is not a single rule
_MAX_RULES = 600  # compared with each other


@value_class
class Rule:
    """One rule of a text: the number of its first line, its lines as written, and only its words."""

    line: int
    text: str
    words: str


@value_class
class Contradiction:
    """Two lines that an agent loads together and cannot both follow."""

    path: str
    line: int
    text: str
    other: str
    other_line: int
    other_text: str


def rules(text: str, first: int = 1) -> Iterator[Rule]:
    """Yield the rules of a text whose first line has the number `first`."""
    lines = body_lines(text)
    above = len(text.split("\n")) - len(lines) - (text.endswith("\n")) if lines else 0
    for section in sections(text):
        for block in section.blocks:
            if block.kind is not BlockKind.OTHER and len(block.text) <= _MAX_LENGTH:
                shown = " ".join(line.strip() for line in lines[block.first : block.last + 1])
                yield Rule(first + above + block.first, shown, block.text)


def contradictions(files: Sequence[LoadedFile]) -> list[Contradiction]:
    """Return the contradictions between files that are all in the first request, each pair of lines once."""
    found: list[Contradiction] = []
    before: list[tuple[LoadedFile, Rule]] = []
    known = [file for file in files if file.loaded is LoadTime.START and file.scope not in {Scope.SKILL, Scope.MEMORY}]
    every = ((file, rule) for file in known for segment in file.segments for rule in rules(segment.text, segment.line))
    for file, rule in islice(every, _MAX_RULES):
        for other, earlier in before:
            if other is not file and contradicts_clearly(rule.words, earlier.words):
                found.append(Contradiction(file.path, rule.line, rule.text, other.path, earlier.line, earlier.text))
        before.append((file, rule))
    return found
