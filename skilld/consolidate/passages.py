"""What a skill says, as passages that can stand in another one: list items, sentences of prose, code and tables.

The text of a SKILL.md in, passages out, each with the title of its section. Front matter, headings and comments are no
passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skilld.classify.offline.sections import Block, Lines, body_of, sections
from skilld.text import fold

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+(?=\W*[A-ZÀ-ÞА-Я\d`])")
_NO_WORDS = re.compile(r"[\W_]*")


@dataclass(frozen=True, slots=True)
class Passage:
    """`lines` as they stand, less the indentation and marker of the first; `whole` keeps them together as a block.

    `text` is what is compared: the words on one line.
    """

    section: str
    lines: tuple[str, ...]
    whole: bool = False

    @property
    def text(self) -> str:
        """The words of the passage on one line."""
        return fold(" ".join(self.lines))


def passages(text: str) -> list[Passage]:
    """Return the passages of a SKILL.md in order; none where it cannot be taken apart."""
    body = body_of(text)
    return [passage for section in sections(text) for passage in _of_section(section.heading, section.blocks, body)]


def _of_section(title: str, blocks: Sequence[Lines], body: Sequence[str]) -> Iterator[Passage]:
    at = 0
    while at < len(blocks):
        block = blocks[at]
        if block.kind is Block.ITEM:
            at, lines = _item(blocks, at, body)
            yield Passage(title, lines)
            continue
        at += 1
        lines = tuple(body[block.first : block.last + 1])
        if block.kind is Block.PARAGRAPH:
            yield from (Passage(title, (part,)) for part in _SENTENCE.split(fold(block.text)))
        elif block.kind is Block.OTHER and not _NO_WORDS.fullmatch(block.text) and "<!--" not in block.text:
            yield Passage(title, lines, whole=True)


def _item(blocks: Sequence[Lines], at: int, body: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """Return the number of the block behind a list item and what belongs to it, and its lines."""
    item = blocks[at]
    width = len(item.indent) + len(item.marker) + 1
    behind = at + 1
    while behind < len(blocks) and _indent(body[blocks[behind].first]) >= width:
        behind += 1
    lines = body[item.first : blocks[behind - 1].last + 1]
    first = lines[0][len(item.indent + item.marker + item.gap) :].strip()
    depth = min((_indent(line) for line in lines[1:] if line.strip()), default=0)
    return behind, (first, *(line[depth:].rstrip() for line in lines[1:]))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
