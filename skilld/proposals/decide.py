"""Accepts, rejects or reverts one proposal: git first, then the store, then the staging branch is rebuilt.

The outcome is sentences for the person; whoever shows them makes them harmless for a terminal.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from skilld.clock import rfc3339
from skilld.errors import RefusedError, SkilldError
from skilld.files import in_shell
from skilld.git.line_diff import gone
from skilld.git.managed_repos import open_any
from skilld.git.run import one_command
from skilld.proposals.cherry_pick import accept as land
from skilld.proposals.cherry_pick import accept_worktree
from skilld.proposals.cherry_pick import revert as take_out
from skilld.proposals.explain import versions
from skilld.proposals.model import WRITTEN, DecisionCommit, Way, without_remark
from skilld.proposals.refit import Edit
from skilld.proposals.remarks import being_made_anew, instead, rest, waiting_with
from skilld.proposals.results import follow, staging_for
from skilld.proposals.staging import private_repositories, restage
from skilld.store import Store
from skilld.store.proposals import OTHER_MACHINE
from skilld.types import Proposal, State

_ACCEPTABLE = frozenset({State.OPEN, State.DROPPED, State.REJECTED, State.REVERTED, State.STALE})


@dataclass(frozen=True, slots=True)
class DecisionReport:
    """What came of a decision: sentences, and warnings about what was left as it was."""

    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def undone_by(self, key: str) -> DecisionReport:
        """Return the same for a place where a key undoes the decision, and no command has to be typed."""
        told = f"To undo it: {key}"
        return replace(self, lines=tuple(_WAY_BACK.sub(lambda _: told, line) for line in self.lines))


@dataclass(frozen=True, slots=True)
class Decision:
    """From which states it may be made, to which it leads, how it is carried out, and why."""

    allowed: frozenset[State]
    after: State
    carry_out: Callable[[Proposal], DecisionCommit | None]
    why: str = ""


def accepting(removed: Mapping[str, str], *, worktree: bool = False) -> Decision:
    """Return the decision to take a proposal into the branch that is checked out, or only into the file."""

    def carry_out(proposal: Proposal) -> DecisionCommit | None:
        edit = Edit(proposal)
        if worktree:
            found = versions(proposal) if proposal.commit else None
            accept_worktree(proposal, partial(edit.certain, *found) if found is not None else edit)
            return None
        if not proposal.commit:
            raise RefusedError(
                f"{proposal.id} was not accepted",
                proposal.note,
                f"To write the file without committing: skilld accept --worktree {proposal.id}",
            )
        return land(proposal, edit, removed, private_repositories(), edit.certain)

    return Decision(_ACCEPTABLE, State.ACCEPTED, carry_out)


def rejecting(why: str = "") -> Decision:
    """Return the decision to drop a proposal."""
    return Decision(frozenset({State.OPEN, State.DROPPED}), State.REJECTED, lambda _: None, why)


def reverting(removed: Mapping[str, str]) -> Decision:
    """Return the decision to take an accepted proposal out again."""

    def carry_out(proposal: Proposal) -> DecisionCommit:
        return take_out(proposal, removed, private_repositories())

    return Decision(frozenset({State.ACCEPTED}), State.REVERTED, carry_out)


@one_command()
def decide(store: Store, proposal: Proposal, decision: Decision) -> DecisionReport:
    """Carry a decision out, write it down and make the staging branch again.

    Raises SkilldError, with the proposal and the person's work as they were, where that cannot be.
    """
    after = decision.after
    if proposal.state is after and not _is_to_do(store, proposal):
        also = rest(store, proposal)
        return _and_rebuilt(store, proposal, f"{proposal.id} was already {after.value}{also and '; '}{also}.")
    if proposal.state not in {*decision.allowed, after}:
        why = instead(store, proposal, after.value.removesuffix("ed"), decision.allowed)
        raise SkilldError(f"{proposal.id} was not {after.value}", *why)
    try:
        landed = decision.carry_out(proposal)
    except SkilldError as error:
        # The person may have edited the skill since the branch was made: it is made again, and the edit with it.
        fresh = _made_again(store, proposal)
        if fresh is not None:
            return decide(store, fresh, decision)
        anew = being_made_anew(store, proposal) if proposal.state is State.STALE else ""
        if not (anew and isinstance(error, RefusedError)):
            raise
        remedy = f"Wait until it is open again, or edit the file yourself; to see the change: skilld show {proposal.id}"
        raise RefusedError(error.title, f"{error.cause}; {anew}", remedy) from error
    rejected = _after_all(store, proposal, after)
    with store.transaction():
        now = rfc3339(time.time())
        note = WRITTEN if after is State.ACCEPTED and landed is None else ""
        commit = landed.commit if landed else ""
        store.proposals.decide(
            without_remark(proposal), after, now, who="command", why=decision.why, commit=commit, note=note
        )
    said = f"{proposal.id} {after.value}: {proposal.summary}", _outcome(proposal, after, landed)
    told = _and_rebuilt(store, proposal, *filter(None, said))
    waits = tuple(
        f"{other.id}, which is linked to it and changes {other.path}, is still open"
        for other in waiting_with(store, proposal)
    )
    return DecisionReport((*rejected, *told.lines, *waits), told.warnings)


def _after_all(store: Store, proposal: Proposal, after: State) -> list[str]:
    """Return a line if the person had rejected what is accepted now: the ID may be that of a rejected part."""
    if proposal.state is not State.REJECTED or after is not State.ACCEPTED:
        return []
    why, also = store.proposals.decision_reason(proposal.id), rest(store, proposal)
    because = f" ({why})" if why else ""
    return [f"You had rejected {proposal.id}{because}; accepting it now{also and '; '}{also}."]


def _made_again(store: Store, proposal: Proposal) -> Proposal | None:
    """Return an open proposal as it is on the branch made again; None if that is no other than before."""
    if proposal.state is not State.OPEN or not proposal.repo:
        return None
    rebuild_branch(store, proposal.repo)
    fresh = store.proposals.get(proposal.id)
    return fresh if fresh != proposal else None


def _outcome(proposal: Proposal, after: State, landed: DecisionCommit | None) -> str:
    """Return which commit carried a decision out, on which branch, and the way back; nothing if it only moved."""
    if after is State.SUPERSEDED:
        return ""
    back = f"To undo it: skilld {_BACK[after]} {proposal.id}"
    if after is State.REJECTED:
        return back
    if landed is None:
        return f"Written to {proposal.path}, not committed."
    if landed.way is Way.NOTHING:
        return f"No commit was needed: {proposal.relpath} already says this. {back}"
    branch = (open_any(Path(proposal.repo), private_repositories()).branch or "").removeprefix("refs/heads/")
    return f"Commit {landed.commit[:10]}{f' on {branch}' if branch else ''}{_elsewhere(proposal)}. {back}"


def _elsewhere(proposal: Proposal) -> str:
    """Return where a decision was carried out, if not in the repository that the person is in."""
    top = Path(proposal.path.removesuffix(f"/{proposal.relpath}"))
    if Path(proposal.repo).parent == private_repositories():
        return f" in the repository that skilld keeps for {top} (to see it: skilld git --root {in_shell(top)} log)"
    try:
        return "" if Path.cwd().is_relative_to(top) else f" in {top}"
    except FileNotFoundError:
        return f" in {top}"


_BACK = {State.ACCEPTED: "revert", State.REVERTED: "accept", State.REJECTED: "restore"}
_WAY_BACK = re.compile(r"To undo it: skilld (?:revert|restore) \S+")


def _and_rebuilt(store: Store, proposal: Proposal, *said: str) -> DecisionReport:
    if not proposal.repo:
        return DecisionReport(said)
    then = rebuild_branch(store, proposal.repo)
    return DecisionReport((*said, *then.lines), then.warnings)


def _is_to_do(store: Store, proposal: Proposal) -> bool:
    """Whether a decision that was made already is not carried out in the file: there, or not any more."""
    if proposal.state is State.ACCEPTED:
        return is_gone(proposal)
    elsewhere = proposal.state is State.REVERTED and store.proposals.decided_by(proposal.id) == OTHER_MACHINE
    return elsewhere and bool(proposal.landed) and not is_gone(proposal)


def is_gone(proposal: Proposal) -> bool:
    """Whether nothing of an accepted proposal is in the file: the branch was reset, or the file restored."""
    try:
        current = Path(proposal.path).read_bytes()
    except FileNotFoundError:
        current = b""
        if not proposal.creates:
            return False
    except OSError:
        return False
    found = versions(proposal)
    return found is not None and gone(current, *found)


def rebuild_branch(store: Store, repo: str) -> DecisionReport:
    """Make the staging branch of a repository again from what is still open."""
    staged = staging_for(store)
    try:
        held = restage(repo, store.proposals.in_states([State.OPEN], repo), staged, store.proposals.closed_ids())
    except SkilldError as error:
        return DecisionReport(warnings=(f"the staging branch was not updated: {error}",))
    with store.transaction():
        follow(store, staged.changes(), time.time())
    lines = [f"{one.proposal} is now {one.after}: {one.note}" for one in staged.decisions]
    return DecisionReport((*lines, *([f"The staging branch was not updated: {held}"] if held else [])))
