"""Applies bounded operations to a SKILL.md: bytes and operations in, bytes out.

Each operation is anchored on whole lines that occur once in the body, compared exactly except for trailing blanks and
line endings. Only an empty file takes an insertion without an anchor, at its start. Front matter, byte order mark and
every line that an operation does not add or remove stay byte for byte, and a file without a final newline stays
without. An added line gets the ending of the line that it follows or replaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from skilld.errors import RefusedError, SkilldError
from skilld.markdown.skill_file import Line, SkillFile, is_blank, join_lines, parse, split_lines
from skilld.markdown.structure import Role, Section, is_default_title, labelled_sections, roles
from skilld.skills.spec import find_faults, read_front
from skilld.skills.write import quoted
from skilld.text import safe_text
from skilld.types import Op, Operation
from skilld.values import value_class

# Only code makes the operation that creates a whole SKILL.md.


def create_file(data: bytes, text: str, *, skill: bool = True) -> bytes:
    """Return the bytes of a new file, also if `data` already has the same text.

    Raises SkilldError if a different file exists by now, RefusedError if the text of a skill violates the specification
    (its name is not compared with any folder's here).
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
    wrong = find_faults(text, read_front(text).name) if skill else ()
    if wrong:
        raise RefusedError("The skill was not created", "; ".join(wrong))
    return new


# skilld's own marks in a skill's front matter are `metadata.skilld-*`, set one key at a time. Every other byte of it
# stays. Only code makes the operation that does this. The linter accepts no change of front matter: the rest of an edit
# is judged against the marked file.

_KEY_PATTERN = re.compile(r"skilld-[a-z0-9]+(?:-[a-z0-9]+)*")
_MAX_VALUE = 4096  # characters of a value
_METADATA_START_PATTERN = re.compile(r"metadata[ \t]*:")
_METADATA_LINE_PATTERN = re.compile(r"metadata[ \t]*:[ \t]*(?:#.*)?")
_DEFAULT_INDENT = "  "


def mark_front_matter(matter: str, operation: Operation, ending: str) -> str:
    """Return front matter, with fences, with the key `operation.anchor` set to its text, or removed if that is empty.

    New lines end with `ending`. Raises RefusedError for a key that is not skilld's or a value that is too long,
    SkilldError if the front matter has no place for it.
    """
    key, value = operation.anchor, operation.text
    if not _KEY_PATTERN.fullmatch(key) or len(value) > _MAX_VALUE:
        raise RefusedError(
            "The skill's metadata was not updated", "only skilld's own keys can be set, and only to short values"
        )
    lines = split_lines(matter)
    if not lines:
        raise SkilldError("The skill's metadata was not updated", "it has no front matter")
    start = next((at for at, line in enumerate(lines) if _METADATA_START_PATTERN.match(line.text)), None)
    if start is not None and not _METADATA_LINE_PATTERN.fullmatch(lines[start].text):
        raise _unsupported_metadata()
    if start is None:
        start = len(lines) - 1
        lines[start:start] = [Line("metadata:", ending)] if value else []
    end = _block_end(lines, start + 1)
    indent = next((_indent(line.text) for line in lines[start + 1 : end] if _has_text(line)), _DEFAULT_INDENT)
    at, stop = _find_entry(lines, start + 1, end, indent + key)
    lines[at:stop] = [Line(f"{indent}{key}: {quoted(value)}", ending)] if value else []
    if not value and at < stop and (at, stop) == (start + 1, end):
        del lines[start]  # the key was the only one
    new = "".join(line.text + line.ending for line in lines)
    wanted = read_front(matter).metadata | {key: safe_text(value, newlines=True)}
    if read_front(new).metadata != {name: text for name, text in wanted.items() if name != key or value}:
        raise _unsupported_metadata()
    return new


def marks_between(before: str, after: str) -> list[Operation]:
    """Return the operations that change the marks of one text of a skill to those of the other."""
    old, new = read_front(before).metadata, read_front(after).metadata
    keys = [key for key in dict.fromkeys((*old, *new)) if _KEY_PATTERN.fullmatch(key) and old.get(key) != new.get(key)]
    return [Operation(Op.MARK, key, new.get(key, "")) for key in keys]


def _unsupported_metadata() -> SkilldError:
    return SkilldError("The skill's metadata was not updated", "its metadata is in a form that skilld cannot edit")


def _block_end(lines: Sequence[Line], start: int) -> int:
    """Return the line after the last one with text in the block at `start`."""
    end = start
    for at in range(start, len(lines)):
        if lines[at].text[:1] not in {" ", "\t"} and _has_text(lines[at]):
            break
        if _has_text(lines[at]):
            end = at + 1
    return end


def _find_entry(lines: Sequence[Line], start: int, end: int, key: str) -> tuple[int, int]:
    """Return the range of a key and its contents, or the empty range where it would be."""
    at = next((at for at in range(start, end) if re.match(re.escape(key) + r"[ \t]*:(?:\s|$)", lines[at].text)), end)
    depth = len(key) - len(key.lstrip())
    stop = at + 1
    while stop < end and (len(_indent(lines[stop].text)) > depth or not _has_text(lines[stop])):
        stop += 1
    return at, min(stop, end)


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" \t"))]


