"""The sections of a SKILL.md as blocks of prose: where an instruction can go, and which blocks are instructions.

The text of a skill in, sections out. What is a heading, a list item or code is `markdown.structure`'s word; tables,
quotations and HTML are kept apart here, as nothing is ever put into them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from skilld.errors import SkilldError
from skilld.markdown import structure
from skilld.markdown.skill_file import Line, SkillFile, parse
from skilld.markdown.structure import Role, list_item, roles

_OTHER = re.compile(r"\s*(?:\||<|!\[|\[[^\]]+\]:|---+\s*$|\*\*\*+\s*$|___+\s*$|>)")


class Block(StrEnum):
    """What a run of lines is."""

    ITEM = "item"
    PARAGRAPH = "paragraph"
    OTHER = "other"  # code, tables, HTML, quotations, rules


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines [first, last] of the skill's body (from 0), with their kind and, for a list item, what stands before it."""

    kind: Block
    first: int
    last: int
    text: str
    indent: str = ""
    marker: str = ""
    gap: str = " "


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the blocks below it, up to the next heading of any level. The first has no heading, level 0."""

    heading: str
    level: int
    line: int
    blocks: tuple[Lines, ...]

    @property
    def text(self) -> str:
        """Heading and prose of the section, for comparing words."""
        return "\n".join([self.heading, *(block.text for block in self.blocks if block.kind is not Block.OTHER)])

    def items(self) -> list[Lines]:
        """Return the top list items of the section, in order."""
        found = [block for block in self.blocks if block.kind is Block.ITEM]
        least = min((len(block.indent) for block in found), default=0)
        return [block for block in found if len(block.indent) == least]


def body_of(text: str) -> list[str]:
    """Return the lines of a skill behind its front matter; none if it cannot be taken apart."""
    return [line.text for line in _body(text)]


def front_of(text: str) -> str:
    """Return the front matter of a skill, which says what it is for; none if it cannot be taken apart."""
    parsed = _parsed(text)
    return parsed.front if parsed else ""


def sections(text: str) -> list[Section]:
    """Return the sections of a skill's body in order; one without a heading where it has none."""
    body = _body(text)
    kinds = roles(body)
    return [
        Section(part.title, part.level, part.start, tuple(_blocks(body, kinds, part.start, part.own_end)))
        for part in structure.sections(body)
    ]


def _body(text: str) -> Sequence[Line]:
    parsed = _parsed(text)
    return parsed.body if parsed else ()


def _parsed(text: str) -> SkillFile | None:
    try:
        return parse(text.encode("utf-8", "replace"))
    except SkilldError:
        return None


def _blocks(body: Sequence[Line], kinds: Sequence[Role], start: int, end: int) -> Iterator[Lines]:
    at = start
    while at < end:
        last = _last(body, kinds, at, end)
        words = " ".join(line.text.strip() for line in body[at : last + 1])
        item = list_item(body[at].text) if kinds[at] is Role.TEXT else None
        if item:
            before = item.indent + item.marker + item.gap + item.box
            words = words[len(item.marker + item.gap + item.box) :]
            yield Lines(Block.ITEM, at, last, words, item.indent, item.marker, before[len(item.indent + item.marker) :])
        elif body[at].key:
            other = kinds[at] is not Role.TEXT or _OTHER.match(body[at].text)
            yield Lines(Block.OTHER if other else Block.PARAGRAPH, at, last, words)
        at = last + 1


def _last(body: Sequence[Line], kinds: Sequence[Role], first: int, end: int) -> int:
    """Return the last line of the block that begins at `first`: to a blank line, a list item or another role."""
    if kinds[first] is not Role.TEXT:
        return next((at - 1 for at in range(first + 1, end) if kinds[at] is Role.TEXT), end - 1)
    if not body[first].key:
        return first
    item = list_item(body[first].text)
    for at in range(first + 1, end):
        text = body[at].text
        ends = not body[at].key or kinds[at] is not Role.TEXT or list_item(text) is not None
        if ends or (item and len(text) - len(text.lstrip()) <= len(item.indent)):
            return at - 1
    return end - 1
