"""A proposal of several operations, taken apart: each as what it adds and takes away, and any of them alone. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skilld.decide.inverse import undo
from skilld.edit.operations import apply
from skilld.git import lines
from skilld.types import Operation


@dataclass(frozen=True, slots=True)
class Part:
    """What one operation takes away and adds, as lines without endings."""

    removed: tuple[str, ...]
    added: tuple[str, ...]


def parts(before: bytes, operations: Sequence[Operation]) -> list[Part]:
    """Return the parts in order, each against the text the ones before it left. Raises as `apply` does."""
    steps = _steps(before, operations)
    return [_part(old, new) for old, new in pairwise(steps)]


def _part(old: bytes, new: bytes) -> Part:
    hunks = lines.hunks(old, new)
    removed = tuple(line for hunk in hunks for line in hunk.removed if line.strip())
    return Part(removed, tuple(line for hunk in hunks for line in hunk.added if line.strip()))


def only(before: bytes, operations: Sequence[Operation], chosen: Collection[int]) -> bytes:
    """Return the text with the chosen operations (numbers from 0) and without the others.

    The others are taken out of the whole by their lines, since one operation may be anchored on what another added.
    Raises SkilldError where they cannot be told apart.
    """
    steps = _steps(before, operations)
    text = steps[-1]
    for number in reversed(range(len(operations))):
        if number not in chosen:
            text = undo(steps[number], steps[number + 1], text)
    return text


def _steps(before: bytes, operations: Sequence[Operation]) -> list[bytes]:
    """Return the text before, and after each operation."""
    texts = [before]
    for operation in operations:
        texts.append(apply(texts[-1], [operation], limited=False))
    return texts
