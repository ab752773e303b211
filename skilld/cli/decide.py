"""`skilld accept`, `skilld reject` and `skilld revert`: your decision, carried out with git."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common
from skilld.cli.proposals import refresh
from skilld.errors import SkilldError, UsageError

if TYPE_CHECKING:
    from skilld.store import Store
    from skilld.types import Proposal, State


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
    from skilld.worker.staging import applier

    removed = _begin()
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
            raise SkilldError("Not accepted", proposal.note, "Commit your SKILL.md first, or use --worktree.")
        return accept(proposal, applier(proposal), removed).commit

    return _each(store, chosen, {State.OPEN, State.REJECTED, State.STALE}, State.ACCEPTED, land)


def reject(arguments: argparse.Namespace) -> int:
    """Reject."""
    from skilld.types import State

    _begin()
    store = common.store()
    refresh(store)
    return _each(store, _named(store, arguments.ids), {State.OPEN}, State.REJECTED, lambda _: "", why=arguments.why)


def revert(arguments: argparse.Namespace) -> int:
    """Revert."""
    from skilld.decide.revert import revert
    from skilld.types import State

    removed = _begin()
    store = common.store()
    refresh(store)

    def undo(proposal: Proposal) -> str:
        return revert(proposal, removed).commit

    return _each(store, _named(store, arguments.ids), {State.ACCEPTED}, State.REVERTED, undo)


def _begin() -> dict[str, str]:
    """Refuse an agent that decides on its own proposals; return what was taken out of the environment for git."""
    from skilld.decide.guard import refuse_agent
    from skilld.git.environment import scrub_environment

    allowed = common.settings().accept.by_agents
    refuse_agent(os.environ, stdin_is_tty=sys.stdin.isatty(), allowed=allowed)
    return scrub_environment()


def _named(store: Store, ids: list[str]) -> list[Proposal]:
    return [common.the_proposal(store, given) for given in ids]


def _each(
    store: Store,
    chosen: list[Proposal],
    allowed: set[State],
    after: State,
    carry_out: Callable[[Proposal], str],
    *,
    why: str = "",
) -> int:
    """Carry a decision out for each proposal, one by one; what is done stays done when a later one fails."""
    from skilld.times import rfc3339

    for named in chosen:
        proposal = store.proposals.get(named.id) or named
        if proposal.state is after:
            console.line(f"{proposal.id} was {after.value} already.")
            continue
        if proposal.state not in allowed:
            raise SkilldError(f"{proposal.id} was not {after.value}", f"it is {proposal.state.value}")
        commit = carry_out(proposal)
        with store.transaction():
            now = rfc3339(time.time())
            store.proposals.decide(proposal, after, now, who="command", why=why, commit=commit)
        _remake(store, proposal)
        console.line(f"{proposal.id} {after.value}: {console.plain(proposal.summary)}")
    if not chosen:
        console.line("Nothing is open.")
    return 0


def _remake(store: Store, decided: Proposal) -> None:
    """Make the staging branch again without the decided proposal."""
    from skilld.propose.staging import rebuild
    from skilld.times import rfc3339
    from skilld.types import State
    from skilld.worker.staging import standing_of

    if not decided.repo:
        return
    standing = [p for p in store.proposals.in_states([State.OPEN], decided.repo) if p.commit]
    try:
        line = rebuild(Path(decided.repo), [standing_of(proposal) for proposal in standing], [decided.id])
    except SkilldError as error:
        sys.stderr.write(f"skilld: the staging branch was left as it is: {error}\n")
        return
    with store.transaction():
        for proposal_id, commit in line.moved.items():
            store.proposals.move(proposal_id, commit=commit, base=line.rest.commit if line.rest else "")
        for proposal_id, why in line.stale.items():
            if stale := store.proposals.get(proposal_id):
                store.proposals.decide(stale, State.STALE, rfc3339(time.time()), who="git", note=why)
    if line.held:
        console.line(f"The staging branch was left as it is: {console.plain(line.held)}")
