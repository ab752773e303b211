"""Gives items that are put into another version of a list the numbers and markers that fit there."""

from __future__ import annotations

from collections.abc import Sequence

from skilld.markdown.skill_file import Line
from skilld.markdown.structure import Item, list_item
from skilld.types import Op, Operation


def renumber(
    new: Sequence[Line], at: int, added: Sequence[str], now: Sequence[Line], place: int
) -> tuple[int, list[str]]:
    """Return the place of a block in `now`, and its lines with the numbers that fit there.

    `added` is at line `at` of `new`, and is to go before line `place` of `now`. A step at the end of a list stays at
    its end; a numbered step keeps its distance to the step above it, so that lists of 1. 1. 1. stay such lists.
    """
    first = next((i for i, text in enumerate(added) if text.strip()), None)
    item = list_item(added[first]) if first is not None else None
    if first is None or item is None or not item.marker[0].isdigit():
        return place, [*added]
    above = _next_numbered_item(new, range(at - 1, -1, -1), item)
    if above is None:
        return place, [*added]
    if _next_numbered_item(new, range(at + len(added), len(new)), item) is None:
        place = _list_end(now, place, item)
    over = _next_numbered_item(now, range(place - 1, -1, -1), item)
    if over is None:
        return place, [*added]
    shift = _number(over) - _number(above)
    return place, [_shift_number(text, item, shift) for text in added]


def _next_numbered_item(body: Sequence[Line], way: range, item: Item) -> Item | None:
    """Return the next numbered item of the same list on the way; lines in between belong to its items."""
    for at in way:
        text = body[at].text
        found = list_item(text)
        if found is not None and found.indent == item.indent and found.marker[-1] == item.marker[-1]:
            return found if found.marker[0].isdigit() else None
        if text.strip() and not text.startswith((item.indent + " ", item.indent + "\t")):
            return None
    return None


def _list_end(now: Sequence[Line], place: int, item: Item) -> int:
    """Return the line after the last item of the list that continues at `place`."""
    at = place
    while at < len(now):
        rest = range(at, len(now))
        if _next_numbered_item(now, rest, item) is None:
            break
        at = next(i for i in rest if (one := list_item(now[i].text)) is not None and one.indent == item.indent) + 1
        while at < len(now) and now[at].text.startswith((item.indent + " ", item.indent + "\t")):
            at += 1
        place = at
    return place


def _number(item: Item) -> int:
    return int(item.marker[:-1])


def _shift_number(text: str, like: Item, shift: int) -> str:
    item = list_item(text)
    if item is None or item.indent != like.indent or not item.marker[0].isdigit():
        return text
    return f"{item.indent}{max(0, _number(item) + shift)}{text[len(item.indent) + len(item.marker) - 1 :]}"


def write_like_sibling(
    texts: Sequence[str], was: Item, there: Item, now: Sequence[Line], place: int
) -> tuple[int, list[str]]:
    """Return the place of added items, and their lines, written as the item beside them that `was` now is `there`.

    If that has become a step of a numbered list, they go to the end of the list as its next steps.
    """
    if (was.indent, was.kind, bool(was.box)) == (there.indent, there.kind, bool(there.box)):
        return place, [*texts]
    box = "[ ] " if there.box and not was.box else ""
    number = None
    if there.marker[0].isdigit() and there.kind != was.kind:
        place = _list_end(now, place, there)
        last = _next_numbered_item(now, range(place - 1, -1, -1), there) or there
        number = _number(last)
    lines = []
    for text in texts:
        item = list_item(text)
        if item is None or (item.indent, item.kind) != (was.indent, was.kind):
            lines.append(_shift_line(text, there.width - was.width))
            continue
        marker = item.marker if there.kind == was.kind else there.marker
        if number is not None:
            number += 1
            marker = f"{number}{there.marker[-1]}"
        lines.append(f"{there.indent}{marker}{there.gap}{box}{text[len(item.indent + item.marker + item.gap) :]}")
    return place, lines


def _shift_line(text: str, columns: int) -> str:
    """Return a further line of an item, which is indented as far as the item's text."""
    if not text.strip() or columns < 0:
        return text[min(-columns, len(text) - len(text.lstrip(" "))) :] if text.strip() else text
    return " " * columns + text


def without_number(line: str) -> str:
    """Return a line without the number that it has as a step of a list."""
    item = list_item(line)
    return line[len(item.indent) + len(item.marker) - 1 :] if item and item.marker[0].isdigit() else line


def new_lines(removed: Sequence[str], added: Sequence[str]) -> list[str]:
    """Return the added lines without those that only have another number than a removed one."""
    known = {*map(without_number, removed)}
    return [line for line in added if without_number(line) not in known]


def lines_added_by(operation: Operation) -> list[str]:
    """Return the lines that an operation adds to a file, without those that only get another number."""
    anchor = operation.anchor.splitlines() if operation.op is Op.REPLACE else ()
    return new_lines(anchor, operation.text.splitlines())
