"""Where whole lines stand in a body, and the operation that changes given lines by an anchor that stands there once.

Lines are compared by `Line.key`: trailing blanks and line endings aside, all else exact. Takes lines, gives line
numbers or an `Operation`; applying it is not done here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from skilld.markdown.skill_file import Line, is_blank, join_lines
from skilld.types import Op, Operation

_SHORT = 3  # lines of an anchor above a place that are still better than one line below it
_FAR = 40  # lines above a place among which an anchor is looked for
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
    """Return the largest start for which lines [start, end) are an anchor, or None where no start near makes one."""
    starts = range(end - 1, max(-1, end - 1 - _FAR), -1)
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
