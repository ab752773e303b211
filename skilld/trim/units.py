"""Splits a file into units that can be cut alone: list items with their content, paragraphs, code, tables.

The text of a file in, units out, with the line numbers of its body. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence

from skilld.classify.offline.sections import BlockKind
from skilld.classify.offline.sections import sections as prose_sections
from skilld.library.passages import whole_blocks
from skilld.markdown import structure
from skilld.markdown.skill_file import Line, SkillFile, parse
from skilld.text import fold_case
from skilld.values import value_class

_MAX_LEAD = 200  # characters of a paragraph that only introduces a list
_SENTENCE = re.compile(r"[.!?][*_)\"']?\s")
_THEMATIC_BREAK = re.compile(r"\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})")


def announces(text: str) -> bool:
    """Whether a text introduces what follows."""
    return text.rstrip("*_ \n").endswith(":")


@value_class
class Unit:
    """Lines [first, last] of a file's body, with their headings and the kind of block that begins there.

    `path` has the headings above it, the outermost first, without the title of the file.
    """

    first: int
    last: int
    heading: str
    path: tuple[str, ...]
    text: str
    kind: BlockKind
    marker: str = ""

    @property
    def lines(self) -> range:
        """Its lines in the body."""
        return range(self.first, self.last + 1)

    @property
    def is_step(self) -> bool:
        """Whether it is numbered, so that later steps depend on it."""
        return self.marker[:1].isdigit()

    @property
    def leads(self) -> bool:
        """Whether it introduces what follows."""
        return self.kind is BlockKind.PARAGRAPH and announces(self.text)

    @property
    def only_leads(self) -> bool:
        """Whether it does nothing but introduce what follows, in one short sentence."""
        return self.leads and len(self.text) <= _MAX_LEAD and not _SENTENCE.search(self.text)

    @property
    def key(self) -> tuple[str, str]:
        """Its identity: the same words under the same headings."""
        return fold_case("\n".join(self.path)), fold_case(self.text)


@value_class
class ParsedFile:
    """A file, split into units and sections."""

    file: SkillFile
    units: tuple[Unit, ...]
    sections: tuple[structure.Section, ...]

    @property
    def body(self) -> Sequence[Line]:
        """Its lines after the front matter."""
        return self.file.body

    def line(self, number: int) -> int:
        """Return the number in the file, from 1, of a line of the body."""
        return number + 1 + self.file.front.count("\n")

    def units_under(self, section: structure.Section) -> list[int]:
        """Return the indexes of the units directly under a heading."""
        return self._unit_range(section.start, section.own_end)

    def units_within(self, section: structure.Section) -> list[int]:
        """Return the indexes of the units under a heading or its subheadings."""
        return self._unit_range(section.start, section.end)

    def _unit_range(self, start: int, end: int) -> list[int]:
        first = bisect_left(self.units, start, key=lambda unit: unit.first)
        return list(range(first, bisect_left(self.units, end, lo=first, key=lambda unit: unit.first)))

    def text_lines(self, first: int, last: int) -> set[int]:
        """Return the numbers in the file of the lines [first, last] of the body that are not blank."""
        return {self.line(number) for number in range(first, last + 1) if self.body[number].key}

    def has_text(self, number: int) -> bool:
        """Whether a line of the body is neither blank nor a thematic break."""
        text = self.body[number].key
        return bool(text) and not _THEMATIC_BREAK.fullmatch(text)

    def with_one_gap(self, first: int, stop: int) -> range:
        """Return the lines [first, stop) of the body with the blank lines that would be one gap too many without them.

        That is the gap below, if there is one above; at the end of the file it is the one above.
        """
        while stop > first and not self.body[stop - 1].key:
            stop -= 1
        while first < stop and not self.body[first].key:
            first += 1
        below = self.with_blanks(first, stop - 1)
        if below.stop < len(self.body):
            return below if not first or not self.body[first - 1].key else range(first, stop)
        while first and not self.body[first - 1].key:
            first -= 1
        return range(first, below.stop)

    def with_blanks(self, first: int, last: int) -> range:
        """Return the lines [first, last] of the body with the blank lines after them."""
        stop = last + 1
        while stop < len(self.body) and not self.body[stop].key:
            stop += 1
        return range(first, stop)


def parse_units(data: bytes) -> ParsedFile:
    """Split a file into units and sections. Raises SkilldError if it cannot be parsed."""
    file = parse(data)
    body = [line.text for line in file.body]
    found = prose_sections(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    top = 1 if sum(section.level == 1 for section in found) == 1 else 0
    units: list[Unit] = []
    path: list[tuple[int, str]] = []
    for section in found:
        path = [one for one in path if one[0] < section.level]
        path += [(section.level, section.heading)] if section.level > top else []
        titles = tuple(title for _, title in path)
        for block, behind in whole_blocks(section.blocks, body):
            text = "\n".join(body[block.first : behind])
            units.append(Unit(block.first, behind - 1, section.heading, titles, text, block.kind, block.marker))
    return ParsedFile(file, tuple(units), tuple(structure.sections(file.body)))


def whole_units(parsed: ParsedFile, chosen: Collection[int], kept: Collection[int] = ()) -> set[int]:
    """Return the chosen units without those whose removal would break the text, plus the leads that go with them.

    A numbered step goes only with its whole list. The followers of a lead that stays go only if some of them stay; a
    lead in `kept`, or one that says more, stays.
    """
    left, before = set(chosen), None
    lists, followed = item_lists(parsed), lead_followers(parsed)
    while left != before:
        before = set(left)
        for run in lists:
            if run - left and any(parsed.units[at].is_step for at in run):
                left -= run
        for at, followers in followed.items():
            if followers - left or not followers:
                left.discard(at)
            elif at not in left and at not in kept and parsed.units[at].only_leads:
                left.add(at)
            elif at not in left:
                left -= followers
    return left


def item_lists(parsed: ParsedFile) -> list[set[int]]:
    """Return the runs of units that form one list."""
    runs: list[set[int]] = []
    for at, unit in enumerate(parsed.units):
        before = parsed.units[at - 1] if at else None
        if unit.kind is not BlockKind.ITEM:
            continue
        goes_on = before and before.kind is BlockKind.ITEM and before.path == unit.path
        if runs and goes_on:
            runs[-1].add(at)
        else:
            runs.append({at})
    return runs


def lead_followers(parsed: ParsedFile) -> Mapping[int, set[int]]:
    """Return the units that introduce others, each with its followers: the list, code or table right below."""
    found: dict[int, set[int]] = {}
    for section in parsed.sections:
        inside = parsed.units_under(section)
        for place, at in enumerate(inside):
            if not parsed.units[at].leads:
                continue
            kind = parsed.units[inside[place + 1]].kind if place + 1 < len(inside) else None
            followers: set[int] = set()
            for other in inside[place + 1 :]:
                if parsed.units[other].kind is not kind or kind is BlockKind.PARAGRAPH:
                    break
                followers.add(other)
            found[at] = followers
    return found


def emptied_sections(parsed: ParsedFile, chosen: Collection[int]) -> list[structure.Section]:
    """Return the sections that would keep only their heading without the chosen units, in the order of the file."""
    found = []
    for section in parsed.sections:
        says = [at for at in parsed.units_within(section) if any(map(parsed.has_text, parsed.units[at].lines))]
        if section.level and says and all(at in chosen for at in says):
            found.append(section)
    return found
