"""The same change in another version of a skill, where its place is certain by its neighbours and their likeness.

The skill before and after the change and another version go in, operations on that version come out. What was edited
by hand meanwhile stays as it is. Between two answers there is none: `NoPlaceError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilld.edit.align import Alignment, align, titles
from skilld.edit.anchors import anchored
from skilld.edit.differ import compare
from skilld.edit.numbering import numbered
from skilld.edit.operations import apply
from skilld.edit.place import insert_bullet
from skilld.errors import SkilldError
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import list_item, roles, sections
from skilld.types import Operation


class NoPlaceError(SkilldError):
    """The change has no certain place in this version of the skill."""


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Lines [start, end) of the old body gave way to `added`, which stand at `at` in the new one."""

    start: int
    end: int
    at: int
    added: tuple[str, ...]


def refit(before: bytes, after: bytes, current: bytes) -> list[Operation]:
    """Return the operations that make the change from `before` to `after` in `current`, to be applied in this order.

    Raises NoPlaceError where a place is not certain, where a line that goes was edited or is gone, and for a change of
    the front matter; SkilldError where a version cannot be parsed. No operation comes back where all is done already.
    """
    old, new, now = parse(before), parse(after), parse(current)
    if old.front != new.front:
        raise _no_place("it changes the front matter")
    body = list(now.body)
    alignment = align(old.body, now.body)
    operations: list[Operation] = []
    for hunk in reversed(_hunks(old.body, new.body)):  # last first, so that earlier line numbers stay right
        if hunk.start == hunk.end:
            start = end = _gap(old.body, body, alignment, hunk)
        else:
            start, end = _range(old.body, body, alignment, hunk)
        start, texts = numbered(new.body, hunk.at, hunk.added, body, start) if start == end else (start, [*hunk.added])
        end = max(start, end)
        if not texts and start == end:
            continue
        operations.append(anchored(body, start, end, texts))
        body[start:end] = [Line(text, "\n") for text in texts]
        _check_read(new.body, hunk, body, start)
    return operations


def refit_in_section(before: bytes, after: bytes, current: bytes) -> list[Operation]:
    """Return the operations that put what the change only adds at the end of the sections it stood in.

    For a change without a certain place. Raises NoPlaceError where it takes lines away or one of these sections is
    gone, SkilldError as `refit` does.
    """
    old, new, now = parse(before), parse(after), parse(current)
    alignment = align(old.body, now.body)
    operations: list[Operation] = []
    data = current
    for hunk in _hunks(old.body, new.body):
        if hunk.start != hunk.end or old.front != new.front:
            raise _no_place("it takes lines away that were edited or are gone")
        title = _section_now(old.body, now.body, alignment, hunk.start)
        for text in _items(hunk.added):
            operation = insert_bullet(data, title, text)
            done = apply(data, [operation])
            if not _is_in(title, parse(data).body, parse(done).body):
                raise _no_place("its section has no place for it")
            data = done
            operations.append(operation)
    return operations


def _is_in(title: str, before: Sequence[Line], after: Sequence[Line]) -> bool:
    """Whether all that was added stands in the section of that title."""
    pieces = [piece for piece in compare([x.key for x in before], [x.key for x in after]) if not piece.equal]
    (part,) = (part for part in sections(after) if part.title == title)
    return all(part.start <= piece.new_start and piece.new_end <= part.own_end for piece in pieces)


def _hunks(old: Sequence[Line], new: Sequence[Line]) -> list[_Hunk]:
    found = []
    keys = [line.key for line in old]
    for piece in compare(keys, [line.key for line in new]):
        added = [line.text for line in new[piece.new_start : piece.new_end]]
        if piece.equal or not (any(text.strip() for text in added) or any(keys[piece.old_start : piece.old_end])):
            continue
        start, end, at = piece.old_start, piece.old_end, piece.new_start
        while start == end and start and not keys[start - 1] and not added[-1].strip():
            # The same insertion one line further up: below the line that it follows, not above a blank one.
            start, end, at, added = start - 1, end - 1, at - 1, ["", *added[:-1]]
        found.append(_Hunk(start, end, at, tuple(added)))
    return found


