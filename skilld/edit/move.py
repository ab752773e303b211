"""Moves what an edit adds into another section of the file, as the person chooses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skilld.edit.insertion_point import insert_bullet
from skilld.edit.new_section import RULER
from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import is_default_title, labelled_sections, list_item
from skilld.text import compare_lines

_TITLE = "It was not moved"


def section_titles(text: str) -> list[str]:
    """Return the headings of a file below which something can be put: those that occur once."""
    titles = [part.title for part in labelled_sections(parse(text.encode()).body) if part.level and part.title]
    return [title for title in titles if Counter(titles)[title] == 1]


def move_to_section(before: str, after: str, title: str) -> str:
    """Return `before` with what `after` adds to it at the end of a section, as its own headings are left out.

    Raises SkilldError if the edit changes or removes lines, adds nothing, or has no place there.
    """
    if title not in section_titles(before):
        raise SkilldError(_TITLE, "the file has no such section, or several")
    old, new = parse(before.encode()).body, parse(after.encode()).body
    added: list[str] = []
    for piece in compare_lines([line.key for line in old], [line.key for line in new]):
        if piece.equal:
            continue
        if any(line.key for line in old[piece.old_start : piece.old_end]):
            raise SkilldError(_TITLE, "it changes or removes lines, which have a place of their own")
        added += ["", *(line.text for line in new[piece.new_start : piece.new_end])]
    data = before.encode()
    items = _split_items(added)
    if not items:
        raise SkilldError(_TITLE, "it adds nothing")
    for item in items:
        data = apply(data, [insert_bullet(data, title, item)], limited=False)
    part = next((part for part in labelled_sections(parse(data).body) if part.title == title), None)
    placed = parse(data).body[part.start : part.end] if part else ()
    if not all(any(line.text.strip().endswith(item.split("\n")[0].strip(" -*+")) for line in placed) for item in items):
        raise SkilldError(_TITLE, "that section has no place for it")
    return data.decode()


def _split_items(added: Sequence[str]) -> list[str]:
    """Return the added items and paragraphs, without headings and horizontal lines."""
    body = [Line(text, "\n") for text in added]
    heads = {at for part in labelled_sections(body) if part.level for at in range(part.head, part.start)}
    items: list[list[str]] = []
    open_item, margin = False, 0
    for at, text in enumerate(added):
        if at in heads or RULER.fullmatch(text) or is_default_title(text):
            open_item = False
        elif not text.strip():
            open_item = open_item and at + 1 < len(added) and added[at + 1][:1].isspace()
        elif open_item and (list_item(text) is None or text[:1].isspace()):
            items[-1].append(text[min(margin, len(text) - len(text.lstrip())) :])
        else:
            items.append([text])
            item = list_item(text)
            open_item, margin = True, item.width if item else 0
    return ["\n".join(item) for item in items]
