"""Takes a proposal to the work tree that the person is in, if it is another work tree of the same repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from skilld.errors import SkilldError
from skilld.git.repo import RepoLocation, locate
from skilld.git.state import git_dirs
from skilld.git.top import find_top
from skilld.store import Store
from skilld.store.meta import COMMON_GIT_DIRS
from skilld.types import Proposal


def in_current_work_tree(proposal: Proposal) -> Proposal:
    """Return a proposal as one of the current folder's work tree, or as it is if that is of another repository."""
    top = nearest_checkout()
    if top in {None, proposal.repo} or _common_dir(top) != _common_dir(proposal.repo):  # git need not be asked
        return proposal
    here = current_location()
    if here is None or str(here.toplevel) == proposal.repo or not shares_repository(here, proposal.repo):
        return proposal
    return replace(proposal, repo=str(here.toplevel), path=str(here.toplevel / proposal.relpath))


def _common_dir(top: str | None) -> str:
    """Return the git directory that a work tree shares with others, as files tell it; empty if there is none."""
    with suppress(OSError, ValueError):
        return os.path.realpath(git_dirs(Path(top or "") / ".git")[1]) if top else ""
    return ""


def nearest_checkout() -> str | None:
    """Return the top of the work tree around the current folder."""
    with suppress(OSError):
        top = find_top(Path.cwd().resolve())
        return None if top is None else str(top)
    return None


def shares_repository(here: RepoLocation | None, repo: str) -> bool:
    """Whether a proposal's `repo` is a work tree of the same repository as `here`."""
    there = _location(repo)
    return here is not None and there is not None and here.common_dir == there.common_dir


def current_location() -> RepoLocation | None:
    """Return the work tree around the current folder; None if there is none that can be used."""
    try:
        return _location(str(Path.cwd().resolve()))
    except OSError:
        return None


def _location(folder: str) -> RepoLocation | None:
    with suppress(SkilldError, OSError):
        return locate(Path(folder)) if folder else None
    return None


def store_work_tree(store: Store, proposal: Proposal) -> None:
    """Store the work tree of a proposal, and which repository that belongs to, for when it is removed."""
    place = _location(proposal.repo)
    with store.transaction():
        store.proposals.set_repo(proposal.id, repo=proposal.repo, path=proposal.path)
        if place is not None and place.git_dir != place.common_dir:
            known = store.meta.get(COMMON_GIT_DIRS, {})
            store.meta.set(COMMON_GIT_DIRS, {**known, proposal.repo: str(place.common_dir)})


@contextmanager
def taken_here(store: Store, proposal: Proposal) -> Iterator[Proposal]:
    """Yield a proposal in the current folder's work tree; after a SkilldError it is back in its own."""
    here = in_current_work_tree(proposal)
    if here.repo == proposal.repo:
        yield proposal
        return
    store_work_tree(store, here)
    try:
        yield here
    except SkilldError:
        store_work_tree(store, proposal)
        raise