def _gap(old: Sequence[Line], now: Sequence[Line], alignment: Alignment, hunk: _Hunk) -> int:
    """Return the line of `now` before which an insertion goes."""
    up = next((i for i in range(hunk.start - 1, -1, -1) if old[i].key), None)
    down = next((i for i in range(hunk.start, len(old)) if old[i].key), len(old))
    over, under = alignment.get(up), alignment.get(down)
    if over is None and under is None:
        raise _no_place("the lines around its place were rewritten")
    if over is not None and (over < under if under is not None else alignment.keeps_section(up, over)):
        at = _below(old, now, up, over, hunk)
    elif over is None and under is not None:
        at = next((i + 1 for i in range(under - 1, -1, -1) if now[i].key), 0)
        if _is_item(hunk.added) and not _in_list(now, at):
            raise _no_place("the lines around its place were rewritten")
    else:
        raise _no_place("the lines around its place were moved apart")
    if not alignment.same_section(up, at - 1):
        raise _no_place("the line below which it stood is in another section now")
    next_to_both = over is not None and under == next((i for i in range(over + 1, len(now)) if now[i].key), len(now))
    if not next_to_both and alignment.crosses(hunk.start, at):
        raise _no_place("the lines around its place were moved apart")
    return at


def _below(old: Sequence[Line], now: Sequence[Line], up: int | None, over: int, hunk: _Hunk) -> int:
    """Return the line behind `over`, and behind what else belongs to that item where the change adds the next one."""
    at = over + 1
    item, added = list_item(now[over].text), list_item(next(text for text in hunk.added if text.strip()))
    if up is None or item is None or added is None or item.indent != added.indent:
        return at
    below = old[hunk.start].text if hunk.start < len(old) else ""
    if _depth(below) > len(item.indent) and below.strip():
        return at
    while at < len(now) and now[at].key and _depth(now[at].text) > len(item.indent):
        at += 1
    return at


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


def _is_item(added: Sequence[str]) -> bool:
    return list_item(next(text for text in added if text.strip())) is not None


def _in_list(now: Sequence[Line], at: int) -> bool:
    """Whether the line before `at` is a list item, or belongs to one."""
    above = next((line.text for line in reversed(now[:at]) if line.key), "")
    return list_item(above) is not None or above[:1] in {" ", "\t"}


def _range(old: Sequence[Line], now: Sequence[Line], alignment: Alignment, hunk: _Hunk) -> tuple[int, int]:
    """Return the lines of `now` that a hunk takes away; they must stand there as they did."""
    gone = [i for i in range(hunk.start, hunk.end) if old[i].key]
    where = [alignment.get(i) if alignment.is_exact(i) else None for i in gone]
    places = [at for at in where if at is not None]
    if not gone or len(places) != len(gone):
        raise _no_place("a line that it changes was edited or is gone")
    start, end = places[0], places[-1] + 1
    if [line.key for line in now[start:end] if line.key] != [old[i].key for i in gone]:
        raise _no_place("the lines that it changes were moved apart")
    if not alignment.same_section(gone[0], start):
        raise _no_place("a line that it changes is in another section now")
    return start, end


def _check_read(new: Sequence[Line], hunk: _Hunk, body: Sequence[Line], start: int) -> None:
    """Raise NoPlaceError where a line would be code, or a comment, that was none, or the other way round."""
    was, would_be = roles(new), roles(body)
    for offset, text in enumerate(hunk.added):
        if text.strip() and was[hunk.at + offset] is not would_be[start + offset]:
            raise _no_place("its place is in code now, or no longer")


def _section_now(old: Sequence[Line], now: Sequence[Line], alignment: Alignment, gap: int) -> str:
    """Return the title that the section around a gap of `old` has in `now`, where it is the only one of that title."""
    head = alignment.get(max((line for line in titles(old) if line < gap), default=None))
    found = titles(now)
    title = found.get(head, "") if head is not None else ""
    if not title or [other.casefold() for other in found.values()].count(title.casefold()) != 1:
        raise _no_place("its section is gone")
    return title


def _items(added: Sequence[str]) -> list[str]:
    """Return what is added, item by item; one that is a heading has no place in a section."""
    items: list[list[str]] = []
    for text in added:
        if text.lstrip().startswith("#"):
            raise _no_place("it adds a section")
        if text.strip() and (not items or (list_item(text) is not None and not text[:1].isspace())):
            items.append([text])
        elif items:
            items[-1].append(text)
    return ["\n".join(item).strip("\n") for item in items]


def _no_place(cause: str) -> NoPlaceError:
    return NoPlaceError("The edit does not fit this SKILL.md", cause)
