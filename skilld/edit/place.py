"""Find the place for one instruction in a skill, and write it there in the file's own list style.

The skill's bytes, a hint at the section and the instruction go in, one `Operation` comes out. Judges by words alone;
whether the instruction should stand there at all is not asked here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from skilld.edit.anchors import anchored
from skilld.edit.lists import BulletList, lists
from skilld.edit.skill_file import Line, parse
from skilld.edit.spans import blank_code
from skilld.edit.structure import Role, Section, list_item, roles, sections
from skilld.edit.tokens import FILE_ENDING
from skilld.errors import RefusedError, SkilldError
from skilld.text import fold
from skilld.types import Operation

DEFAULT_TITLE = "Preferences"

_WORD = re.compile(r"\w{3,}")
_MENTION = re.compile(r"(?<![\w@`/.])@(?:\.{1,2}/)*[\w-][\w.-]*(?:/[\w.-]+)*/?(?<=[\w/])(?![\w@(`])")
_FENCE = re.compile(r"\s*(?:`{3}|~{3})")
_COMMON_WORDS = (
    "all also always and any are but can each every for from have into its just like make must need never not only "
    "our out should that the them then they this use using want was when with you your"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_HINT_FITS = 0.5  # share of the words of title and hint that both have
_WORDS_FIT = 2  # words that an instruction shares with a section; one of the title counts for two
_TITLE_LENGTH = 80


def insert_bullet(data: bytes, section_hint: str, text: str) -> Operation:
    """Return the operation that adds `text` to the skill as one more item, numbered step or paragraph.

    The section is the one the hint names, else the one that shares most words with the text, else a new one at the
    end, named by the hint. `text` may have several lines; a list marker it starts with is dropped, and a file that it
    mentions with an at sign is put into code, where no client includes it. Raises SkilldError when the skill cannot be
    parsed or has no body or no open end, RefusedError when the text is blank.
    """
    body = parse(data).body
    said = _said(text)
    kinds = roles(body)
    for section in _by_fit(body, section_hint, fold(text)):
        at, lines = _into(body, kinds, section, said)
        if _is_read(body, at, lines):
            return anchored(body, at, at, lines)
    end = next((at + 1 for at in range(len(body) - 1, -1, -1) if body[at].key), 0)
    lines = ["", f"{'#' * _level(body)} {_title(section_hint)}", "", f"{_bullet(body, kinds)} {said[0]}"]
    lines += ["  " + line if line.strip() else "" for line in said[1:]]
    if not end or not _is_read(body, end, lines):
        raise SkilldError("The skill has no place for the instruction", "its body is empty or ends in open code")
    return anchored(body, end, end, lines)


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


def _by_fit(body: Sequence[Line], hint: str, text: str) -> list[Section]:
    """Return the sections that fit, best first: by the hint, and where it names none, by the words of the text."""
    found = [part for part in sections(body) if part.title or any(line.key for line in _own(body, part))]
    wanted = _words(hint)
    named = [(_likeness(wanted, _words(part.title)), part) for part in found]
    fitting = sorted((pair for pair in named if pair[0] >= _HINT_FITS), key=lambda pair: -pair[0])
    if fitting:
        return [part for _, part in fitting]
    if not wanted and len(found) == 1:
        return found
    words = _words(text)
    shared = [(_shared(words, body, part), part) for part in found]
    return [part for score, part in sorted(shared, key=lambda pair: -pair[0]) if score >= _WORDS_FIT]


def _own(body: Sequence[Line], section: Section) -> Sequence[Line]:
    return body[section.start : section.own_end]


def _words(text: str) -> set[str]:
    stems = (re.sub(r"(?:ing|ed|es|s)$", "", word) for word in _WORD.findall(text.casefold()))
    return {stem for stem in stems if stem} - _COMMON


def _likeness(hint: set[str], title: set[str]) -> float:
    return len(hint & title) / len(hint | title) if hint and title else 0.0


def _shared(words: set[str], body: Sequence[Line], section: Section) -> int:
    own = _words(" ".join(line.text for line in _own(body, section)))
    return len(words & own) + 2 * len(words & _words(section.title))


def _into(body: Sequence[Line], kinds: Sequence[Role], section: Section, said: list[str]) -> tuple[int, list[str]]:
    """Return the line before which the instruction goes into the section, and its lines."""
    found = lists(body, kinds, section.start, section.own_end)
    if found:
        words = _words(" ".join(said))
        best = max(reversed(found), key=lambda part: len(words & _list_words(body, part)))
        return best.end, best.next_item(said)
    spoken = [at for at in range(section.start, section.own_end) if body[at].key]
    at = spoken[-1] + 1 if spoken else section.start
    style = [] if spoken else [f"{_bullet(body, kinds)} "]
    lines = ["", "".join(style) + said[0], *(("  " if style and line else "") + line for line in said[1:])]
    return at, [*lines, *([""] if at < len(body) and body[at].key else [])]


def _list_words(body: Sequence[Line], part: BulletList) -> set[str]:
    return _words(" ".join(line.text for line in body[part.start : part.end]))


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
    counts = Counter(part.level for part in sections(body) if part.level > 1)
    return counts.most_common(1)[0][0] if counts else 2


def _title(hint: str) -> str:
    title = fold(hint).strip("# ")
    return title[:_TITLE_LENGTH].rstrip() or DEFAULT_TITLE
