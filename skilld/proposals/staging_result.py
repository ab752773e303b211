"""What came of staging. Without git, so that a batch of which nothing comes loads none of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from skilld.types import Proposal, State

if TYPE_CHECKING:
    from skilld.proposals.fitted import Edit
    from skilld.proposals.model import Line


@dataclass
class Staged:
    """What came of staging, as the store is told it.

    `made` are the proposals that are new. Of others, `moved` has (id, commit, base) of those that became another
    commit, `refitted` (id, operations, note) of those whose edit is made by other operations now, `decisions` (id,
    state before, state after, commit, note) of those that came to an end. `rests` has the warning about each
    repository's base by its address, empty where there is nothing to warn of. `applied` has (id, commit) of those that
    auto mode applied, `remade` open proposals that were made anew from what was said, `homes` the common git directory
    of a linked work tree by its address. With `by_code` an edit that lost its place is made anew by code at once where
    that can be; without, it is left to a job that asks a model.
    """

    made: list[Proposal] = field(default_factory=list)
    applied: list[list[str]] = field(default_factory=list)
    remade: list[Proposal] = field(default_factory=list)
    moved: list[list[str]] = field(default_factory=list)
    refitted: list[list[Any]] = field(default_factory=list)
    decisions: list[list[str]] = field(default_factory=list)
    rests: dict[str, str] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    by_code: bool = True

    def follow(self, repo: str, line: Line, edits: Mapping[str, Edit]) -> None:
        """Take in what became of the open proposals, and their edits, when the staging branch was written."""
        base = line.rest.commit if line.rest else ""
        self.rests[repo] = line.rest.warning if line.rest else ""
        moved = dict(line.moved)
        own = [made.id for made in self.made if made.id in moved]
        for name, edit in edits.items():
            if name in moved and edit.operations != edit.given and name not in own:
                self.refitted.append([name, [asdict(operation) for operation in edit.operations], edit.note])
        self.made = [
            _moved(made, moved.pop(made.id), base, edits.get(made.id)) if made.id in own else made for made in self.made
        ]
        self.moved += [[name, commit, base] for name, commit in moved.items()]
        for name, why in line.stale.items():
            self._end(name, State.STALE, why)
        for name in line.present:
            self._end(name, State.ACCEPTED, "the skill says it by now")
        for name in line.doubled:
            self._end(name, State.SUPERSEDED, "another proposal says it")

    def change(self, proposal: Proposal) -> None:
        """Put a proposal in the place of the one made with its id."""
        self.made = [proposal if made.id == proposal.id else made for made in self.made]

    def take_over(self, other: Staged) -> None:
        """Take in what came of staging proposals anew that were open already."""
        new = {made.id for made in self.made}
        moved = {name: (commit, base) for name, commit, base in other.moved if name in new}
        for name, (commit, base) in moved.items():
            made = next(one for one in self.made if one.id == name)
            self.change(replace(made, commit=commit, base=base))
        self.moved += [row for row in other.moved if row[0] not in new]
        self.refitted += other.refitted
        self.decisions += other.decisions
        self.rests |= other.rests
        self.homes |= other.homes
        self.remade += other.made

    def _end(self, name: str, after: State, note: str) -> None:
        self.decisions.append([name, State.OPEN.value, after.value, "", note])

    def changes(self) -> dict[str, Any]:
        """Return all of it but what was made, as part of a job's result."""
        return {
            "remade": [asdict(proposal) for proposal in self.remade],
            "moved": self.moved,
            "refitted": self.refitted,
            "decisions": self.decisions,
            "rests": self.rests,
            "applied": self.applied,
            "homes": self.homes,
        }


def _moved(made: Proposal, commit: str, base: str, edit: Edit | None) -> Proposal:
    operations = tuple(edit.operations) if edit is not None else made.operations
    note = edit.note if edit is not None and edit.note else made.note
    return replace(made, commit=commit, base=base, operations=operations, note=note)
