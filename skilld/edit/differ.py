"""The difference of two lists of lines, as difflib gives it, in bounded time."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

_EXACT_LINES = 600  # difflib is cubic at worst: 0.5 s for this many equal lines on each side


class Piece(NamedTuple):
    """Lines [old_start, old_end) became lines [new_start, new_end); `equal` where they are the same."""

    equal: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def compare(old: Sequence[str], new: Sequence[str]) -> list[Piece]:
    """Return the pieces of both lists in order. Equal heads and tails are set aside before difflib looks."""
    least = min(len(old), len(new))
    head = next((i for i in range(least) if old[i] != new[i]), least)
    tail = next((i for i in range(least - head) if old[-1 - i] != new[-1 - i]), least - head)
    middle, wanted = old[head : len(old) - tail], new[head : len(new) - tail]
    rough = max(len(middle), len(wanted)) > _EXACT_LINES
    codes = SequenceMatcher(None, middle, wanted, autojunk=rough).get_opcodes()
    pieces = [Piece(tag == "equal", head + a, head + b, head + c, head + d) for tag, a, b, c, d in codes]
    first = [Piece(True, 0, head, 0, head)] if head else []  # noqa: FBT003 - a field of the tuple
    last = [Piece(True, len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []  # noqa: FBT003 - as above
    return [*first, *pieces, *last]
