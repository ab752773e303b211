"""The result of staging. Does not import git, so that a batch without proposals does not load it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from skilld.types import AutoApply, Changes, CommitChange, Proposal, State, StateChange

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
    decisions: list[StateChange] = field(default_factory=list)
    rests: dict[str, str] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    by_code: bool = True
    most_tokens: int = 0

    def add_rebuild(self, repo: str, line: StagingState, edits: Mapping[str, Edit]) -> None:
        """Add what became of the open proposals and their edits when the staging branch was written."""
        base, self.rests[repo] = line.base, line.base_info.warning if line.base_info else ""
        for name, commit in line.moved.items():
            change, edit = CommitChange(name, commit, base), edits.get(name)
            if edit is not None and edit.has_changed:
                change = replace(change, operations=tuple(edit.operations), note=edit.note, flags=edit.flags)
            self._add_moved(change)
        self.decisions += [StateChange(name, State.OPEN, after, note=why) for name, (after, why) in line.ended.items()]

    def _add_moved(self, change: CommitChange) -> None:
        """Add the new commit and edit of a proposal; one of the new ones takes them over."""
        own = next((made for made in self.made if made.id == change.proposal), None)
        if own is None:
            self.moved.append(change)
        else:
            self.change(change.apply(own))

    def change(self, proposal: Proposal) -> None:
        """Replace the new proposal with the same ID."""
        self.made = [proposal if made.id == proposal.id else made for made in self.made]

    def add_restaged(self, other: StagingResult) -> None:
        """Add the result of staging proposals again that were already open."""
        for moved in other.moved:
            self._add_moved(moved)
        self.add_outcome(replace(other, moved=[], remade=other.made))

    def add_outcome(self, other: StagingResult) -> None:
        """Add what became of open proposals in another staging, but none of its new proposals."""
        self.moved += other.moved
        self.decisions += other.decisions
        self.remade += other.remade
        self.rests |= other.rests
        self.homes |= other.homes

    def changes(self) -> Changes:
        """Return everything but the new proposals."""
        return Changes(
            moved=tuple(self.moved),
            decisions=tuple(self.decisions),
            applied=tuple(self.applied),
            remade=tuple(self.remade),
            rests=self.rests,
            homes=self.homes,
        )
