"""Splits a file into units that can be cut alone: list items with their content, paragraphs, code, tables.

The text of a file in, units out, with the line numbers of its body. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skilld.classify.offline.sections import Block, Lines
from skilld.classify.offline.sections import sections as prose_sections
from skilld.markdown import structure
from skilld.markdown.skill_file import Line, SkillFile, parse
from skilld.text import folded

_MAX_LEAD = 200  # characters of a paragraph that only announces a list
_SENTENCE = re.compile(r"[.!?][*_)\"']?\s")
_RULE = re.compile(r"\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})")


def announces(text: str) -> bool:
    """Whether a text leads to what follows."""
    return text.rstrip("*_ \n").endswith(":")


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines [first, last] of a file's body, below which heading they stand, and what sort of block begins there."""

    first: int
    last: int
    heading: str
    text: str
    kind: Block
    marker: str = ""

    @property
    def lines(self) -> range:
        """Its lines of the body."""
        return range(self.first, self.last + 1)

    @property
    def is_step(self) -> bool:
        """Whether it has a number, which those behind it count on."""
        return self.marker[:1].isdigit()

    @property
    def leads(self) -> bool:
        """Whether it announces what follows."""
        return self.kind is Block.PARAGRAPH and announces(self.text)

    @property
    def only_leads(self) -> bool:
        """Whether it says nothing but what follows: one short sentence."""
        return self.leads and len(self.text) <= _MAX_LEAD and not _SENTENCE.search(self.text)

    @property
    def key(self) -> tuple[str, str]:
        """What makes another one the same: the same words below the same heading."""
        return folded(self.heading), folded(self.text)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file taken apart."""

    file: SkillFile
    units: tuple[Unit, ...]
    sections: tuple[structure.Section, ...]

    @property
    def body(self) -> Sequence[Line]:
        """Its lines behind the front matter."""
        return self.file.body

    def line(self, number: int) -> int:
        """Return the number that a line of the body has in the file, from 1."""
        return number + 1 + self.file.front.count("\n")

    def inside(self, section: structure.Section) -> list[int]:
        """Return the numbers of the units that stand below a heading itself."""
        return self._within(section.start, section.own_end)

    def below(self, section: structure.Section) -> list[int]:
        """Return the numbers of the units that stand below a heading or below those that belong to it."""
        return self._within(section.start, section.end)

    def _within(self, start: int, end: int) -> list[int]:
        first = bisect_left(self.units, start, key=lambda unit: unit.first)
        return list(range(first, bisect_left(self.units, end, lo=first, key=lambda unit: unit.first)))

    def told(self, first: int, last: int) -> set[int]:
        """Return those of lines [first, last] of the body that are not blank, by their numbers in the file."""
        return {self.line(number) for number in range(first, last + 1) if self.body[number].key}

    def says(self, number: int) -> bool:
        """Whether a line of the body is more than a blank or a rule across the page."""
        text = self.body[number].key
        return bool(text) and not _RULE.fullmatch(text)

    def with_blanks(self, first: int, last: int) -> range:
        """Return lines of the body, both included, with the blank ones behind them."""
        stop = last + 1
        while stop < len(self.body) and not self.body[stop].key:
            stop += 1
        return range(first, stop)


def sheet(data: bytes) -> Sheet:
    """Take a file apart. Raises SkilldError where it cannot be."""
    file = parse(data)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    body = [line.text for line in file.body]
    units = [unit for section in prose_sections(text) for unit in _units(section.heading, section.blocks, body)]
    return Sheet(file, tuple(units), tuple(structure.sections(file.body)))


def _units(heading: str, blocks: Sequence[Lines], body: Sequence[str]) -> Iterator[Unit]:
    at = 0
    while at < len(blocks):
        first = blocks[at]
        end = at + 1
        if first.kind is Block.ITEM:
            while end < len(blocks) and indent(body[blocks[end].first]) > len(first.indent):
                end += 1
        last = blocks[end - 1].last
        text = "\n".join(body[first.first : last + 1])
        yield Unit(first.first, last, heading, text, first.kind, first.marker)
        at = end


def indent(line: str) -> int:
    """Return how many blanks a line begins with."""
    return len(line) - len(line.lstrip())


def whole(sheet: Sheet, chosen: Collection[int], kept: Collection[int] = ()) -> set[int]:
    """Return the chosen units less those that would leave something lame, with the words that only lead to them.

    A numbered step goes only with its whole list. What follows a lead that stays goes only if some of it stays; a lead
    that is `kept`, or says more, stays.
    """
    left, before = set(chosen), None
    lists, followed = _lists(sheet), leads(sheet)
    while left != before:
        before = set(left)
        for run in lists:
            if run - left and any(sheet.units[at].is_step for at in run):
                left -= run
        for at, followers in followed.items():
            if followers - left or not followers:
                left.discard(at)
            elif at not in left and at not in kept and sheet.units[at].only_leads:
                left.add(at)
            elif at not in left:
                left -= followers
    return left


def _lists(sheet: Sheet) -> list[set[int]]:
    """Return the runs of units that are one list."""
    runs: list[set[int]] = []
    for at, unit in enumerate(sheet.units):
        before = sheet.units[at - 1] if at else None
        if unit.kind is not Block.ITEM:
            continue
        goes_on = before and before.kind is Block.ITEM and before.heading == unit.heading
        if runs and goes_on:
            runs[-1].add(at)
        else:
            runs.append({at})
    return runs


def leads(sheet: Sheet) -> Mapping[int, set[int]]:
    """Return the units that announce others, with those: the list, code or table right below."""
    found: dict[int, set[int]] = {}
    for section in sheet.sections:
        inside = sheet.inside(section)
        for place, at in enumerate(inside):
            if not sheet.units[at].leads:
                continue
            kind = sheet.units[inside[place + 1]].kind if place + 1 < len(inside) else None
            followers: set[int] = set()
            for other in inside[place + 1 :]:
                if sheet.units[other].kind is not kind or kind is Block.PARAGRAPH:
                    break
                followers.add(other)
            found[at] = followers
    return found


def head(sheet: Sheet, section: structure.Section) -> range:
    """Return the lines of a section's heading: two where it is underlined."""
    is_one = sheet.body[section.start - 1].text.lstrip().startswith("#")
    return range(section.start - (1 if is_one else 2), section.start)


def closed(sheet: Sheet, chosen: Collection[int]) -> list[structure.Section]:
    """Return the sections of which the chosen units leave nothing but the heading, in the order of the file."""
    found = []
    for section in sheet.sections:
        says = [at for at in sheet.below(section) if any(map(sheet.says, sheet.units[at].lines))]
        if section.level and says and all(at in chosen for at in says):
            found.append(section)
    return found
