"""Applies bounded operations to a SKILL.md: bytes and operations in, bytes out.

Each operation is anchored on whole lines of the body that stand there once; trailing blanks and line endings do not
count in the comparison, everything else does. Only a file that says nothing takes an insertion without an anchor,
at its start. Front matter and byte order mark stay byte for byte, so does every line
that an operation does not add or remove, and a file without a final newline stays without. An added line takes the
ending of the line it follows, or of the line whose place it takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from skilld.errors import RefusedError, SkilldError
from skilld.markdown.skill_file import Line, SkillFile, is_blank, join_lines, parse, split_lines
from skilld.markdown.structure import Role, roles
from skilld.skills.spec import faults, front
from skilld.skills.write import quoted
from skilld.text import safe_text
from skilld.types import Op, Operation

# The making of a whole SKILL.md. Only code forms the operation that asks for this.


def created(data: bytes, text: str, *, skill: bool = True) -> bytes:
    """Return the bytes of a new file; where `data` is the same text, that.

    Raises SkilldError if there is another one by now, RefusedError if the text of a skill is none by the
    specification (its name is not compared with any folder's here).
    """
    what = "skill" if skill else "file"
    try:
        new = text.encode("utf-8")
    except UnicodeEncodeError:
        raise RefusedError(
            f"The {what} was not created", "it contains a character that cannot be written to a file"
        ) from None
    if data and data == new:
        return data
    if data:
        raise SkilldError(f"The {what} was not created", f"a {what} with that name now exists")
    wrong = faults(text, front(text).name) if skill else ()
    if wrong:
        raise RefusedError("The skill was not created", "; ".join(wrong))
    return new


# Marks of skilld's own in a skill's front matter: `metadata.skilld-*`, one key at a time. Every other byte of it stays.
# Only code forms the operation that asks for this. The linter takes no change of a front matter: what an edit does
# besides is judged against the marked file.

_KEY = re.compile(r"skilld-[a-z0-9]+(?:-[a-z0-9]+)*")
_MAX_VALUE = 4096  # characters of a value
_ANY = re.compile(r"metadata[ \t]*:")
_METADATA = re.compile(r"metadata[ \t]*:[ \t]*(?:#.*)?")
_INDENT = "  "


def marked(matter: str, operation: Operation, ending: str) -> str:
    """Return front matter, fences included, with the key `operation.anchor` set to its text, or gone if that is empty.

    New lines end with `ending`. Raises RefusedError for a key that is not skilld's or a value that is too long,
    SkilldError if the front matter has no place for it.
    """
    key, value = operation.anchor, operation.text
    if not _KEY.fullmatch(key) or len(value) > _MAX_VALUE:
        raise RefusedError(
            "The skill's metadata was not updated", "only skilld's own keys can be set, and only to short values"
        )
    lines = split_lines(matter)
    if not lines:
        raise SkilldError("The skill's metadata was not updated", "it has no front matter")
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
    return SkilldError("The skill's metadata was not updated", "its metadata is in a form that skilld cannot edit")


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


# Where whole lines stand in a body, and the operation that changes given lines by an anchor that stands there once.
# Lines are compared by `Line.key`: trailing blanks and line endings aside, all else exact.

_SHORT = 3  # lines of an anchor above a place that are still better than one line below it
_MAX_LINES_ABOVE = 40  # lines above a place among which an anchor is looked for
_NEAR = 6  # lines around a place that are tried in every combination before the window only grows


def places(lines: Sequence[Line], wanted: Sequence[str]) -> Iterator[int]:
    """Yield every line number at which the lines `wanted` stand, overlaps included. `wanted` is not empty."""
    # str.find never takes the square of a text, as comparing line by line does on blank lines.
    body = "".join(f"\n{line.key}" for line in lines) + "\n"
    sought = "".join("\n" + text.rstrip(" \t") for text in wanted) + "\n"
    number = end = 0
    found = body.find(sought)
    while found >= 0:
        number += body.count("\n", end, found)
        yield number
        end = found
        found = body.find(sought, found + 1)


def is_unique(lines: Sequence[Line], start: int, end: int) -> bool:
    """Whether lines [start, end) can be an anchor: not all blank, and found nowhere else."""
    window = lines[start:end]
    return any(line.key for line in window) and len(list(islice(places(lines, [x.text for x in window]), 2))) == 1


def window_above(lines: Sequence[Line], end: int) -> int | None:
    """Return the largest start for which lines [start, end) are an anchor, or None if no start near makes one."""
    starts = range(end - 1, max(-1, end - 1 - _MAX_LINES_ABOVE), -1)
    return next((start for start in starts if is_unique(lines, start, end)), None)


def window_around(lines: Sequence[Line], start: int, end: int, *, context: bool = False) -> tuple[int, int]:
    """Return the smallest [a, b) that contains [start, end) and is an anchor, lines above preferred over lines below.

    With `context` it also holds a line that is not blank outside of [start, end). The whole body comes back where
    nothing less will do.
    """

    def fits(first: int, last: int) -> bool:
        spoken = not context or any(line.key for line in (*lines[first:start], *lines[end:last]))
        return spoken and is_unique(lines, first, last)

    for extra in range(_NEAR):
        for below in range(extra + 1):
            first, last = start - (extra - below), end + below
            if first >= 0 and last <= len(lines) and fits(first, last):
                return first, last
    extra = _NEAR
    while not fits(max(0, start - extra), end + extra) and extra < len(lines):
        extra *= 2
    return max(0, start - extra), min(len(lines), end + extra)


def anchored(lines: Sequence[Line], start: int, end: int, text: Sequence[str]) -> Operation:
    """Return the operation that puts `text` in the place of lines [start, end), with the shortest anchor that is one.

    Both may be empty, not at once. Blank lines can be neither an anchor nor a text of their own, so a neighbour that
    says something goes along with them.
    """
    says = not all(is_blank(line) for line in text)
    if says and not any(line.key for line in lines):
        return Operation(Op.INSERT_AFTER, "", "\n".join(text))
    if start == end and says:
        above = window_above(lines, start)
        if above is not None and (above >= start - _SHORT or not is_unique(lines, start, start + 1)):
            return Operation(Op.INSERT_AFTER, join_lines(lines[above:start]), "\n".join(text))
    if not text and is_unique(lines, start, end):
        return Operation(Op.DELETE, join_lines(lines[start:end]))
    first, last = window_around(lines, start, end, context=not says)
    texts = [line.text for line in lines[first:last]]
    texts[start - first : end - first] = text
    return Operation(Op.REPLACE, join_lines(lines[first:last]), "\n".join(texts))


MAX_CHANGED_LINES = 40
MAX_CHANGED_CHARACTERS = 8000
MAX_SKILL_LINES = 500


@dataclass(frozen=True, slots=True)
class _Step:
    """What one operation did: `removed` lines at `start` of the old body gave way to `added` lines of the new one."""

    body: list[Line]
    start: int
    removed: list[Line]
    added: list[Line]

    @property
    def size(self) -> int:
        return len(self.removed) + len(self.added)


def apply(data: bytes, operations: Sequence[Operation], *, limited: bool = True) -> bytes:
    """Return the bytes of the skill after all operations, each applied to the outcome of the one before.

    The same operations apply to any later version of the file in which their anchors still stand. `limited=False`
    lifts the bounds on size and on saying a thing twice: for one operation of an edit that keeps them as a whole.

    Raises SkilldError when the file cannot be parsed or an anchor is missing or stands more than once (the file moved
    on), RefusedError when front matter would be touched but by a mark, nothing would change, or a bound would be
    passed: at most MAX_CHANGED_LINES lines and MAX_CHANGED_CHARACTERS characters added and removed, and no growth
    beyond MAX_SKILL_LINES lines. A file that is made has the bounds of the specification, and is left as it is where
    it says the same already.
    """
    if any(operation.op is Op.CREATE for operation in operations):
        if len(operations) > 1:
            raise _refused("it creates the file and changes it at the same time")
        return created(data, operations[0].text, skill=not operations[0].anchor)
    old = skill = parse(data)
    body = list(skill.body)
    size = characters = 0
    for operation in operations:
        if operation.op is Op.MARK:
            skill = replace(skill, front=marked(skill.front, operation, skill.ending))
            continue
        step = _step(skill, body, operation, limited=limited)
        body = step.body
        size += step.size
        characters += sum(len(line.text) for line in (*step.removed, *step.added))
    if limited and size > MAX_CHANGED_LINES:
        raise _refused(f"it changes {size} lines; the limit for one proposal is {MAX_CHANGED_LINES}")
    if limited and characters > MAX_CHANGED_CHARACTERS:
        raise _refused(f"it changes {characters} characters; the limit for one proposal is {MAX_CHANGED_CHARACTERS}")
    after = SkillFile(skill.bom, skill.front, tuple(body))
    if limited and after.line_count > max(MAX_SKILL_LINES, skill.line_count):
        raise _refused(
            f"the skill would have {after.line_count} lines; the limit is {MAX_SKILL_LINES}",
            "Cut something from the skill first.",
        )
    return _checked(old, skill, after)


def _step(skill: SkillFile, body: list[Line], operation: Operation, *, limited: bool) -> _Step:
    blank = not skill.front and not any(line.key for line in body)
    opens = blank and operation.op is Op.INSERT_AFTER and not operation.anchor
    anchor = [] if opens else _lines(operation.anchor)
    start = 0 if opens else _anchor(skill, body, anchor)
    end = start + len(anchor)
    text = _lines(operation.text) if operation.op is not Op.DELETE else []
    if operation.op is not Op.DELETE and all(is_blank(line) for line in text):
        raise _refused("it adds no text")
    if operation.op is Op.INSERT_AFTER:
        start = end
        if limited and _stands_below(body, start, text):
            raise _refused("the skill already says this in that place")
    step = _splice(body, start, end, text, skill.ending)
    if not step.size:
        raise _refused("it changes nothing")
    if not any(line.key for line in step.body):
        raise _refused("it would leave no instructions in the skill")
    return step


def _anchor(skill: SkillFile, body: list[Line], anchor: list[str]) -> int:
    if all(is_blank(text) for text in anchor):
        raise _refused("its anchor is a blank line")
    found = list(places(body, anchor))
    if len(found) == 1:
        return found[0]
    if found:
        raise SkilldError("The edit does not apply to this file", f"its anchor occurs {len(found)} times in the file")
    if any(True for _ in places(split_lines(skill.front), anchor)):
        raise _refused("it changes the front matter, which is never edited")
    raise SkilldError("The edit does not apply to this file", "its anchor is not in the file")


def _stands_below(body: list[Line], start: int, text: list[str]) -> bool:
    """Whether the text stands among the lines right below `start`, up to the next blank one behind its length.

    In a comment it says nothing.
    """
    stop = start + len(text)
    while stop < len(body) and body[stop].key:
        stop += 1
    found = [start + at for at in places(body[start:stop], text)]
    return bool(found) and any(kind is not Role.COMMENT for kind in map(roles(body).__getitem__, found))


def _splice(body: list[Line], start: int, end: int, text: list[str], ending: str) -> _Step:
    """Put `text` in the place of lines [start, end). What both have in common at either end stays as it is."""
    keys = [line.rstrip(" \t") for line in text]
    while start < end and keys and body[start].key == keys[0]:
        start, keys, text = start + 1, keys[1:], text[1:]
    while start < end and keys and body[end - 1].key == keys[-1]:
        end, keys, text = end - 1, keys[:-1], text[:-1]
    if body and end == len(body) and not body[-1].ending:  # an empty last line would be a final newline
        while text and not text[-1]:
            text = text[:-1]
        while not text and 0 < start < end and not body[start - 1].text:
            start -= 1
    old = body[start:end]
    head, tail = body[:start], body[end:]
    own = [line.ending for line in old] or [head[-1].ending if head else tail[0].ending if tail else ending]
    added = [Line(line, own[min(i, len(own) - 1)] or ending) for i, line in enumerate(text)]
    if not tail and added:  # the last line of the file keeps its final newline, or its lack of one
        if not old and head:
            head[-1] = Line(head[-1].text, head[-1].ending or ending)
        added[-1] = Line(added[-1].text, own[-1])
    elif not tail and old and head:
        head[-1] = Line(head[-1].text, old[-1].ending and head[-1].ending)
    return _Step([*head, *added, *tail], start, old, added)


def _checked(old: SkillFile, skill: SkillFile, after: SkillFile) -> bytes:
    try:
        data = after.data
    except UnicodeEncodeError:
        raise _refused("it adds a character that cannot be written to a file") from None
    try:
        again = parse(data)
    except SkilldError as error:
        raise _refused(error.cause) from None
    if (again.bom, again.front) != (skill.bom, skill.front):
        raise _refused("it would change the front matter")
    if data == old.data:
        raise _refused("it changes nothing")
    return data


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _refused(cause: str, remedy: str = "") -> RefusedError:
    return RefusedError("The edit was not made", cause, remedy)
