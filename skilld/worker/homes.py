"""Proposals of a linked work tree that was removed: its repository is still there, and so are they.

Where a linked work tree belongs is known from when something was staged in it; afterwards nothing tells it any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from skilld.git import state
from skilld.types import Proposal


def at_home(proposal: Proposal, homes: Mapping[str, str]) -> Proposal:
    """Return the proposal as one of another work tree of its repository, where its own is not there any more.

    `homes` has the common git directory of each linked work tree by its address.
    """
    common_dir = homes.get(proposal.repo)
    if common_dir is None or Path(proposal.repo).exists():
        return proposal
    home = next(iter(state.work_trees(Path(common_dir))), None)
    if home is None:
        return proposal
    path = home / Path(proposal.path).relative_to(proposal.repo)
    return replace(proposal, repo=str(home), path=str(path))
