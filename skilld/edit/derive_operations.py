"""Derives bounded operations from a fully rewritten file, for models that answer with one.

The operations change only the lines that differ, within the bounds of `apply`. The text's line endings, byte order mark
and trailing blanks are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilld.edit.operations import anchor_operation, apply, create_file, marks_between
from skilld.errors import RefusedError
from skilld.markdown.skill_file import Line, parse, split_lines
from skilld.text import compare_lines
from skilld.types import Op, Operation


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
