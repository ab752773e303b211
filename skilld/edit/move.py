"""Moves what an edit adds into another section of the file, as the person chooses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skilld.edit.insertion_point import insert_bullet, split_items
from skilld.edit.new_section import RULER
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import is_default_title, labelled_sections
from skilld.text import compare_lines

_TITLE = "It was not moved"


def section_titles(text: str) -> list[str]:
    """Return the headings of a file below which something can be put: those that occur once."""
    titles = [part.title for part in labelled_sections(parse(text.encode()).body) if part.level and part.title]
    return [title for title, times in Counter(titles).items() if times == 1]


def move_to_section(before: str, after: str, title: str) -> str:
    """Return `before` with what `after` adds to it at the end of a section, as its own headings are left out.

    Raises SkilldError if the edit changes or removes lines, adds nothing, or has no place there.
    """
    if title not in section_titles(before):
        raise SkilldError(_TITLE, "the file has no section with that heading, or several")
    old, new = parse(before.encode()).body, parse(after.encode()).body
    added: list[str] = []
    for piece in compare_lines([line.key for line in old], [line.key for line in new]):
        if piece.equal:
            continue
        if any(line.key for line in old[piece.old_start : piece.old_end]):
            raise SkilldError(_TITLE, "it changes or removes lines, and those cannot be moved")
        added += ["", *(line.text for line in new[piece.new_start : piece.new_end])]
    data = before.encode()
    items = split_items(_without_headings(added))
    if not items:
        raise SkilldError(_TITLE, "it adds nothing")
    for item in items:
        data = apply(data, [insert_bullet(data, title, item)], limited=False)
    if not _changes_only(title, old, parse(data).body):
        raise SkilldError(_TITLE, "it cannot be placed in that section")
    return data.decode()


def _without_headings(added: Sequence[str]) -> list[str]:
    """Return added lines with blank ones for headings and horizontal lines."""
    parts = labelled_sections([Line(text, "\n") for text in added])
    heads = {at for part in parts if part.level for at in range(part.head, part.start)}
    return [
        "" if at in heads or RULER.fullmatch(text) or is_default_title(text) else text for at, text in enumerate(added)
    ]


def _changes_only(title: str, old: Sequence[Line], new: Sequence[Line]) -> bool:
    """Whether two versions of a file are alike before and after the section with that title."""
    around = [
        (body[: part.start], body[part.end :])
        for body in (old, new)
        for part in labelled_sections(body)
        if part.title == title
    ]
    return len(around) == 2 and around[0] == around[1]  # noqa: PLR2004 - once in each
