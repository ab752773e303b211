"""A SKILL.md as sections of blocks: where an instruction can stand.

The text of a skill in, sections out. Front matter, code and tables are kept apart: nothing is ever put into them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(
    r"^(?P<indent>[ \t]*)(?P<marker>[-*+•]|\d{1,3}[.)])(?P<gap>[ \t]+(?:\[[ xX]\][ \t]+)?)(?P<text>\S.*)$"
)
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)")
_OTHER = re.compile(r"^\s*(?:\||<|!\[|\[[^\]]+\]:|---+\s*$|\*\*\*+\s*$|___+\s*$|>)")


class Block(StrEnum):
    """What a run of lines is."""

    ITEM = "item"
    PARAGRAPH = "paragraph"
    OTHER = "other"  # code, tables, HTML, quotations, rules


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines [first, last] of the skill (from 0), with their kind and, for a list item, its marker."""

    kind: Block
    first: int
    last: int
    text: str
    indent: str = ""
    marker: str = ""
    gap: str = " "


@dataclass(slots=True)
class Section:
    """A heading and the blocks below it, up to the next heading of any level. The first has no heading, level 0."""

    heading: str
    level: int
    line: int
    blocks: list[Lines] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Heading and prose of the section, for comparing words."""
        return "\n".join([self.heading, *(block.text for block in self.blocks if block.kind is not Block.OTHER)])

    def items(self) -> list[Lines]:
        """Return the top list items of the section, in order."""
        found = [block for block in self.blocks if block.kind is Block.ITEM]
        least = min((len(block.indent) for block in found), default=0)
        return [block for block in found if len(block.indent) == least]


def lines_of(text: str) -> list[str]:
    """Return the lines of `text` as operations are anchored on them: cut at newlines only, without carriage returns."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def body_start(lines: list[str]) -> int:
    """Return the index of the first line behind the front matter."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for i, line in enumerate(lines[1:], 1):
        if line.rstrip() in {"---", "..."}:
            return i + 1
    return len(lines)


def sections(text: str) -> list[Section]:
    """Return the sections of a skill's body in order."""
    lines = lines_of(text)
    out = [Section("", 0, -1)]
    for block in _blocks(lines, body_start(lines)):
        heading = _HEADING.match(lines[block.first]) if block.kind is Block.PARAGRAPH else None
        if heading:
            out.append(Section(heading[2], len(heading[1]), block.first))
        else:
            out[-1].blocks.append(block)
    return out


def _blocks(lines: list[str], start: int) -> Iterator[Lines]:
    i = start
    while i < len(lines):
        line = lines[i]
        fence = _FENCE.match(line)
        if fence:
            last = next((j for j in range(i + 1, len(lines)) if lines[j].lstrip().startswith(fence[1])), len(lines) - 1)
            yield _lines(Block.OTHER, lines, i, last)
        elif not line.strip():
            last = i
        elif _HEADING.match(line):
            last = i
            yield Lines(Block.PARAGRAPH, i, i, line)
        elif item := _ITEM.match(line):
            last = _continued(lines, i, len(item["indent"]))
            words = " ".join([item["text"], *(more.strip() for more in lines[i + 1 : last + 1])])
            yield Lines(Block.ITEM, i, last, words, item["indent"], item["marker"], item["gap"])
        else:
            kind = Block.OTHER if _OTHER.match(line) else Block.PARAGRAPH
            last = _continued(lines, i, -1)
            yield _lines(kind, lines, i, last)
        i = last + 1


def _continued(lines: list[str], first: int, indent: int) -> int:
    last = first
    for j in range(first + 1, len(lines)):
        line = lines[j]
        if not line.strip() or _HEADING.match(line) or _ITEM.match(line) or _FENCE.match(line):
            break
        if indent >= 0 and len(line) - len(line.lstrip()) <= indent:
            break
        last = j
    return last


def _lines(kind: Block, lines: list[str], first: int, last: int) -> Lines:
    return Lines(kind, first, last, " ".join(line.strip() for line in lines[first : last + 1]))
