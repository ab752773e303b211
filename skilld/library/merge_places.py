"""Where a passage of one skill belongs in another: over a line that says less, among the steps in order. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.choices import same_choice
from skilld.classify.offline.sections import Block, Lines, body_of, sections
from skilld.edit.operations import anchored
from skilld.markdown.skill_file import parse
from skilld.text import fold
from skilld.types import Operation
from skilld.words import content_stems, denies, numbers

_COVERED = 0.8  # share of a line's stems that a fuller one has to have
_ALIKE = 0.4  # share of all stems of both: a long text holds many a short one that it does not say
_MIN_COUNT = 2  # stems
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A list item: its lines [first, behind) of the body with what belongs to it, and what stands before its text."""

    first: int
    behind: int
    text: str
    indent: str
    marker: str
    gap: str

    @property
    def is_step(self) -> bool:
        """Whether it is numbered."""
        return self.marker[:1].isdigit()

    @property
    def number(self) -> int:
        """Its number; 0 if it has none."""
        return int(self.marker[:-1]) if self.is_step else 0


def entries(data: bytes) -> list[Entry]:
    """Return the list items of a skill's body in order, those below others left to them."""
    text = data.decode("utf-8-sig", "replace")
    body = body_of(text)
    return [
        Entry(one.first, last + 1, fold(one.text), one.indent, one.marker, one.gap)
        for section in sections(text)
        for one, last in whole_blocks(section.blocks, body)
        if one.kind is Block.ITEM
    ]


def whole_blocks(blocks: Sequence[Lines], body: Sequence[str]) -> Iterator[tuple[Lines, int]]:
    """Yield each block with its last line, a list item with all that belongs to it."""
    at = 0
    while at < len(blocks):
        block, last = blocks[at], blocks[at].last
        at += 1
        width = len(block.indent) + len(block.marker) + 1
        while block.kind is Block.ITEM and at < len(blocks) and indent_of(body[blocks[at].first]) >= width:
            last, at = blocks[at].last, at + 1
        yield block, last


def indent_of(line: str) -> int:
    """Return by how many characters a line is indented."""
    return len(line) - len(line.lstrip())


def says_less(data: bytes, text: str) -> Entry | None:
    """Return the item that says a part of what `text` does and nothing else, None if there is none."""
    stems = content_stems(text)
    return next((entry for entry in entries(data) if _is_fuller(text, stems, entry.text)), None)


def _is_fuller(text: str, mine: frozenset[str], than: str) -> bool:
    """Whether a text with the stems `mine` says what another does, and more: its words, numbers, choices, yes or no."""
    theirs = content_stems(than)
    shared = len(mine & theirs)
    if len(theirs) < _MIN_COUNT or len(mine) <= len(theirs) or shared / len(theirs) < _COVERED:
        return False
    same = denies(text) == denies(than) and set(numbers(than)) <= set(numbers(text)) and same_choice(text, than)
    return same and shared / len(mine | theirs) >= _ALIKE and not contradicts(text, than)


def over(data: bytes, entry: Entry, lines: Sequence[str]) -> Operation:
    """Return the operation that puts the lines of a passage in the place of an item, under its marker."""
    body = parse(data).body
    return anchored(body, entry.first, entry.behind, _marked(entry, entry.marker, lines))


def among_steps(data: bytes, lines: Sequence[str], before: Iterable[str], behind: Iterable[str]) -> Operation | None:
    """Return the operation that adds a step behind the last of `before` that the skill has, or before one of `behind`.

    `before` are the steps that came before it where it is from, the nearest first, `behind` those that came after it.
    The steps that follow are numbered again. None if the skill has no numbered step of them.
    """
    steps = [entry for entry in entries(data) if entry.is_step]
    after = next((found for text in before if (found := _same(steps, text))), None)
    ahead = None if after else next((found for text in behind if (found := _same(steps, text))), None)
    neighbour = after or ahead
    if neighbour is None:
        return None
    number = steps.index(neighbour) + bool(after)
    follow = _list_from(steps, number, neighbour)
    body = parse(data).body
    first = neighbour.number + bool(after)
    new = _marked(neighbour, _numbered(neighbour.marker, first), lines)
    at = neighbour.behind if after else neighbour.first
    for place, step in enumerate(follow, 1):
        text = [line.text for line in body[step.first : step.behind]]
        text[0] = text[0].replace(step.marker, _numbered(step.marker, first + place), 1)
        gap = [line.text for line in body[step.behind : follow[place].first]] if place < len(follow) else []
        new += [*text, *gap]
    end = follow[-1].behind if follow else at
    if follow and after:
        new[len(lines) : len(lines)] = [line.text for line in body[at : follow[0].first]]
    return anchored(body, at, end, new)


def _same(steps: Sequence[Entry], text: str) -> Entry | None:
    wanted = content_stems(text)
    for step in steps:
        stems = content_stems(step.text)
        if fold(text) == step.text or (wanted and len(wanted & stems) / len(wanted | stems) >= _COVERED):
            return step
    return None


def _list_from(steps: Sequence[Entry], number: int, neighbour: Entry) -> list[Entry]:
    """Return the steps of the neighbour's list from one on: as long as each has the next number."""
    found: list[Entry] = []
    value = neighbour.number + (number > steps.index(neighbour))
    for step in steps[number:]:
        if step.indent != neighbour.indent or step.marker != _numbered(step.marker, value + len(found)):
            break
        found.append(step)
    return found


def _numbered(marker: str, number: int) -> str:
    return _NUMBER.sub(str(number), marker, count=1)


def _marked(entry: Entry, marker: str, lines: Sequence[str]) -> list[str]:
    head = f"{entry.indent}{marker}{entry.gap}"
    return [f"{head}{lines[0]}", *(f"{' ' * len(head)}{line}" if line.strip() else "" for line in lines[1:])]
