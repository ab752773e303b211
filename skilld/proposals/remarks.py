"""What a person should know about where a proposal stands: which branch has it, and whether it was dropped from it."""

from __future__ import annotations

import math

from skilld.decide.settle import PATIENCE
from skilld.store import Store
from skilld.store.meta import RESTS_ON
from skilld.text import counted
from skilld.times import seconds
from skilld.types import STAGING_BRANCH, Proposal, State

_HOUR = 3600


def on_staging(proposal: Proposal) -> bool:
    """Whether an open proposal stands on the staging branch, as of the last look."""
    return (
        proposal.state is State.OPEN
        and bool(proposal.commit)
        and proposal.branch.removeprefix("refs/heads/") == STAGING_BRANCH
    )


def standing(store: Store, proposal: Proposal, now: float) -> str:
    """Return a sentence about where a proposal stands at a Unix time; empty where there is nothing to mind."""
    if proposal.state is State.DROPPED:
        left = counted(hours_left(store, proposal, now), "hour")
        ways = f"`skilld reject {proposal.id}` now, or `skilld restore {proposal.id}` to have it back"
        return f"dropped, final in {left}: {ways}"
    if proposal.state is State.OPEN and proposal.commit and not on_staging(proposal):
        return f"only on {proposal.branch}" if proposal.branch else ""
    return rests_on(store, proposal)


def hours_left(store: Store, proposal: Proposal, now: float) -> int:
    """Return the hours, rounded up, until a dropped proposal counts as rejected; at least 1: a look makes it final."""
    since = seconds(store.proposals.missing_since(proposal.id))
    left = PATIENCE if since is None else since + PATIENCE - now
    return math.ceil(min(max(left, 1), PATIENCE) / _HOUR)


def rests_on(store: Store, proposal: Proposal) -> str:
    """Return what merging the staging branch would bring besides an open proposal; empty: nothing."""
    return str(store.meta.get(RESTS_ON, {}).get(proposal.repo, "")) if on_staging(proposal) else ""
