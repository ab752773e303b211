"""Finds lines an agent loads that contradict an instruction, or each other. Pure.

Sure is only what the rules of `skilld.classify.contradiction` know: another of two choices, another number of one
measure, yes where the other says no.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from skilld.classify.contradiction import contradicts_plainly
from skilld.classify.offline.sections import Block, body_of, sections
from skilld.context.values import LoadedFile, LoadTime, Scope

_MAX_LENGTH = 400  # characters: a longer block is no single rule
_MAX_RULES = 600  # that are compared with each other


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a text: the number of its first line, its lines as they stand there, and its words alone."""

    line: int
    text: str
    words: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two lines that an agent loads at once and that cannot both hold."""

    path: str
    line: int
    text: str
    other: str
    other_line: int
    other_text: str


def rules(text: str, first: int = 1) -> Iterator[Rule]:
    """Yield the rules of a text whose first line has the number `first`."""
    lines = body_of(text)
    above = len(text.split("\n")) - len(lines) - (text.endswith("\n")) if lines else 0
    for section in sections(text):
        for block in section.blocks:
            if block.kind is not Block.OTHER and len(block.text) <= _MAX_LENGTH:
                shown = " ".join(line.strip() for line in lines[block.first : block.last + 1])
                yield Rule(first + above + block.first, shown, block.text)


def contradicted_rules(change: str, text: str, first: int = 1) -> list[Rule]:
    """Return the rules of a text that an instruction contradicts."""
    return [rule for rule in rules(text, first) if contradicts_plainly(change, rule.words)]


def contradictions(files: Sequence[LoadedFile]) -> list[Contradiction]:
    """Return what files say against each other that are all in the first request; each pair of lines once."""
    found: list[Contradiction] = []
    before: list[tuple[LoadedFile, Rule]] = []
    known = [file for file in files if file.loaded is LoadTime.START and file.scope not in {Scope.SKILL, Scope.MEMORY}]
    every = ((file, rule) for file in known for segment in file.segments for rule in rules(segment.text, segment.line))
    for file, rule in islice(every, _MAX_RULES):
        for other, earlier in before:
            if other is not file and contradicts_plainly(rule.words, earlier.words):
                found.append(Contradiction(file.path, rule.line, rule.text, other.path, earlier.line, earlier.text))
        before.append((file, rule))
    return found
