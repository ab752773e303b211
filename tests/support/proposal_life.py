"""Proposals in a person's repository and a store: made, decided by command, and observed after plain git."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from skilld.proposals.amend import stage_and_store
from skilld.proposals.decide import Decision, DecisionReport, accepting, decide, rejecting, reverting
from skilld.proposals.poll import refresh
from skilld.proposals.undo_accept import undo_accept
from skilld.store import Store
from skilld.types import Evidence, Kind, Op, Operation, Proposal, State
from support.kept_steps import KeptSteps
from support.proposals import get_proposal, make_proposal
from support.repos import AT, Person

T = TypeVar("T")
DRY = "- Dry run first."  # what `offer` proposes, below "- Run the tests."


def make_edit(person: Person, name: str, *operations: Operation, path: Path | None = None, **other: Any) -> Proposal:
    """Return a proposal of operations on the person's skill, or on another file."""
    fields = {
        "id": name,
        "batch_id": f"batch-{name}",
        "skill": (path or person.skill).parent.name,
        "path": str(path or person.skill),
        "operations": operations,
        "summary": f"say {name}",
        "kind": Kind.PREFERENCE,
        "evidence": (Evidence("agent:1", f"always {name}"),),
        "created_at": AT,
    }
    return make_proposal(**(fields | other))


def states(store: Store) -> dict[str, str]:
    """Read git as the daemon does, and return the state of every proposal."""
    refresh(store)
    return {proposal.id: proposal.state.value for proposal in store.proposals.in_states([*State])}


@dataclass(frozen=True)
class ProposalLife:
    """skilld and a person in one repository; every call with a name is about the proposal with this ID."""

    person: Person
    store: Store
    kept: KeptSteps | None = None

    def _do(self, act: Callable[[], T], *step: object) -> T:
        return self.kept.do(repr(step), act) if self.kept else act()

    def commit(self, message: str, files: Mapping[str, str]) -> None:
        """Make the person commit files, as a step with which several tests begin."""
        self._do(partial(self.person.commit, message, files), "commit", message, files)

    def offer(self, name: str = "p1", anchor: str = "- Run the tests.", text: str = DRY) -> None:
        """Propose to insert a text below an anchor of the skill."""
        self.propose(name, Operation(Op.INSERT_AFTER, anchor, text))

    def propose(self, name: str, *operations: Operation, path: Path | None = None, **other: Any) -> Proposal:
        """Propose operations on the skill, or on another file."""
        edit = make_edit(self.person, name, *operations, path=path, **other)
        return self._do(partial(stage_and_store, self.store, edit), "propose", edit)

    def hub(self) -> Person:
        """Give the repository a remote, push, and return a colleague with a clone of it."""
        self.person.git("init", "--quiet", "--bare", "../hub.git")
        self.person.git("remote", "add", "origin", "../hub.git")
        self.person.git("push", "--quiet", "--set-upstream", "origin", "main")
        self.person.git("clone", "--quiet", "../hub.git", "../other")
        return Person(self.person.root.parent / "other")

    def get(self, name: str = "p1") -> Proposal:
        """Return it as it is stored."""
        return get_proposal(self.store, name)

    def observe(self, name: str = "p1") -> tuple[str, str]:
        """Read git as the daemon does and return the state and the note."""
        self.observe_all()
        return self.get(name).state.value, self.get(name).note

    def observe_all(self) -> None:
        """Read git as the daemon does, and once more if that changed anything; otherwise both looks are the same."""
        self.kept.look(self._observe_all) if self.kept else self._observe_all()

    def _observe_all(self) -> None:
        before = self.store.proposals.all()
        refresh(self.store)
        first = self.store.proposals.all()
        if first != before:
            refresh(self.store)
            again = [(one.id, one.state, one.note) for one in self.store.proposals.all()]
            assert again == [(one.id, one.state, one.note) for one in first], "nothing has happened in between"

    def accept(self, name: str = "p1", *, worktree: bool = False) -> DecisionReport:
        return self._do(
            lambda: decide(self.store, self.get(name), accepting(worktree=worktree)), "accept", name, worktree
        )

    def reject(self, name: str = "p1") -> DecisionReport:
        return self._decide(rejecting(), "reject", name)

    def _decide(self, decision: Decision, verb: str, name: str, *how: object) -> DecisionReport:
        return self._do(lambda: decide(self.store, self.get(name), decision), verb, name, *how)

    def revert(self, name: str = "p1") -> DecisionReport:
        return decide(self.store, self.get(name), reverting())

    def undo(self, name: str = "p1") -> DecisionReport:
        """Undo its acceptance, as `u` in `skilld review` does."""
        return undo_accept(self.store, self.get(name))
