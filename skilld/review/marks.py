"""A change of a skill as rows to show: lines in context, and in changed lines the words that differ. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from skilld.edit.from_file import compare
from skilld.text import safe_text

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_AROUND = 3  # unchanged lines shown above and below a change
_ALIKE = 0.4  # two lines less alike than this are two lines, not one that was reworded

Segment = tuple[str, bool]  # text, and whether it is what differs


@dataclass(frozen=True, slots=True)
class Row:
    """One line: `kind` is a blank (unchanged), `-`, `+`, or `@` (lines are left out here). Harmless for a terminal."""

    kind: str
    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The line without its marks."""
        return "".join(text for text, _ in self.segments)


def rows(before: bytes, after: bytes) -> list[Row]:
    """Return the change from `before` to `after` as rows."""
    old, new = (safe_text(data.decode("utf-8", "replace"), newlines=True).splitlines() for data in (before, after))
    found: list[Row] = []
    pieces = compare(old, new)
    for number, piece in enumerate(pieces):
        lines = old[piece.old_start : piece.old_end]
        if piece.equal:
            found += _unchanged(lines, first=number == 0, last=number == len(pieces) - 1)
        else:
            found += _changed(lines, new[piece.new_start : piece.new_end])
    return found


def _unchanged(lines: Sequence[str], *, first: bool, last: bool) -> list[Row]:
    head = [] if first else lines[:_AROUND]
    tail = [] if last else lines[max(len(head), len(lines) - _AROUND) :]
    gap = [Row("@", ())] if len(head) + len(tail) < len(lines) and not last else []
    plain = [[Row(" ", ((line, False),)) for line in part] for part in (head, tail)]
    return [*plain[0], *gap, *plain[1]]


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    """Yield the lines taken away, then those added; lines that are one reworded are marked by their words."""
    partner = _partners(old, new)
    mine = {i: _words(line, new[partner[i]]) for i, line in enumerate(old) if i in partner}
    other = {j: _words(new[j], old[i]) for i, j in partner.items()}
    for i, line in enumerate(old):
        yield Row("-", mine.get(i, ((line, False),)))
    for j, line in enumerate(new):
        yield Row("+", other.get(j, ((line, False),)))


def _partners(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    found: dict[int, int] = {}
    start = 0
    for i, line in enumerate(old):
        scores = [(SequenceMatcher(None, line, new[j], autojunk=False).ratio(), -j) for j in range(start, len(new))]
        best = max(scores, default=(0.0, 0))
        if best[0] >= _ALIKE:
            found[i] = -best[1]
            start = found[i] + 1
    return found


def _words(line: str, other: str) -> tuple[Segment, ...]:
    """Return a line in segments: what the other line has too, and what it has not."""
    mine, theirs = _WORDS.findall(line), _WORDS.findall(other)
    pieces: list[Segment] = []
    for tag, i, j, _, _ in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if i != j:
            pieces.append(("".join(mine[i:j]), tag != "equal"))
    return tuple(pieces)
