"""The making of a whole SKILL.md: its text in, its bytes out. Pure.

A file that is not there has the bytes b"". Only code forms the operation that asks for this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilld.errors import RefusedError, SkilldError
from skilld.markdown.skill_file import Line, split_lines
from skilld.skills.spec import faults, front
from skilld.skills.write import quoted
from skilld.text import safe_text
from skilld.types import Op, Operation


def created(data: bytes, text: str, *, skill: bool = True) -> bytes:
    """Return the bytes of a new file; where `data` is the same text, that.

    Raises SkilldError where there is another one by now, RefusedError where the text of a skill is none by the
    specification (its name is not compared with any folder's here).
    """
    what = "skill" if skill else "file"
    try:
        new = text.encode("utf-8")
    except UnicodeEncodeError:
        raise RefusedError(f"The {what} was not made", "it holds a character that no file can hold") from None
    if data and data == new:
        return data
    if data:
        raise SkilldError(f"The {what} was not made", f"there is a {what} of that name by now")
    wrong = faults(text, front(text).name) if skill else ()
    if wrong:
        raise RefusedError("The skill was not made", "; ".join(wrong))
    return new


# Marks of skilld's own in a skill's front matter: `metadata.skilld-*`, one key at a time.
#
# Front matter in, front matter out; every other byte of it stays. Only code forms the operation that asks for this.
# The linter takes no change of a front matter: what an edit does besides is judged against the marked file.

_KEY = re.compile(r"skilld-[a-z0-9]+(?:-[a-z0-9]+)*")
_MAX_VALUE = 4096  # characters of a value
_ANY = re.compile(r"metadata[ \t]*:")
_METADATA = re.compile(r"metadata[ \t]*:[ \t]*(?:#.*)?")
_INDENT = "  "


def marked(matter: str, operation: Operation, ending: str) -> str:
    """Return front matter, fences included, with the key `operation.anchor` set to its text, or gone if that is empty.

    New lines end with `ending`. Raises RefusedError for a key that is not skilld's or a value that is too long,
    SkilldError where the front matter has no place for it.
    """
    key, value = operation.anchor, operation.text
    if not _KEY.fullmatch(key) or len(value) > _MAX_VALUE:
        raise RefusedError("The skill was not marked", "only short values of keys of skilld's own are set")
    lines = split_lines(matter)
    if not lines:
        raise SkilldError("The skill was not marked", "it has no front matter")
    start = next((at for at, line in enumerate(lines) if _ANY.match(line.text)), None)
    if start is not None and not _METADATA.fullmatch(lines[start].text):
        raise _unchangeable()
    if start is None:
        start = len(lines) - 1
        lines[start:start] = [Line("metadata:", ending)] if value else []
    end = _block_end(lines, start + 1)
    indent = next((_indent(line.text) for line in lines[start + 1 : end] if _says(line)), _INDENT)
    at, stop = _entry(lines, start + 1, end, indent + key)
    lines[at:stop] = [Line(f"{indent}{key}: {quoted(value)}", ending)] if value else []
    if not value and at < stop and (at, stop) == (start + 1, end):
        del lines[start]  # the key was the only one
    new = "".join(line.text + line.ending for line in lines)
    wanted = front(matter).metadata | {key: safe_text(value, newlines=True)}
    if front(new).metadata != {name: text for name, text in wanted.items() if name != key or value}:
        raise _unchangeable()
    return new


def marks_between(before: str, after: str) -> list[Operation]:
    """Return the marks that lead from one text of a skill to the other, as far as its front matter tells."""
    old, new = front(before).metadata, front(after).metadata
    keys = [key for key in dict.fromkeys((*old, *new)) if _KEY.fullmatch(key) and old.get(key) != new.get(key)]
    return [Operation(Op.MARK, key, new.get(key, "")) for key in keys]


def _unchangeable() -> SkilldError:
    return SkilldError("The skill was not marked", "its metadata is written in a way that is not changed")


def _block_end(lines: Sequence[Line], start: int) -> int:
    """Return the line behind the last one of the block at `start` that says anything."""
    end = start
    for at in range(start, len(lines)):
        if lines[at].text[:1] not in {" ", "\t"} and _says(lines[at]):
            break
        if _says(lines[at]):
            end = at + 1
    return end


def _entry(lines: Sequence[Line], start: int, end: int, key: str) -> tuple[int, int]:
    """Return where a key and what belongs to it stand, or the empty place where it would."""
    at = next((at for at in range(start, end) if re.match(re.escape(key) + r"[ \t]*:(?:\s|$)", lines[at].text)), end)
    depth = len(key) - len(key.lstrip())
    stop = at + 1
    while stop < end and (len(_indent(lines[stop].text)) > depth or not _says(lines[stop])):
        stop += 1
    return at, min(stop, end)


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" \t"))]


def _says(line: Line) -> bool:
    return bool(line.text.strip(" \t"))
