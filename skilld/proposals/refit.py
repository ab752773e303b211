"""A proposal's edit as a function of bytes, refitted to a version of the skill that was edited since."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from skilld.edit.derive_operations import operations_between
from skilld.edit.insertion_point import adds_heading, cut_known_section, merge_into_heading
from skilld.edit.operations import apply
from skilld.edit.refit import NoPlaceError, refit, refit_in_section
from skilld.edit.renumber import without_number
from skilld.errors import SkilldError
from skilld.git.line_diff import split_lines, transplant, undo, undo_lines, without_present
from skilld.text import fold
from skilld.types import BODY_OPS, BY_HEADING_FLAG, Op, Operation, Proposal

MOVED_NOTE = "moved to the end of its section, because the lines around it have changed"
REMADE_NOTE = "regenerated because the lines it was based on have changed"
GONE_NOTE = "regenerated because its file is gone"
_MARKER_PATTERN = re.compile(r"^\s*(?:#{1,6}|[-*+]|\d{1,9}[.)])\s+")


def step_texts(before: bytes, operations: Sequence[Operation]) -> list[bytes]:
    """Return the text before the operations, and after each of them. Raises as `apply` does."""
    texts = [before]
    for operation in operations:
        texts.append(apply(texts[-1], merge_into_heading(texts[-1], operation), limited=False))
    return texts


def separate_parts(
    before: bytes, operations: Sequence[Operation], current: bytes, done: bytes
) -> tuple[Operation, ...]:
    """Return the operations from `current` to `done`, one for each of those that make the same change in `before`.

    Made together, neighbours would become a single part. Returns nothing if the parts cannot be told apart.
    """
    texts = [done]
    try:
        for old, new in reversed([*pairwise(step_texts(before, operations))]):
            texts.append(undo_lines(old, new, texts[-1], without_number))
        if split_lines(texts.pop()) != split_lines(current):
            return ()
        steps = pairwise((current, *reversed(texts)))
        made = [one for old, new in steps for one in operations_between(old, new.decode("utf-8-sig"))]
        return tuple(made) if _apply_operations(current, made) == done else ()
    except (SkilldError, UnicodeDecodeError):
        return ()


def _apply_operations(data: bytes, operations: Sequence[Operation]) -> bytes:
    """Return `data` after the operations, without repeating a heading that another proposal already added."""
    if not adds_section(operations):
        return apply(data, operations)
    now, steps = data, list[Operation]()
    for operation in operations:
        mine = merge_into_heading(now, operation)
        now = apply(now, mine, limited=False)
        steps += mine
    return apply(data, steps)


def has_same_lines(one: bytes, other: bytes) -> bool:
    """Whether two texts differ in the order of their lines at most."""
    return sorted(split_lines(one)) == sorted(split_lines(other))


def adds_section(operations: Sequence[Operation]) -> bool:
    """Whether one of the operations inserts a heading."""
    return any(one.op is Op.INSERT_AFTER and adds_heading(one.text.split("\n")) for one in operations)


class Edit:
    """The edit of one proposal: its operations, and the same change in other versions of the file.

    `operations` are replaced when the proposal's no longer make the edit; `note` is then a remark for the person,
    empty if the place is certain. `flags` has the new form of the flags that name a heading which is gone. `also` has
    the edits of further files, by their paths in the repository. `newest` is as in `refit`.
    """

    def __init__(self, proposal: Proposal, *, newest: bool = False) -> None:
        self.proposal = proposal
        self.operations = proposal.operations
        self.flags: dict[str, str] = {}
        self.note = ""
        self.also = {one.relpath: partial(apply, operations=one.operations) for one in proposal.also}
        self._newest = newest

    @property
    def has_changed(self) -> bool:
        """Whether these are no longer the operations and flags of the proposal."""
        return self.operations != self.proposal.operations or bool(self.flags)

    def new_commit(self, commit: str) -> dict[str, str]:
        """Return the proposal's new commit by its ID; empty if it is the known one."""
        known = self.proposal.commit
        return {self.proposal.id: commit} if known and known != commit else {}

    def __call__(self, data: bytes) -> bytes:
        """Return the edited bytes. Raises SkilldError if an anchor is gone."""
        return _apply_operations(data, self.operations)

    def fits(self, text: bytes) -> bool:
        """Whether its anchors are in a text."""
        try:
            self(text)
        except SkilldError:
            return False
        return True

    def makes(self, before: bytes, after: bytes) -> bool:
        """Whether it makes a text but for the order of its lines, which others may add to."""
        return self.fits(before) and has_same_lines(self(before), after)

    def refit_exactly(self, before: bytes, after: bytes, current: bytes) -> bytes:
        """Return `current` with the change from `before` to `after` at its certain place, or raise SkilldError."""
        self.flags = {flag: BY_HEADING_FLAG for flag in self.proposal.flags if _names_lost_heading(flag, current)}
        if any(operation.op not in BODY_OPS for operation in self.operations):
            return self(current)
        rest = without_present(before, after, current)
        if rest != after and rest == before:
            return current
        after, section = cut_known_section(before, rest, current)
        try:
            operations = refit(before, after, current, newest=self._newest)
        except NoPlaceError:
            if not adds_section(self.operations):
                raise
            return self(current)  # it was below a heading of another proposal, which is gone
        if section is not None:
            now = apply(current, operations, limited=False) if operations else current
            operations += merge_into_heading(now, section)
        return self._adopt(before, operations, current, "")

    def refit_from(self, before: bytes, after: bytes, current: bytes, base: Callable[[], bytes | None]) -> bytes:
        """Return what `refit_exactly` does, or does from an earlier version. Raises SkilldError.

        `base` returns that version, which lacks the lines of other open proposals: those around a change may be gone
        because the person rejected them.
        """
        try:
            return self.refit_exactly(before, after, current)
        except SkilldError:
            common = base()
            if common is None or common == before:
                raise
            return self.refit_exactly(common, transplant(before, after, common, common), current)

    def place(
        self, before: bytes, after: bytes, current: bytes, base: Callable[[], bytes | None], *, amended: bool
    ) -> bytes:
        """Return what `refit_from` does, of a change that the person may have `amended` in git.

        A text of theirs that skilld has not taken over only fits where its neighbours are. Raises SkilldError if it has
        no certain place.
        """
        if amended and not self.makes(before, after):
            return undo(after, before, current)
        return self.refit_from(before, after, current, base)

    def refit_loosely(self, before: bytes, after: bytes, current: bytes) -> bytes:
        """Return what `refit_exactly` does, or add the lines at the end of their section. Raises SkilldError."""
        try:
            return self.refit_exactly(before, after, current)
        except NoPlaceError as uncertain:
            try:
                operations = refit_in_section(before, without_present(before, after, current), current)
            except NoPlaceError:
                raise uncertain from None
            return self._adopt(before, operations, current, MOVED_NOTE)

    def _adopt(self, before: bytes, operations: Sequence[Operation], current: bytes, note: str) -> bytes:
        if not operations:
            return current
        done = _apply_operations(current, operations)
        try:
            is_same = self(current) == done
        except SkilldError:
            is_same = False
        if not is_same:
            parts = separate_parts(before, self.proposal.operations, current, done)
            self.operations, self.note = parts or (*operations,), note
        return done


def _names_lost_heading(flag: str, current: bytes) -> bool:
    """Whether a flag names a heading, step or list introduction that `current` does not have."""
    kind, _, shown = flag.partition(": ")
    if kind != BY_HEADING_FLAG or not shown:
        return False
    texts = [fold(_MARKER_PATTERN.sub("", line)) for line in split_lines(current)]
    if shown.endswith("\u2026"):
        return not any(text.startswith(shown[:-1].rstrip()) for text in texts)
    return shown not in texts
