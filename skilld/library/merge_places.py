"""Places a passage of one skill in another: over a shorter item, or among the steps in order. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skilld.classify.contradiction import contradicts
from skilld.classify.offline.choices import same_choice
from skilld.classify.offline.sections import BlockKind, ProseBlock, body_lines, sections
from skilld.edit.operations import anchor_operation
from skilld.markdown.skill_file import parse
from skilld.text import fold, indentation
from skilld.types import Operation
from skilld.words import content_stems, has_negation, numbers

_MIN_COVERED_SHARE = 0.8  # of a line's stems, in a longer one that replaces it
_MIN_COMMON_SHARE = 0.4  # of all stems of both: a long text contains the words of many short ones
_MIN_STEMS = 2  # stems
_NUMBER_PATTERN = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class ListItem:
    """A list item: its lines [first, behind) of the body, with nested lines, and the parts before its text."""

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
        """Its number, or 0."""
        return int(self.marker[:-1]) if self.is_step else 0


def list_items(data: bytes) -> list[ListItem]:
    """Return the top-level list items of a skill's body in order."""
    text = data.decode("utf-8-sig", "replace")
    body = body_lines(text)
    return [
        ListItem(one.first, last + 1, fold(one.text), one.indent, one.marker, one.gap)
        for section in sections(text)
        for one, last in whole_blocks(section.blocks, body)
        if one.kind is BlockKind.ITEM
    ]


def whole_blocks(blocks: Sequence[ProseBlock], body: Sequence[str]) -> Iterator[tuple[ProseBlock, int]]:
    """Yield each block with its last line; a list item includes its nested blocks."""
    at = 0
    while at < len(blocks):
        block, last = blocks[at], blocks[at].last
        at += 1
        width = len(block.indent) + len(block.marker) + 1
        while block.kind is BlockKind.ITEM and at < len(blocks) and indentation(body[blocks[at].first]) >= width:
            last, at = blocks[at].last, at + 1
        yield block, last


def find_shorter_item(data: bytes, text: str) -> ListItem | None:
    """Return the item that says only a part of what `text` says, None if there is none."""
    stems = content_stems(text)
    return next((entry for entry in list_items(data) if _says_more(text, stems, entry.text)), None)


def _says_more(text: str, mine: frozenset[str], than: str) -> bool:
    """Whether a text with the stems `mine` says all that another does, and more, with the same numbers and polarity."""
    theirs = content_stems(than)
    shared = len(mine & theirs)
    if len(theirs) < _MIN_STEMS or len(mine) <= len(theirs) or shared / len(theirs) < _MIN_COVERED_SHARE:
        return False
    same = (
        has_negation(text) == has_negation(than)
        and set(numbers(than)) <= set(numbers(text))
        and same_choice(text, than)
    )
    return same and shared / len(mine | theirs) >= _MIN_COMMON_SHARE and not contradicts(text, than)


def replace_item(data: bytes, entry: ListItem, lines: Sequence[str]) -> Operation:
    """Return the operation that replaces an item by the lines of a passage, keeping its marker."""
    body = parse(data).body
    return anchor_operation(body, entry.first, entry.behind, _with_marker(entry, entry.marker, lines))


def insert_step(data: bytes, lines: Sequence[str], before: Iterable[str], behind: Iterable[str]) -> Operation | None:
    """Return the operation that adds a step after the first of `before` that the skill has, or before one of `behind`.

    `before` are the preceding steps in the other skill, the nearest first, `behind` the following ones. Later steps
    are renumbered. None if the skill has none of these steps.
    """
    steps = [entry for entry in list_items(data) if entry.is_step]
    after = next((found for text in before if (found := _find_step(steps, text))), None)
    ahead = None if after else next((found for text in behind if (found := _find_step(steps, text))), None)
    neighbour = after or ahead
    if neighbour is None:
        return None
    number = steps.index(neighbour) + bool(after)
    follow = _following_steps(steps, number, neighbour)
    body = parse(data).body
    first = neighbour.number + bool(after)
    new = _with_marker(neighbour, _with_number(neighbour.marker, first), lines)
    at = neighbour.behind if after else neighbour.first
    for place, step in enumerate(follow, 1):
        text = [line.text for line in body[step.first : step.behind]]
        text[0] = text[0].replace(step.marker, _with_number(step.marker, first + place), 1)
        gap = [line.text for line in body[step.behind : follow[place].first]] if place < len(follow) else []
        new += [*text, *gap]
    end = follow[-1].behind if follow else at
    if follow and after:
        new[len(lines) : len(lines)] = [line.text for line in body[at : follow[0].first]]
    return anchor_operation(body, at, end, new)


def _find_step(steps: Sequence[ListItem], text: str) -> ListItem | None:
    wanted = content_stems(text)
    for step in steps:
        stems = content_stems(step.text)
        if fold(text) == step.text or (wanted and len(wanted & stems) / len(wanted | stems) >= _MIN_COVERED_SHARE):
            return step
    return None


def _following_steps(steps: Sequence[ListItem], number: int, neighbour: ListItem) -> list[ListItem]:
    """Return the steps of the neighbour's list from `number` on that are numbered consecutively."""
    found: list[ListItem] = []
    value = neighbour.number + (number > steps.index(neighbour))
    for step in steps[number:]:
        if step.indent != neighbour.indent or step.marker != _with_number(step.marker, value + len(found)):
            break
        found.append(step)
    return found


def _with_number(marker: str, number: int) -> str:
    return _NUMBER_PATTERN.sub(str(number), marker, count=1)


def _with_marker(entry: ListItem, marker: str, lines: Sequence[str]) -> list[str]:
    head = f"{entry.indent}{marker}{entry.gap}"
    return [f"{head}{lines[0]}", *(f"{' ' * len(head)}{line}" if line.strip() else "" for line in lines[1:])]