def _has_text(line: Line) -> bool:
    return bool(line.text.strip(" \t"))


# Finding whole lines in a body, and making the operation that changes given lines by a unique anchor. Lines are
# compared by `Line.key`: exactly, except for trailing blanks and line endings.

_MAX_SHORT_ANCHOR = 3  # an anchor of up to so many lines above a place is better than one line below it
_MAX_LINES_ABOVE = 40  # lines above a place that are searched for an anchor
_MAX_EXHAUSTIVE_LINES = 6  # lines around a place that are tried in every combination before the window only grows


def find_lines(lines: Sequence[Line], wanted: Sequence[str]) -> Iterator[int]:
    """Yield every line number at which the lines `wanted` occur, including overlaps. `wanted` is not empty."""
    # str.find never takes quadratic time, as comparing line by line does on blank lines.
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
    """Whether lines [start, end) can be an anchor: not all blank, and not repeated elsewhere."""
    window = lines[start:end]
    return any(line.key for line in window) and len(list(islice(find_lines(lines, [x.text for x in window]), 2))) == 1


def window_above(lines: Sequence[Line], end: int) -> int | None:
    """Return the largest start for which lines [start, end) are an anchor, or None if no start near makes one."""
    starts = range(end - 1, max(-1, end - 1 - _MAX_LINES_ABOVE), -1)
    return next((start for start in starts if is_unique(lines, start, end)), None)


def window_around(lines: Sequence[Line], start: int, end: int, *, context: bool = False) -> tuple[int, int]:
    """Return the smallest [a, b) that contains [start, end) and is an anchor, lines above preferred over lines below.

    With `context` it also has a line that is not blank outside of [start, end). If nothing smaller is unique, the whole
    body is returned.
    """

    def is_anchor(first: int, last: int) -> bool:
        has_text = not context or any(line.key for line in (*lines[first:start], *lines[end:last]))
        return has_text and is_unique(lines, first, last)

    for extra in range(_MAX_EXHAUSTIVE_LINES):
        for below in range(extra + 1):
            first, last = start - (extra - below), end + below
            if first >= 0 and last <= len(lines) and is_anchor(first, last):
                return first, last
    extra = _MAX_EXHAUSTIVE_LINES
    while not is_anchor(max(0, start - extra), end + extra) and extra < len(lines):
        extra *= 2
    return max(0, start - extra), min(len(lines), end + extra)


def anchor_operation(lines: Sequence[Line], start: int, end: int, text: Sequence[str]) -> Operation:
    """Return the operation that replaces lines [start, end) by `text`, with the shortest possible anchor.

    Either may be empty, but not both. Blank lines can be neither an anchor nor a text by themselves, so a neighbour
    with text is included.
    """
    says = not all(is_blank(line) for line in text)
    if says and not any(line.key for line in lines):
        return Operation(Op.INSERT_AFTER, "", "\n".join(text))
    if start == end and says:
        above = window_above(lines, start)
        if above is not None and (above >= start - _MAX_SHORT_ANCHOR or not is_unique(lines, start, start + 1)):
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


@value_class
class _Step:
    """What one operation did: `removed` lines at `start` of the old body were replaced by `added` lines."""

    body: list[Line]
    start: int
    removed: list[Line]
    added: list[Line]

    @property
    def size(self) -> int:
        return len(self.removed) + len(self.added)


