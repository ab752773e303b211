"""`skilld accept`, `skilld reject` and `skilld revert`: your decision, carried out with git."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common
from skilld.cli.proposals import refresh
from skilld.errors import RefusedError, SkilldError, UsageError

if TYPE_CHECKING:
    from skilld.store import Store
    from skilld.types import Proposal, State


@dataclass(frozen=True)
class _Decision:
    """From which states it may be made, to which it leads, how it is carried out (giving a commit), and why."""

    allowed: set[State]
    after: State
    carry_out: Callable[[Proposal], str]
    why: str = ""


def add(verbs: common.Verbs) -> None:
    """Add the three verbs."""
    parser = common.verb(verbs, "accept", accept, "take proposals into the branch that is checked out")
    parser.add_argument("ids", metavar="ID", nargs="*")
    parser.add_argument("--all", action="store_true", help="every open proposal, oldest first")
    parser.add_argument("--worktree", action="store_true", help="only write the file, commit nothing")
    parser = common.verb(verbs, "reject", reject, "drop proposals; the same is not proposed again")
    parser.add_argument("ids", metavar="ID", nargs="+")
    parser.add_argument("--why", metavar="TEXT", default="", help="kept with the decision")
    parser = common.verb(verbs, "revert", revert, "take accepted proposals out again")
    parser.add_argument("ids", metavar="ID", nargs="+")


def accept(arguments: argparse.Namespace) -> int:
    """Accept."""
    from skilld.decide.accept import accept, accept_worktree
    from skilld.types import State
    from skilld.worker.staging import applier, private_repositories

    removed = begin()
    store = common.store()
    refresh(store)
    if bool(arguments.ids) == arguments.all:
        raise UsageError("Which ones?", "give their ids, or --all", "List them: skilld proposals")
    chosen = store.proposals.in_states([State.OPEN]) if arguments.all else _named(store, arguments.ids)

    def land(proposal: Proposal) -> str:
        if arguments.worktree:
            accept_worktree(proposal, applier(proposal))
            return ""
        if not proposal.commit:
            raise RefusedError("Not accepted", f"{proposal.id} {proposal.note}", "Or only write the file: --worktree")
        return accept(proposal, applier(proposal), removed, private_repositories()).commit

    return _each(store, chosen, _Decision({State.OPEN, State.REJECTED, State.STALE}, State.ACCEPTED, land))


def reject(arguments: argparse.Namespace) -> int:
    """Reject."""
    from skilld.types import State

    begin()
    store = common.store()
    refresh(store)
    decision = _Decision({State.OPEN}, State.REJECTED, lambda _: "", common.as_text(arguments.why))
    return _each(store, _named(store, arguments.ids), decision)


def revert(arguments: argparse.Namespace) -> int:
    """Revert."""
    from skilld.decide.revert import revert
    from skilld.types import State
    from skilld.worker.staging import private_repositories

    removed = begin()
    store = common.store()
    refresh(store)

    def undo(proposal: Proposal) -> str:
        return revert(proposal, removed, private_repositories()).commit

    return _each(store, _named(store, arguments.ids), _Decision({State.ACCEPTED}, State.REVERTED, undo))


def begin() -> dict[str, str]:
    """Refuse an agent that decides on its own proposals; return what was taken out of the environment for git."""
    from skilld.decide.guard import refuse_agent
    from skilld.git.environment import scrub_environment

    allowed = common.settings().accept.by_agents
    refuse_agent(os.environ, stdin_is_tty=sys.stdin.isatty(), allowed=allowed)
    return scrub_environment()


def _named(store: Store, ids: list[str]) -> list[Proposal]:
    return [common.the_proposal(store, given) for given in ids]


def _each(store: Store, chosen: list[Proposal], decision: _Decision) -> int:
    """Carry a decision out for each proposal, one by one; one that fails keeps none of the others from it.

    Returns 0, or the exit code of the first failure; a single failure is raised.
    """
    code = 0
    for proposal in chosen:
        try:
            # As it is now: deciding on another may have moved it.
            _one(store, store.proposals.get(proposal.id) or proposal, decision)
        except SkilldError as error:
            if len(chosen) == 1:
                raise
            code = code or error.code
            remedy = f"\n  {console.plain(error.remedy)}" if error.remedy else ""
            sys.stderr.write(f"skilld: {proposal.id}: {console.plain(str(error))}{remedy}\n")
    if not chosen:
        console.line("Nothing is open.")
    return code


def _one(store: Store, proposal: Proposal, decision: _Decision) -> None:
    from skilld.times import rfc3339

    after = decision.after
    if proposal.state is after:
        console.line(f"{proposal.id} was {after.value} already.")
        return
    if proposal.state not in decision.allowed:
        raise SkilldError(f"{proposal.id} was not {after.value}", f"it is {proposal.state.value}")
    commit = decision.carry_out(proposal)
    with store.transaction():
        now = rfc3339(time.time())
        store.proposals.decide(proposal, after, now, who="command", why=decision.why, commit=commit)
    console.line(f"{proposal.id} {after.value}: {console.plain(proposal.summary)}")
    if proposal.repo:
        _remake(store, proposal.repo)


def _remake(store: Store, repo: str) -> None:
    """Make the staging branch of a repository again from what is still open."""
    from skilld.daemon.results import follow
    from skilld.types import State
    from skilld.worker.staging import Staged, restage

    staged = Staged()
    try:
        held = restage(repo, store.proposals.in_states([State.OPEN], repo), staged, store.proposals.closed_ids())
    except SkilldError as error:
        sys.stderr.write(f"skilld: the staging branch was left as it is: {console.plain(str(error))}\n")
        return
    with store.transaction():
        follow(store, staged.changes(), time.time())
    for name, _, state, _, note in staged.decisions:
        console.line(f"{name} is {state} now: {console.plain(note)}")
    if held:
        console.line(f"The staging branch was left as it is: {console.plain(held)}")
