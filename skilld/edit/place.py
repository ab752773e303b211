"""Find the place for one instruction in a skill, and write it there in the file's own list style.

The skill's bytes, a hint at the section and the instruction go in, one `Operation` comes out. Judges by words alone;
whether the instruction should stand there at all is not asked here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from skilld.edit.anchors import anchored
from skilld.edit.fit import by_fit
from skilld.edit.lists import BulletList, lists
from skilld.edit.tokens import FILE_ENDING
from skilld.errors import RefusedError, SkilldError
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.spans import blank_code
from skilld.markdown.structure import Role, Section, list_item, roles, sections
from skilld.text import ended_like, fold
from skilld.types import Operation
from skilld.words import stems

DEFAULT_TITLE = "Preferences"

_MENTION = re.compile(r"(?<![\w@`/.])@(?:\.{1,2}/)*[\w-][\w.-]*(?:/[\w.-]+)*/?(?<=[\w/])(?![\w@(`])")
_FENCE = re.compile(r"\s*(?:`{3}|~{3})")
_TITLE_LENGTH = 80


def insert_bullet(data: bytes, section_hint: str, text: str) -> Operation:
    """Return the operation that adds `text` to the skill as one more item, numbered step or paragraph.

    The section is the one the hint names, else the one that shares most words with the text, else a new one at the
    end, named by the hint; where the end is open code, any section will do. `text` may have several lines; a list
    marker it starts with is dropped, and a file that it mentions with an at sign is put into code, where no client
    includes it. Raises SkilldError when the skill cannot be parsed or has no place at all, RefusedError when the text
    is blank.
    """
    body = parse(data).body
    said = _said(text)
    kinds = roles(body)
    fitting, others = by_fit(body, section_hint, fold(text))
    places = [_into(body, kinds, section, said) for section in fitting]
    places.append(_new_section(body, kinds, section_hint, said))
    for at, lines in (*places, *(_into(body, kinds, section, said) for section in others)):
        if at and _is_read(body, at, lines):
            return anchored(body, at, at, lines)
    raise SkilldError("The skill has no place for the instruction", "its body is empty or all code")


def _new_section(body: Sequence[Line], kinds: Sequence[Role], hint: str, said: list[str]) -> tuple[int, list[str]]:
    """Return the line behind the last one that says anything, and the lines of a section to put there."""
    end = next((at + 1 for at in range(len(body) - 1, -1, -1) if body[at].key), 0)
    lines = ["", f"{'#' * _level(body)} {_title(hint)}", "", f"{_bullet(body, kinds)} {said[0]}"]
    return end, [*lines, *("  " + line if line.strip() else "" for line in said[1:])]


def _said(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    item = list_item(lines[0])
    if item is not None:
        lines[0] = lines[0][len(item.indent + item.marker + item.gap + item.box) :]
    if not lines[0].strip():
        raise RefusedError("The edit was not made", "the instruction is blank")
    quoted = [_quoted(line) for line in lines] if not any(_FENCE.match(line) for line in lines) else lines
    return [quoted[0].strip(), *(line.rstrip() for line in quoted[1:])]


def _quoted(line: str) -> str:
    """Put mentions of files below the project (`@docs/style.md`) into code spans."""
    for match in reversed(list(_MENTION.finditer(blank_code(line)))):
        if "/" in match[0] or FILE_ENDING.search(match[0]):
            line = f"{line[: match.start()]}`{match[0]}`{line[match.end() :]}"
    return line


def _into(body: Sequence[Line], kinds: Sequence[Role], section: Section, said: list[str]) -> tuple[int, list[str]]:
    """Return the line before which the instruction goes into the section, and its lines."""
    found = lists(body, kinds, section.start, section.own_end)
    if found:
        words = stems(" ".join(said))
        best = max(reversed(found), key=lambda part: len(words & _list_words(body, part)))
        if len(said) == 1:
            said = [ended_like(said[0], _ends(body, best))]
        return best.end, best.next_item(said)
    spoken = [at for at in range(section.start, section.own_end) if body[at].key]
    at = spoken[-1] + 1 if spoken else section.start
    style = [] if spoken else [f"{_bullet(body, kinds)} "]
    lines = ["", "".join(style) + said[0], *(("  " if style and line else "") + line for line in said[1:])]
    return at, [*lines, *([""] if at < len(body) and body[at].key else [])]


def _ends(body: Sequence[Line], part: BulletList) -> list[str]:
    """Return the last line of each item of a list, those of sublists included."""
    said = [line.text for line in body[part.start : part.end] if line.key]
    return [line for line, below in zip(said, [*said[1:], said[0]], strict=True) if list_item(below) is not None]


def _list_words(body: Sequence[Line], part: BulletList) -> frozenset[str]:
    return stems(" ".join(line.text for line in body[part.start : part.end]))


def _is_read(body: Sequence[Line], at: int, lines: list[str]) -> bool:
    """Whether the first new line that says something would be plain text there, not part of code or a comment."""
    first = next(i for i, line in enumerate(lines) if line.strip())
    new = [*body[:at], *(Line(line, "\n") for line in lines), *body[at:]]
    return roles(new)[at + first] is Role.TEXT


def _bullet(body: Sequence[Line], kinds: Sequence[Role]) -> str:
    """Return the bullet that the file uses most, a hyphen where it has none."""
    items = [list_item(line.text) for line, kind in zip(body, kinds, strict=True) if kind is Role.TEXT]
    counts = Counter(item.marker for item in items if item is not None and item.marker in "-*+")
    return counts.most_common(1)[0][0] if counts else "-"


def _level(body: Sequence[Line]) -> int:
    """Return the level of the file's main sections; a single first-level heading is its title."""
    levels = [part.level for part in sections(body) if part.level]
    return 1 if levels.count(1) > 1 else min((level for level in levels if level > 1), default=2)


def _title(hint: str) -> str:
    title = fold(hint).strip("# ")
    return title[:_TITLE_LENGTH].rstrip() or DEFAULT_TITLE
