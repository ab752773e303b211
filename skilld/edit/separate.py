"""Takes an edit apart into one operation for each list item that it adds, each of which can then be decided on alone.

A model answers several wishes about neighbouring lines with one operation. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilld.edit.operations import anchor_operation, apply
from skilld.errors import SkilldError
from skilld.markdown.skill_file import Line, parse
from skilld.markdown.structure import list_item
from skilld.text import compare_lines, indentation
from skilld.types import BODY_OPS, Operation
from skilld.words import content_stems, matching_share


def separate_items(data: bytes, operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """Return operations that make the same text of `data`, one for each item of a list that they add.

    An item that replaces a line does so alone. What is not a list, or replaces lines that none of its items clearly
    comes from, stays one operation.
    """
    made: list[Operation] = []
    now = data
    try:
        for operation in operations:
            after = apply(now, [operation], limited=False)
            steps = _separate(now, after) if operation.op in BODY_OPS else []
            made += steps if len(steps) > 1 else [operation]
            now = after
        return tuple(made) if apply(data, made) == now else tuple(operations)
    except SkilldError:
        return tuple(operations)


def _separate(before: bytes, after: bytes) -> list[Operation]:
    """Return the operations from one text to another, in the order of the lines."""
    body, new = list(parse(before).body), parse(after).body
    pieces = compare_lines([line.key for line in body], [line.key for line in new])
    made: list[Operation] = []
    for piece in pieces:
        if piece.equal:
            continue
        at = piece.new_start  # everything above is as in the new text by now
        olds, added = body[at : at + piece.old_end - piece.old_start], new[piece.new_start : piece.new_end]
        for removed, lines in _replacements(olds, added):
            made.append(anchor_operation(body, at, at + removed, [line.text for line in lines]))
            body[at : at + removed] = lines
            at += len(lines)
    return made


def _replacements(olds: Sequence[Line], added: Sequence[Line]) -> list[tuple[int, Sequence[Line]]]:
    """Return the items among the added lines in order, each with the number of old lines (0 or 1) that it replaces."""
    items = _items(added)
    heirs: list[int] = []
    for old in olds if items else ():
        words = content_stems(old.text)
        rest = range(heirs[-1] + 1 if heirs else 0, len(items))
        shares = {one: matching_share(words, content_stems(_text(items[one]))) for one in rest}
        heir = max(rest, key=lambda one: shares[one], default=-1)
        if heir < 0 or not shares[heir]:
            return [(len(olds), added)]
        heirs.append(heir)
    return [(int(one in heirs), item) for one, item in enumerate(items)] or [(len(olds), added)]


def _items(added: Sequence[Line]) -> list[Sequence[Line]]:
    """Return the items of the list that the added lines are; nothing if they are no list."""
    first = list_item(added[0].text) if added else None
    if first is None or not all(line.key for line in added):
        return []
    depth = len(first.indent)
    starts = [at for at, line in enumerate(added) if indentation(line.text) <= depth]
    if not all(list_item(added[at].text) for at in starts):
        return []
    return [added[start:end] for start, end in zip(starts, [*starts[1:], len(added)], strict=True)]


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in lines)
