"""Gives steps that are put into another version of a list the numbers that fit there, and tells lines without them."""

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
