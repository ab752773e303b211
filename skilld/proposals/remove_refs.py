"""Deletes skilld's branches and refs in a repository, for `skilld uninstall`: what is the person's stays."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from skilld.git import objects, refs, state
from skilld.git.objects import OWN_EMAIL, Commit
from skilld.git.repo import Repo, open_repo
from skilld.git.session import shared_git
from skilld.git.staging_branch import PROPOSAL_REFS, SHARE_REFS, STAGING_REF
from skilld.git.state import repo_lock
from skilld.values import value_class

_OWN_REFS = PROPOSAL_REFS.removesuffix("proposals/").rstrip("/")
_SHARE_REFS = SHARE_REFS.rstrip("/")
_HEADS, _REMOTES = "refs/heads/", "refs/remotes/"


@value_class
class RefRemoval:
    """The names of the refs to delete, or of their empty folder. `kept` gives the reason for each branch that stays.

    `pushed` has the remotes and names of copies of our branches, as last fetched: the person pushed them, or let us.
    """

    refs: tuple[str, ...]
    kept: Mapping[str, str]
    folder: str = ""
    pushed: tuple[tuple[str, str], ...] = ()


@shared_git()
def plan_removal(address: Path, shared: Collection[str] = ()) -> RefRemoval:
    """Return what `remove_refs` would do. Raises NotTrackedError if the repository is gone."""
    repo = open_repo(address)
    return _build_plan(repo, _tips(repo), shared)


@shared_git()
def remove_refs(address: Path, shared: Collection[str] = ()) -> RefRemoval:
    """Delete our refs in one transaction and return what was done; `shared` are the commits made for sharing.

    A branch stays if the person is using it, or if commits of their own are only on branches of ours; one for sharing
    also if its newest commit is not ours. Git collects commits without refs. Raises as `plan_removal`, and for locks
    and lost races.
    """
    repo = open_repo(address)
    with repo_lock(repo.common_dir):
        tips = _tips(repo)
        planned = _build_plan(repo, tips, shared)
        refs.move_refs(repo.git, repo.common_dir, [refs.RefChange(name, None, tips[name]) for name in planned.refs])
        _remove_empty_folders(repo.common_dir)
    return planned


def _remove_empty_folders(git_dir: Path) -> None:
    """Remove the folders of our refs and of their logs, which git leaves behind, if they are empty."""
    for top in (git_dir / _OWN_REFS, git_dir / "logs" / _OWN_REFS):
        for folder, _, _ in () if top.is_symlink() else os.walk(top, topdown=False):
            with suppress(OSError):  # not empty, or not ours to remove
                Path(folder).rmdir()


def _tips(repo: Repo) -> dict[str, str]:
    return refs.read_tips(repo.git, [STAGING_REF, _OWN_REFS, _SHARE_REFS])


def _build_plan(repo: Repo, tips: Mapping[str, str], shared: Collection[str]) -> RefRemoval:
    branches = [name for name in tips if name == STAGING_REF or name.startswith(SHARE_REFS)]
    kept = {name: why for name in branches if (why := _reason_to_keep(repo, name, tips[name], shared))}
    gone = tuple(name for name in tips if name not in kept)
    folder = _OWN_REFS if not gone and (repo.common_dir / _OWN_REFS).is_dir() else ""
    return RefRemoval(gone, kept, folder, tuple(_pushed(repo)))


def _pushed(repo: Repo) -> Iterator[tuple[str, str]]:
    ours = "/" + STAGING_REF.removeprefix(_HEADS), "/" + SHARE_REFS.removeprefix(_HEADS)
    for ref in refs.read_tips(repo.git, [_REMOTES.rstrip("/")]):
        name = ref.removeprefix(_REMOTES)
        if name.endswith(ours[0]) or ours[1] in name:
            remote, _, rest = name.partition("/skilld/")
            yield remote, f"skilld/{rest}"


def _reason_to_keep(repo: Repo, ref: str, tip: str, shared: Collection[str]) -> str | None:
    holder = state.branch_holder(repo.common_dir, ref)
    if holder is not None:
        return f"it is {holder}"
    ours = (STAGING_REF, f"{_OWN_REFS}/*", f"{_SHARE_REFS}/*")
    others = "--not", *(f"--exclude={name}" for name in ours), "--all"
    alone = repo.git.run("rev-list", tip, *others).decode().split()
    newest = [tip] if ref != STAGING_REF else []  # an empty staging branch points to a commit of the person's
    for commit in objects.read_commits(repo.git, [*newest, *alone]):
        if commit is None or not _is_own_commit(commit, shared):
            return f"it contains a commit of yours: {commit.subject if commit is not None else 'unreadable'}"
    return None


def _is_own_commit(commit: Commit, shared: Collection[str]) -> bool:
    return commit.oid in shared or commit.committer.email == OWN_EMAIL
