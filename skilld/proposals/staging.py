"""A proposal that is in no store yet, put on the branch and kept: mined, imported, merged, or a part of one.

The branch is written first: a run that ends between the two finds its commit again by the proposal's id.
"""

from __future__ import annotations

import time
from dataclasses import replace

from skilld.daemon.results import follow
from skilld.errors import SkilldError
from skilld.store import Store
from skilld.types import Proposal, State
from skilld.worker.staged import Staged
from skilld.worker.staging import stage


def put(store: Store, proposal: Proposal) -> Proposal:
    """Stage a proposal, keep it, and return it as it stands now.

    Raises SkilldError where it cannot be, or is said already.
    """
    made, staged = staged_on(store, proposal)
    with store.transaction():
        store.proposals.add(made)
        follow(store, staged.changes(), time.time())
    return made


def staged_on(store: Store, proposal: Proposal, *, restored: bool = False) -> tuple[Proposal, Staged]:
    """Put a proposal on the staging branch, on top of the open ones; what became of those is for the store to follow.

    All open ones are given, since which repository a new skill is in is only known when it is staged. `restored` is as
    in `stage`.
    """
    others = [other for other in store.proposals.in_states([State.OPEN]) if other.id != proposal.id]
    closed = [name for name in store.proposals.closed_ids() if name != proposal.id]
    staged = Staged()
    if not stage(proposal, others, staged, closed, restored=restored):
        raise SkilldError("It was not proposed", "the skill, or an open proposal, says it already")
    (made,) = staged.made
    return replace(made, note=made.note or proposal.note), staged
