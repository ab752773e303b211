"""The sections of a SKILL.md as blocks of prose: where an instruction can go, and which blocks are instructions.

`markdown.structure` recognizes headings, list items and code; tables, quotations and HTML are distinguished here, since
nothing is ever put into them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from skilld.errors import SkilldError
from skilld.markdown import structure
from skilld.markdown.skill_file import Line, SkillFile, parse
from skilld.markdown.structure import Role, list_item, roles
from skilld.values import value_class

_NON_PROSE = re.compile(r"\s*(?:\||<|!\[|\[[^\]]+\]:|---+\s*$|\*\*\*+\s*$|___+\s*$|>)")


class BlockKind(StrEnum):
    """The kind of a run of lines."""

    ITEM = "item"
    PARAGRAPH = "paragraph"
    OTHER = "other"  # code, tables, HTML, quotations, rules


@value_class
class ProseBlock:
    """Lines [first, last] of the skill's body (from 0), with their kind and a list item's indentation and marker."""

    kind: BlockKind
    first: int
    last: int
    text: str
    indent: str = ""
    marker: str = ""
    gap: str = " "


@value_class
class Section:
    """A heading and the blocks below it, up to the next heading. Text before the first heading has level 0."""

    heading: str
    level: int
    line: int
    blocks: tuple[ProseBlock, ...]

    @property
    def text(self) -> str:
        """The heading and prose of the section, for comparing words."""
        return "\n".join([self.heading, *(block.text for block in self.blocks if block.kind is not BlockKind.OTHER)])

    def items(self) -> list[ProseBlock]:
        """Return the outermost list items of the section, in order."""
        found = [block for block in self.blocks if block.kind is BlockKind.ITEM]
        least = min((len(block.indent) for block in found), default=0)
        return [block for block in found if len(block.indent) == least]


def body_lines(text: str) -> list[str]:
    """Return the lines of a skill after its front matter; none if it cannot be parsed."""
    return [line.text for line in _body(text)]


def front_matter(text: str) -> str:
    """Return the front matter of a skill; empty if it cannot be parsed."""
    parsed = _try_parse(text)
    return parsed.front if parsed else ""


def sections(text: str) -> list[Section]:
    """Return the sections of a skill's body in order; one without a heading if it has none."""
    body = _body(text)
    kinds = roles(body)
    return [
        Section(part.title, part.level, part.start, tuple(_blocks(body, kinds, part.start, part.own_end)))
        for part in structure.labelled_sections(body)
    ]


def _body(text: str) -> Sequence[Line]:
    parsed = _try_parse(text)
    return parsed.body if parsed else ()


def _try_parse(text: str) -> SkillFile | None:
    try:
        return parse(text.encode("utf-8", "replace"))
    except SkilldError:
        return None


def _blocks(body: Sequence[Line], kinds: Sequence[Role], start: int, end: int) -> Iterator[ProseBlock]:
    at = start
    while at < end:
        last = _last_line(body, kinds, at, end)
        words = " ".join(line.text.strip() for line in body[at : last + 1])
        item = list_item(body[at].text) if kinds[at] is Role.TEXT else None
        if item:
            before = item.indent + item.marker + item.gap + item.box
            words = words[len(item.marker + item.gap + item.box) :]
            yield ProseBlock(
                BlockKind.ITEM, at, last, words, item.indent, item.marker, before[len(item.indent + item.marker) :]
            )
        elif body[at].key:
            other = kinds[at] is not Role.TEXT or _NON_PROSE.match(body[at].text)
            yield ProseBlock(BlockKind.OTHER if other else BlockKind.PARAGRAPH, at, last, words)
        at = last + 1


def _last_line(body: Sequence[Line], kinds: Sequence[Role], first: int, end: int) -> int:
    """Return the last line of the block that begins at `first`, up to a blank line, a list item or another role."""
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
