"""Proposals that no batch of turns led to: put on the staging branch, and kept like any other."""

from __future__ import annotations

import time

from skilld.daemon.results import follow
from skilld.errors import SkilldError
from skilld.store import Store
from skilld.types import Proposal, State
from skilld.worker.staged import Staged
from skilld.worker.staging import stage


def propose(store: Store, proposal: Proposal) -> Proposal:
    """Stage a new proposal and return it as it is kept. Raises SkilldError where that cannot be; nothing is kept then.

    GIT_* variables must be out of the environment.
    """
    staged = Staged()
    standing = store.proposals.in_states([State.OPEN])
    if not stage(proposal, standing, staged, store.proposals.closed_ids()):
        raise SkilldError("It was not proposed", "the skill, or an open proposal, says it already")
    (made,) = staged.made
    with store.transaction():
        store.proposals.add(made)
        follow(store, staged.changes(), time.time())
    return made
