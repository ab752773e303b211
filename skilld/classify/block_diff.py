"""The blocks that an edit removes, adds and moves: headings, list items, paragraphs and lines of code. Pure.

A block that is only rewrapped, reindented or renumbered is the same block.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import Role, list_item, roles, sections
from skilld.values import value_class

_OWN_LINE = re.compile(r"\s*[|>]")  # lines of tables and quotations, which continue no other line
_LABEL = re.compile(r".*[:\uff1a][*_]*$|[*_]{2}[^*_]+[*_]{2}$")
_HEADING, ITEM = "heading", "item"


@value_class
class Block:
    """One heading, list item or paragraph, or one line of code, a table or a quotation.

    `text` is without markers, white space folded; `lines` is the number of lines and `start` the first one in the body.
    `level` is 0 except for headings; `number` is that of a numbered item. `end` is the index after the last block below
    it.
    """

    text: str
    lines: int
    kind: str
    indent: int = 0
    level: int = 0
    number: str = ""
    end: int = 0
    start: int = 0

    @property
    def key(self) -> tuple[str, bool, bool]:
        """Equal for two blocks that are the same."""
        return self.text, bool(self.level), self.kind == Role.CODE.value


@value_class
class BlockDiff:
    """Two versions of a skill as blocks: the indexes of the removed old ones and of the added new ones.

    `moved` are runs of old blocks that were moved, each with the old blocks that it was moved past; `came_from` has the
    old index of each new block, None if it was added.
    """

    old: tuple[Block, ...]
    new: tuple[Block, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    moved: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    came_from: tuple[int | None, ...] = ()

    def replacements(self, place: int) -> list[Block]:
        """Return the new blocks in the place of a removed old one."""
        gone = set(self.removed)
        above = next((one for one in range(place - 1, -1, -1) if one not in gone), None)
        begin = 0 if above is None else self.came_from.index(above) + 1
        came = zip(self.new[begin:], self.came_from[begin:], strict=True)
        return [block for block, _ in takewhile(lambda pair: pair[1] is None, came)]


def diff_blocks(before: str, after: str) -> BlockDiff:
    """Compare two texts of a skill. Raises SkilldError if one of them cannot be parsed."""
    old, new = parse_blocks(before), parse_blocks(after)
    waiting: dict[tuple[str, bool, bool], deque[int]] = defaultdict(deque)
    for place, block in enumerate(old):
        waiting[block.key].append(place)
    came_from = [waiting[block.key].popleft() if waiting[block.key] else None for block in new]
    kept = [place for place in came_from if place is not None]
    left = sorted(place for places in waiting.values() for place in places)
    added = [place for place, source in enumerate(came_from) if source is None]
    return BlockDiff(tuple(old), tuple(new), tuple(left), tuple(added), tuple(_moved_runs(kept)), tuple(came_from))


def parse_blocks(text: str) -> list[Block]:
    """Return the blocks of a skill's body in order. Raises SkilldError if it cannot be parsed."""
    body = parse(text.encode("utf-8", "replace")).body
    found = list(_split_blocks(body))
    return [_with_end(found, place) for place in range(len(found))]


def _split_blocks(body: Sequence[Line]) -> Iterator[Block]:
    kinds = roles(body)
    titles = {part.head: part for part in sections(body) if part.level}
    at = 0
    while at < len(body):
        end = at + 1
        if at in titles:
            end = titles[at].start
            yield Block(titles[at].title, end - at, _HEADING, level=titles[at].level, start=at)
        elif body[at].key:
            end = _last_line(body, kinds, titles, at) + 1
            yield replace(_parse_block([line.text for line in body[at:end]], kinds[at]), start=at)
        at = end


def _parse_block(lines: Sequence[str], role: Role) -> Block:
    item = list_item(lines[0]) if role is Role.TEXT else None
    before = len(item.indent + item.marker + item.gap + item.box) if item else 0
    text = " ".join(" ".join([lines[0][before:], *lines[1:]]).split())
    indent = len(lines[0].expandtabs(4)) - len(lines[0].expandtabs(4).lstrip())
    number = item.marker[:-1] if item and item.marker[:-1].isdigit() else ""
    kind = ITEM if item else role.value
    return Block(text, len(lines), Role.CODE.value if kind == Role.FENCE.value else kind, indent, number=number)


def _last_line(body: Sequence[Line], kinds: Sequence[Role], titles: Container[int], first: int) -> int:
    """Return the last line of the paragraph or item that begins at `first`; in code and tables each line is one."""
    if kinds[first] is not Role.TEXT or _OWN_LINE.match(body[first].text):
        return first
    for at in range(first + 1, len(body)):
        text = body[at].text
        ends = not body[at].key or kinds[at] is not Role.TEXT or at in titles
        if ends or list_item(text) is not None or _OWN_LINE.match(text):
            return at - 1
    return len(body) - 1


def _with_end(found: Sequence[Block], place: int) -> Block:
    """Return a block with the end of the blocks below it."""
    head = found[place]
    below = found[place + 1 :]
    label = head.kind == Role.TEXT.value and _LABEL.match(head.text) and below and below[0].kind == ITEM
    end = place + 1
    for block in below:
        if head.level:
            inside = not block.level or block.level > head.level
        elif label:
            inside = not block.level and (block.indent > head.indent or block.kind == ITEM)
        else:
            inside = head.kind == ITEM and not block.level and block.indent > head.indent
        if not inside:
            break
        end += 1
    return replace(head, end=end)


def _moved_runs(kept: Sequence[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the runs of moved blocks; `kept` has the old indexes in the new order.

    As few blocks as possible count as moved: all but a longest increasing subsequence.
    """
    stay = _longest_increasing(kept)
    at = 0
    while at < len(kept):
        end = at
        while end < len(kept) and kept[end] not in stay and (end == at or kept[end] == kept[end - 1] + 1):
            end += 1
        if end > at:
            run = tuple(kept[at:end])
            past = [one for one in kept[:at] if one > run[-1]] + [one for one in kept[end:] if one < run[0]]
            yield run, tuple(past)
        at = max(end, at + 1)


def _longest_increasing(numbers: Sequence[int]) -> set[int]:
    """Return the members of a longest increasing subsequence."""
    tails: list[int] = []
    places: list[int] = []
    before: list[int | None] = []
    for place, number in enumerate(numbers):
        at = bisect_left(tails, number)
        before.append(places[at - 1] if at else None)
        tails[at : at + 1] = [number]
        places[at : at + 1] = [place]
    out: set[int] = set()
    place_or_none = places[-1] if places else None
    while place_or_none is not None:
        out.add(numbers[place_or_none])
        place_or_none = before[place_or_none]
    return out
