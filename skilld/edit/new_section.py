"""Writes a new section in the style of a file's other sections, and finds where its text ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from skilld.markdown.skill_file import Line
from skilld.markdown.structure import (
    DEFAULT_TITLE,
    Role,
    Section,
    is_default_title,
    labelled_sections,
    list_item,
    managed_blocks,
    sections,
)
from skilld.text import fold

_MAX_TITLE = 80
RULER = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_LINK_DEFINITION = re.compile(r" {0,3}\[[^\]]+\]:\s")
_SIGNATURE = re.compile(
    r"\s*(?:[*_<©]|(?:last )?(?:updated|modified|reviewed|maintained|version|author|generated|license)\b)",
    re.IGNORECASE,
)
_MAX_SIGNATURE = 2  # lines of a footer
_MIN_RULERS = 2  # lines between sections, from which on a new section gets one too
_NUMBERED_TITLE = re.compile(r"^(\d+)([.)])\s+(?=\S)")
_MIN_CAPITALS = 4  # in a heading: fewer are a name ("API")
_POINTER = re.compile(r"\s*[-*+]\s+(?:\[[^\]]*\]\(|<?https?:|`)")  # an item that names a page, file or command


def new_section(body: Sequence[Line], kinds: Sequence[Role], hint: str, said: Sequence[str]) -> tuple[int, list[str]]:
    """Return the line of the file at which a new section begins, and its lines: a heading and a list of one item."""
    found, level = labelled_sections(body), main_level(body)
    main = [part for part in found if part.level == level]
    at = text_end(body, kinds, 0, len(body))
    rulers = sum(_is_ruled(body, part) for part in main)
    lines = ["", "---"] if rulers >= _MIN_RULERS and 2 * rulers >= len(main) else []
    lines += ["", *_heading(body, main, level, _section_title(hint))]
    headed = [part for part in found if part.level and part.start < part.own_end]
    tight = 2 * sum(bool(body[part.start].key) for part in headed) > len(headed)
    item = [f"{usual_bullet(body, kinds)} {said[0]}", *("  " + line if line.strip() else "" for line in said[1:])]
    return at, [*lines, *([] if tight else [""]), *item, *([""] if at < len(body) and body[at].key else [])]


def _is_ruled(body: Sequence[Line], part: Section) -> bool:
    """Whether a horizontal line stands above a section."""
    above = next((body[at].text for at in range(part.head - 1, -1, -1) if body[at].key), "")
    return bool(RULER.fullmatch(above))


def _heading(body: Sequence[Line], main: Sequence[Section], level: int, title: str) -> list[str]:
    """Return the lines of a heading that looks like those of the sections `main`."""
    numbers = [_NUMBERED_TITLE.match(part.title) for part in main]
    last = next((part for part in reversed(main or labelled_sections(body)) if part.level), None)
    like = body[last.head].text.strip() if last else "#"
    is_label = last is not None and not like.startswith("#") and last.start - last.head == 1
    names = [_NUMBERED_TITLE.sub("", part.title) for part in main]
    capitals = main and all(name.isupper() for name in names)
    if capitals and (is_label or any(len(name) >= _MIN_CAPITALS for name in names)):
        title = title.upper()
    if len(numbers) > 1 and numbers[-1] and all(numbers) and is_default_title(title):
        title = f"{int(numbers[-1][1]) + 1}{numbers[-1][2]} {title}"
    if last is None or like.startswith("#"):
        return [f"{'#' * level} {title}"]
    if last.start - last.head > 1:
        return [title, ("=" if level == 1 else "-") * max(len(title), 3)]
    if like[:2] in {"**", "__"}:
        return [f"{like[:2]}{title}{like[-3:] if like.endswith(':') else like[-2:]}"]
    return [title + ":" * like.endswith(":")]


def text_end(body: Sequence[Line], kinds: Sequence[Role], start: int, end: int) -> int:
    """Return the line after the last text between two lines, not counting what closes a section or a file.

    That is a horizontal line, a comment, definitions of links, a block that a program writes, or a signature. If there
    is nothing else, it is the line after the last one that is not blank.
    """
    blocks = {block.stop: block.start for block in managed_blocks(body)}
    at = _signature_start(body, start) if end == len(body) else end
    while at > start:
        line = body[at - 1]
        if at in blocks and blocks[at] >= start:
            at = blocks[at]
        elif line.key and not _is_closing(line.text, kinds[at - 1]):
            return at
        else:
            at -= 1
    return next((at for at in range(end, start, -1) if body[at - 1].key), start)


def _is_closing(text: str, kind: Role) -> bool:
    """Whether a line says nothing in its section: a horizontal line, a comment, the definition of a link."""
    return kind is Role.COMMENT or bool(RULER.fullmatch(text) or (kind is Role.TEXT and _LINK_DEFINITION.match(text)))


def _signature_start(body: Sequence[Line], start: int) -> int:
    """Return the line after the text above a file's last few lines if these only sign it, below a horizontal line."""
    spoken = [at for at in range(start, len(body)) if body[at].key]
    for count in range(1, _MAX_SIGNATURE + 1):
        above = spoken[-count - 1 : len(spoken) - count]
        if above and RULER.fullmatch(body[above[0]].text) and _SIGNATURE.match(body[spoken[-count]].text):
            return above[0]
    return len(body)


def usual_bullet(body: Sequence[Line], kinds: Sequence[Role]) -> str:
    """Return the bullet that the file uses most, a hyphen if it has none."""
    counts = _count_bullets(body, kinds)
    return counts.most_common(1)[0][0] if counts else "-"


def writes_bullets(body: Sequence[Line], kinds: Sequence[Role]) -> bool:
    """Whether a file has a bulleted list of more than names of pages, files or commands."""
    pointers = sum(bool(_POINTER.match(line.text)) for line in body)
    return sum(_count_bullets(body, kinds).values()) - pointers > 1


def _count_bullets(body: Sequence[Line], kinds: Sequence[Role]) -> Counter[str]:
    items = [list_item(line.text) for line, kind in zip(body, kinds, strict=True) if kind is Role.TEXT]
    return Counter(item.marker for item in items if item is not None and item.marker in "-*+")


def main_level(body: Sequence[Line]) -> int:
    """Return the level of the file's main sections; a single first-level heading is its title."""
    levels = [part.level for part in sections(body) if part.level]
    return 1 if levels.count(1) > 1 else min((level for level in levels if level > 1), default=2)


def _section_title(hint: str) -> str:
    title = fold(hint).strip("# ")
    return title[:_MAX_TITLE].rstrip() or DEFAULT_TITLE
