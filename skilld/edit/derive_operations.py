"""Derives bounded operations from a fully rewritten file, for models that answer with one.

The operations change only the lines that differ, within the bounds of `apply`. The text's line endings, byte order mark
and trailing blanks are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from skilld.edit.operations import anchor_operation, apply, create_file, marks_between
from skilld.errors import RefusedError
from skilld.markdown.skill_file import Line, parse, split_lines
from skilld.types import Op, Operation

_MAX_EXACT_LINES = 600  # difflib is cubic at worst: 0.5 s for this many equal lines on each side


class Piece(NamedTuple):
    """Lines [old_start, old_end) became lines [new_start, new_end); `equal` says whether they are the same."""

    equal: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def compare_lines(old: Sequence[str], new: Sequence[str]) -> list[Piece]:
    """Return the pieces of both lists in order. Equal heads and tails are split off before difflib runs."""
    least = min(len(old), len(new))
    head = next((i for i in range(least) if old[i] != new[i]), least)
    tail = next((i for i in range(least - head) if old[-1 - i] != new[-1 - i]), least - head)
    middle, wanted = old[head : len(old) - tail], new[head : len(new) - tail]
    rough = max(len(middle), len(wanted)) > _MAX_EXACT_LINES
    codes = SequenceMatcher(None, middle, wanted, autojunk=rough).get_opcodes()
    pieces = [Piece(tag == "equal", head + a, head + b, head + c, head + d) for tag, a, b, c, d in codes]
    first = [Piece(True, 0, head, 0, head)] if head else []  # noqa: FBT003 - a field of the tuple
    last = [Piece(True, len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []  # noqa: FBT003 - as above
    return [*first, *pieces, *last]


def operations_from_text(before: bytes, after_text: str) -> list[Operation]:
    """Return the operations that turn the skill `before` into `after_text`, in the order to apply them.

    Raises SkilldError if `before` cannot be parsed, RefusedError if the front matter differs (except line endings and
    trailing blanks), if nothing differs, or if more lines differ than one proposal may change.
    """
    skill = parse(before)
    lines = split_lines(after_text.removeprefix("\ufeff"))
    front = [line.key for line in split_lines(skill.front)]
    if [line.key for line in lines[: len(front)]] != front:
        raise _refusal("the rewritten file changes the front matter, which is never edited")
    old, new = list(skill.body), _match_blank_end(skill.body, lines[len(front) :])
    operations: list[Operation] = []
    pieces = compare_lines([line.key for line in old], [line.key for line in new])
    for piece in reversed(pieces):  # last first, so that earlier line numbers stay right
        if not piece.equal:
            text = new[piece.new_start : piece.new_end]
            operations.append(anchor_operation(old, piece.old_start, piece.old_end, [line.text for line in text]))
            old[piece.old_start : piece.old_end] = text
    if not operations:
        raise _refusal("the rewritten file says the same as the skill")
    apply(before, operations)
    return operations


def _match_blank_end(body: Sequence[Line], lines: list[Line]) -> list[Line]:
    """Return `lines` with as many blank lines at the end as `body` has: they mean nothing and models drop them."""
    texts = [Line(line.text, "\n") for line in lines]
    while texts and not texts[-1].key:
        texts.pop()
    blank = next((n for n, line in enumerate(reversed(body)) if line.key), len(body))
    return texts + [Line("", "\n")] * blank


def _refusal(cause: str) -> RefusedError:
    return RefusedError("The edit was not made", cause)


def operations_between(before: bytes | None, after: str) -> list[Operation]:
    """Return the operations that turn the skill `before` (None: no file) into `after`.

    Raises as `apply` and `operations_from_text`.
    """
    if before is None:
        create_file(b"", after)
        return [Operation(Op.CREATE, "", after)]
    marks = marks_between(before.decode("utf-8-sig", "replace"), after)
    marked = apply(before, marks) if marks else before
    same = parse(marked).body == parse(after.encode("utf-8")).body
    return marks if marks and same else [*marks, *operations_from_text(marked, after)]
