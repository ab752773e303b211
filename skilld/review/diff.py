"""The difference between two versions of a file as rows, with the changed words of reworded lines marked. Pure."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from skilld.text import compare_lines, safe_text
from skilld.values import value_class

_WORD_PATTERN = re.compile(r"\w+|\s+|[^\w\s]")
_CONTEXT_LINES = 3  # unchanged, shown above and below a change
_MIN_SIMILARITY = 0.4  # below it, two lines are not shown as one that was reworded

Segment = tuple[str, bool]  # text, and whether it differs


@value_class
class DiffRow:
    """One line of a diff: `kind` is blank (unchanged), `-`, `+`, or `@` (omitted lines). Safe for a terminal."""

    kind: str
    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The line without its marked segments."""
        return "".join(text for text, _ in self.segments)


def diff_rows(before: bytes, after: bytes) -> list[DiffRow]:
    """Return the difference between `before` and `after` as rows."""
    old, new = (safe_text(data.decode("utf-8", "replace"), newlines=True).splitlines() for data in (before, after))
    found: list[DiffRow] = []
    pieces = compare_lines(old, new)
    for number, piece in enumerate(pieces):
        lines = old[piece.old_start : piece.old_end]
        if piece.equal:
            found += _unchanged_rows(lines, first=number == 0, last=number == len(pieces) - 1)
        else:
            found += _changed_rows(lines, new[piece.new_start : piece.new_end])
    return found


def _unchanged_rows(lines: Sequence[str], *, first: bool, last: bool) -> list[DiffRow]:
    head = [] if first else lines[:_CONTEXT_LINES]
    tail = [] if last else lines[max(len(head), len(lines) - _CONTEXT_LINES) :]
    gap = [DiffRow("@", ())] if len(head) + len(tail) < len(lines) and not last else []
    plain = [[DiffRow(" ", ((line, False),)) for line in part] for part in (head, tail)]
    return [*plain[0], *gap, *plain[1]]


def _changed_rows(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffRow]:
    """Yield the removed lines, then the added ones; in reworded lines only the changed words are marked."""
    partner = _match_lines(old, new)
    mine = {i: _word_segments(line, new[partner[i]]) for i, line in enumerate(old) if i in partner}
    other = {j: _word_segments(new[j], old[i]) for i, j in partner.items()}
    for i, line in enumerate(old):
        yield DiffRow("-", mine.get(i, ((line, False),)))
    for j, line in enumerate(new):
        yield DiffRow("+", other.get(j, ((line, False),)))


def _match_lines(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    found: dict[int, int] = {}
    start = 0
    for i, line in enumerate(old):
        scores = [(SequenceMatcher(None, line, new[j], autojunk=False).ratio(), -j) for j in range(start, len(new))]
        best = max(scores, default=(0.0, 0))
        if best[0] >= _MIN_SIMILARITY:
            found[i] = -best[1]
            start = found[i] + 1
    return found


def _word_segments(line: str, other: str) -> tuple[Segment, ...]:
    """Return a line as segments: those that the other line also has, and those that it has not."""
    mine, theirs = _WORD_PATTERN.findall(line), _WORD_PATTERN.findall(other)
    pieces: list[Segment] = []
    for tag, i, j, _, _ in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if i != j:
            pieces.append(("".join(mine[i:j]), tag != "equal"))
    return tuple(pieces)
