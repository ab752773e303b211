"""A proposal's edit as a function of bytes, refitted to a version of the skill that was edited since."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise

from skilld.edit.insertion_point import merge_into_heading
from skilld.edit.operations import apply
from skilld.edit.refit import NoPlaceError, refit, refit_in_section
from skilld.errors import SkilldError
from skilld.git.line_diff import transplant, undo
from skilld.types import BODY_OPS, Op, Operation, Proposal

MOVED_NOTE = "moved to the end of its section, because the lines around it were edited"
REMADE_NOTE = "regenerated because you edited the lines it was based on"


def fit_edit(
    edit: Callable[[bytes, bytes, bytes], bytes],
    before: bytes,
    after: bytes,
    current: bytes,
    base: Callable[[], bytes | None],
) -> bytes:
    """Return `current` with `edit`, or with the change at its place in `base` if that fails. Raises SkilldError.

    `base` returns the version below all proposals: the lines around a change may be those of other open ones.
    """
    try:
        return edit(before, after, current)
    except SkilldError:
        common = base()
        if common is None or common == before:
            raise
    return transplant(before, after, common, current)


def step_texts(before: bytes, operations: Sequence[Operation]) -> list[bytes]:
    """Return the text before the operations, and after each of them. Raises as `apply` does."""
    texts = [before]
    for operation in operations:
        texts.append(apply(texts[-1], [operation], limited=False))
    return texts


def side_edits(proposal: Proposal) -> dict[str, Callable[[bytes], bytes]]:
    """Return a proposal's edits of further files, by their paths in its repository."""
    return {one.relpath: partial(apply, operations=one.operations) for one in proposal.also}


def _apply_operations(data: bytes, operations: Sequence[Operation]) -> bytes:
    """Return `data` after the operations, without repeating a heading that another proposal already added."""
    if not _adds_heading(operations):
        return apply(data, operations)
    now, steps = data, list[Operation]()
    for operation in operations:
        mine = merge_into_heading(now, operation)
        now = apply(now, mine, limited=False)
        steps += mine
    return apply(data, steps)


def _adds_heading(operations: Sequence[Operation]) -> bool:
    return any(one.op is Op.INSERT_AFTER and one.text.lstrip("\n").startswith("#") for one in operations)


class Edit:
    """The edit of one proposal.

    `operations` are replaced when the `original` ones no longer make the edit; `note` is then a remark for the person,
    empty if the place is certain.
    """

    def __init__(self, proposal: Proposal) -> None:
        self.original = proposal.operations
        self.operations = proposal.operations
        self.note = ""

    def __call__(self, data: bytes) -> bytes:
        """Return the edited bytes. Raises SkilldError if an anchor is gone."""
        return _apply_operations(data, self.operations)

    def refit_exactly(self, before: bytes, after: bytes, current: bytes, *, newest: bool = False) -> bytes:
        """Return `current` with the change from `before` to `after` at its certain place. Raises SkilldError if none.

        `newest` is as in `refit`.
        """
        if any(operation.op not in BODY_OPS for operation in self.operations):
            return self(current)
        try:
            operations = self._refit_each(before, after, current, newest=newest)
        except NoPlaceError:
            if not _adds_heading(self.operations):
                raise
            return self(current)  # it was below a heading of another proposal, which is gone
        return self._adopt(operations, current, "")

    def _refit_each(self, before: bytes, after: bytes, current: bytes, *, newest: bool) -> list[Operation]:
        """Refit each operation separately: together, neighbours would become a single part."""
        with suppress(SkilldError):
            texts = [after]
            for old, new in reversed([*pairwise(step_texts(before, self.original))]):
                texts.append(undo(old, new, texts[-1]))  # the commit may place them elsewhere than their anchors do
            if len(self.original) > 1 and texts[-1] == before:
                made, now = list[Operation](), current
                for old, new in pairwise(reversed(texts)):
                    some = refit(old, new, now, newest=newest)
                    made, now = [*made, *some], apply(now, some, limited=False) if some else now
                return made
        return refit(before, after, current, newest=newest)

    def refit_loosely(self, before: bytes, after: bytes, current: bytes) -> bytes:
        """Return what `refit_exactly` does, or add the lines at the end of their section. Raises SkilldError."""
        try:
            return self.refit_exactly(before, after, current)
        except NoPlaceError as uncertain:
            try:
                operations = refit_in_section(before, after, current)
            except NoPlaceError:
                raise uncertain from None
            return self._adopt(operations, current, MOVED_NOTE)

    def _adopt(self, operations: Sequence[Operation], current: bytes, note: str) -> bytes:
        if not operations:
            return current
        done = _apply_operations(current, operations)
        try:
            is_same = self(current) == done
        except SkilldError:
            is_same = False
        if not is_same:
            self.operations, self.note = tuple(operations), note
        return done
