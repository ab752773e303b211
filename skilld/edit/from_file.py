"""Bounded operations out of a whole rewritten file, for models that answer with one.

The skill's bytes and the rewritten text go in, operations come out that change only the lines that differ. The bounds
are those of `apply`; nothing of the text's line endings, byte order mark or trailing blanks is taken over.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilld.edit.anchors import anchored
from skilld.edit.differ import compare
from skilld.edit.operations import apply
from skilld.errors import RefusedError
from skilld.markdown.skill_file import Line, parse, split_lines
from skilld.types import Operation


def operations_from(before: bytes, after_text: str) -> list[Operation]:
    """Return the operations that turn the skill `before` into `after_text`, to be applied in the given order.

    Raises SkilldError when `before` cannot be parsed, RefusedError when the front matter differs (line endings and
    trailing blanks aside), when nothing differs, or when more lines differ than one proposal may change.
    """
    skill = parse(before)
    lines = split_lines(after_text.removeprefix("\ufeff"))
    front = [line.key for line in split_lines(skill.front)]
    if [line.key for line in lines[: len(front)]] != front:
        raise _refused("the rewritten file changes the front matter, which is never edited")
    old, new = list(skill.body), _like(skill.body, lines[len(front) :])
    operations: list[Operation] = []
    pieces = compare([line.key for line in old], [line.key for line in new])
    for piece in reversed(pieces):  # last first, so that earlier line numbers stay right
        if not piece.equal:
            text = new[piece.new_start : piece.new_end]
            operations.append(anchored(old, piece.old_start, piece.old_end, [line.text for line in text]))
            old[piece.old_start : piece.old_end] = text
    if not operations:
        raise _refused("the rewritten file says the same as the skill")
    apply(before, operations)
    return operations


def _like(body: Sequence[Line], lines: list[Line]) -> list[Line]:
    """Give `lines` as many blank lines at the end as `body` has: those carry no meaning and models drop them."""
    texts = [Line(line.text, "\n") for line in lines]
    while texts and not texts[-1].key:
        texts.pop()
    blank = next((n for n, line in enumerate(reversed(body)) if line.key), len(body))
    return texts + [Line("", "\n")] * blank


def _refused(cause: str) -> RefusedError:
    return RefusedError("The edit was not made", cause)
