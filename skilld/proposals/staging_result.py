"""The result of staging. Does not import git, so that a batch without proposals does not load it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from skilld.proposals.model import FOUND_NOTES
from skilld.types import AutoApply, Changes, CommitChange, EditChange, Proposal, State, StateChange

if TYPE_CHECKING:
    from skilld.proposals.model import StagingState
    from skilld.proposals.refit import Edit


@dataclass
class StagingResult:
    """The result of staging so far: `made` are the new proposals, most other fields are as in `Changes`.

    With `by_code`, an edit that lost its place is remade by code at once if possible; without, a job asks a model.
    `most_tokens` is the person's own limit for a file, 0 for none.
    """

    made: list[Proposal] = field(default_factory=list)
    applied: list[AutoApply] = field(default_factory=list)
    remade: list[Proposal] = field(default_factory=list)
    moved: list[CommitChange] = field(default_factory=list)
    refitted: list[EditChange] = field(default_factory=list)
    decisions: list[StateChange] = field(default_factory=list)
    rests: dict[str, str] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    by_code: bool = True
    most_tokens: int = 0

    def add_rebuild(self, repo: str, line: StagingState, edits: Mapping[str, Edit]) -> None:
        """Add what became of the open proposals and their edits when the staging branch was written."""
        base, self.rests[repo] = line.base, line.base_info.warning if line.base_info else ""
        moved = dict(line.moved)
        own = [made.id for made in self.made if made.id in moved]
        for name, edit in edits.items():
            if name in moved and edit.has_changed and name not in own:
                self.refitted.append(EditChange(name, tuple(edit.operations), edit.note, edit.flags))
        self.made = [
            _with_commit(made, moved.pop(made.id), base, edits.get(made.id)) if made.id in own else made
            for made in self.made
        ]
        self.moved += [CommitChange(name, commit, base) for name, commit in moved.items()]
        for name, why in line.stale.items():
            self._add_ended(name, State.STALE, why)
        for name in line.already_said:
            self._add_ended(name, State.ACCEPTED, FOUND_NOTES[0])
        for name in line.superseded:
            self._add_ended(name, State.SUPERSEDED, "another proposal already says this")

    def change(self, proposal: Proposal) -> None:
        """Replace the new proposal with the same ID."""
        self.made = [proposal if made.id == proposal.id else made for made in self.made]

    def add_restaged(self, other: StagingResult) -> None:
        """Add the result of staging proposals again that were already open."""
        new = {made.id: made for made in self.made}
        for moved in (one for one in other.moved if one.proposal in new):
            self.change(replace(new[moved.proposal], commit=moved.commit, base=moved.base))
        self.add_outcome(
            replace(other, moved=[one for one in other.moved if one.proposal not in new], remade=other.made)
        )

    def add_outcome(self, other: StagingResult) -> None:
        """Add what became of open proposals in another staging, but none of its new proposals."""
        self.moved += other.moved
        self.refitted += other.refitted
        self.decisions += other.decisions
        self.remade += other.remade
        self.rests |= other.rests
        self.homes |= other.homes

    def _add_ended(self, name: str, after: State, note: str) -> None:
        self.decisions.append(StateChange(name, State.OPEN, after, note=note))

    def changes(self) -> Changes:
        """Return everything but the new proposals."""
        return Changes(
            moved=tuple(self.moved),
            refitted=tuple(self.refitted),
            decisions=tuple(self.decisions),
            applied=tuple(self.applied),
            remade=tuple(self.remade),
            rests=self.rests,
            homes=self.homes,
        )


def _with_commit(made: Proposal, commit: str, base: str, edit: Edit | None) -> Proposal:
    operations = tuple(edit.operations) if edit is not None else made.operations
    note = edit.note if edit is not None and edit.note else made.note
    return replace(made, commit=commit, base=base, operations=operations, note=note)