def apply(data: bytes, operations: Sequence[Operation], *, limited: bool = True) -> bytes:
    """Return the bytes of the skill after all operations, each applied to the result of the one before.

    The same operations apply to any later version of the file that still has their anchors. A deletion of the last line
    below the heading that skilld adds takes the heading along. `limited=False` lifts the
    limits on size and repetition, for one operation of an edit that respects them as a whole.

    Raises SkilldError if the file cannot be parsed or an anchor is missing or occurs more than once (the file has
    changed), RefusedError if front matter would change except by a mark, nothing would change, or a limit would be
    exceeded: at most MAX_CHANGED_LINES lines and MAX_CHANGED_CHARACTERS characters added and removed, and no growth
    beyond MAX_SKILL_LINES lines. A new file has the limits of the specification, and is left alone if it already has
    the same text.
    """
    if any(operation.op is Op.CREATE for operation in operations):
        if len(operations) > 1:
            raise _refusal("it creates the file and changes it at the same time")
        return create_file(data, operations[0].text, skill=not operations[0].anchor)
    old = skill = parse(data)
    body, ending = list(skill.body), skill.ending
    size = characters = 0
    for operation in operations:
        if operation.op is Op.MARK:
            skill = replace(skill, front=mark_front_matter(skill.front, operation, ending))
            continue
        step = _apply_operation(skill.front, body, operation, ending, limited=limited)
        body = step.body
        size += step.size
        characters += sum(len(line.text) for line in (*step.removed, *step.added))
    if limited and size > MAX_CHANGED_LINES:
        raise _refusal(f"it changes {size} lines; the limit for one proposal is {MAX_CHANGED_LINES}")
    if limited and characters > MAX_CHANGED_CHARACTERS:
        raise _refusal(f"it changes {characters} characters; the limit for one proposal is {MAX_CHANGED_CHARACTERS}")
    if any(operation.op is Op.DELETE for operation in operations):
        body = _without_emptied_section(old.body, body, ending)
    after = SkillFile(skill.bom, skill.front, tuple(body))
    if limited and after.line_count > max(MAX_SKILL_LINES, skill.line_count):
        raise _refusal(
            f"the skill would have {after.line_count} lines; the limit is {MAX_SKILL_LINES}",
            "Cut something from the skill first.",
        )
    return _check_result(old, skill, after)


def _apply_operation(front: str, body: list[Line], operation: Operation, ending: str, *, limited: bool) -> _Step:
    blank = not front and not any(line.key for line in body)
    opens = blank and operation.op is Op.INSERT_AFTER and not operation.anchor
    anchor = [] if opens else _split_text(operation.anchor)
    start = 0 if opens else _find_anchor(front, body, anchor)
    end = start + len(anchor)
    text = _split_text(operation.text) if operation.op is not Op.DELETE else []
    if operation.op is not Op.DELETE and all(is_blank(line) for line in text):
        raise _refusal("it adds no text")
    if operation.op is Op.INSERT_AFTER:
        start = end
        if limited and _is_below(body, start, text):
            raise _refusal("the skill already says this in that place")
    step = _splice(body, start, end, text, ending)
    if not step.size:
        raise _refusal("it changes nothing")
    if not any(line.key for line in step.body):
        raise _refusal("it would leave no instructions in the skill")
    return step


def _find_anchor(front: str, body: list[Line], anchor: list[str]) -> int:
    if all(is_blank(text) for text in anchor):
        raise _refusal("its anchor is a blank line")
    found = list(find_lines(body, anchor))
    if len(found) == 1:
        return found[0]
    if found:
        raise SkilldError("The edit does not apply to this file", f"its anchor occurs {len(found)} times in the file")
    if any(True for _ in find_lines(split_lines(front), anchor)):
        raise _refusal("it changes the front matter, which is never edited")
    raise SkilldError("The edit does not apply to this file", "its anchor is not in the file")


def _is_below(body: list[Line], start: int, text: list[str]) -> bool:
    """Whether the text is among the lines right below `start`, up to the next blank one after its length.

    Text in a comment does not count.
    """
    stop = start + len(text)
    while stop < len(body) and body[stop].key:
        stop += 1
    found = [start + at for at in find_lines(body[start:stop], text)]
    return bool(found) and any(kind is not Role.COMMENT for kind in map(roles(body).__getitem__, found))


def _splice(body: list[Line], start: int, end: int, text: list[str], ending: str) -> _Step:
    """Replace lines [start, end) by `text`. Lines that both have in common at either end are not touched."""
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


def _without_emptied_section(before: Sequence[Line], body: list[Line], ending: str) -> list[Line]:
    """Return a body without a section that had text in `before` and now has none, if it has skilld's own heading."""
    full = any(is_default_title(part.title) and _says_something(before, part) for part in labelled_sections(before))
    for part in labelled_sections(body) if full else ():
        rest = [*body[: part.head], *body[part.end :]]
        if is_default_title(part.title) and not _says_something(body, part) and any(line.key for line in rest):
            head = part.head
            while part.end == len(body) and head and not body[head - 1].key:
                head -= 1
            return _splice(body, head, part.end, [], ending).body
    return body


def _says_something(body: Sequence[Line], part: Section) -> bool:
    return any(line.key for line in body[part.start : part.end])


def _check_result(old: SkillFile, skill: SkillFile, after: SkillFile) -> bytes:
    try:
        data = after.data
    except UnicodeEncodeError:
        raise _refusal("it adds a character that cannot be written to a file") from None
    try:
        again = parse(data)
    except SkilldError as error:
        raise _refusal(error.cause) from None
    if (again.bom, again.front) != (skill.bom, skill.front):
        raise _refusal("it would change the front matter")
    if data == old.data:
        raise _refusal("it changes nothing")
    return data


def _split_text(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _refusal(cause: str, remedy: str = "") -> RefusedError:
    return RefusedError("The edit was not made", cause, remedy)
