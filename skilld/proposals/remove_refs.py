"""Takes skilld's branches and refs out of a repository, for `skilld uninstall`: what is the person's stays."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from skilld.git import objects, refs, state
from skilld.git.objects import EMAIL, Commit
from skilld.git.repo import Repo, open_repo
from skilld.git.run import one_command
from skilld.git.staging_branch import PROPOSALS, SHARES, STAGING
from skilld.git.state import repo_lock

_OWN_REFS = PROPOSALS.removesuffix("proposals/").rstrip("/")
_SHARE_REFS = SHARES.rstrip("/")


@dataclass(frozen=True, slots=True)
class RefRemoval:
    """What goes: the names of the refs. `kept` says of each branch that stays why it does."""

    refs: tuple[str, ...]
    kept: Mapping[str, str]


@one_command()
def plan_removal(address: Path, shared: Collection[str] = ()) -> RefRemoval:
    """Return what `withdraw` would do. Raises NotTrackedError if there is no repository any more."""
    repo = open_repo(address)
    return _build_plan(repo, _tips(repo), shared)


@one_command()
def remove_refs(address: Path, shared: Collection[str] = ()) -> RefRemoval:
    """Delete our refs in one transaction and return what was done; `shared` are the commits made for sharing.

    A branch stays where the person has it in use, or where commits of their own stand on branches of ours alone; one
    for sharing also where its newest commit is not ours. Commits that no ref holds any more are git's to collect.
    Raises as `plan`, and for locks and lost races.
    """
    repo = open_repo(address)
    with repo_lock(repo.common_dir):
        tips = _tips(repo)
        planned = _build_plan(repo, tips, shared)
        refs.move(repo.git, repo.common_dir, [refs.Change(name, None, tips[name]) for name in planned.refs])
    return planned


def _tips(repo: Repo) -> dict[str, str]:
    return refs.tips(repo.git, [STAGING, _OWN_REFS, _SHARE_REFS])


def _build_plan(repo: Repo, tips: Mapping[str, str], shared: Collection[str]) -> RefRemoval:
    branches = [name for name in tips if name == STAGING or name.startswith(SHARES)]
    kept = {name: why for name in branches if (why := _reason_to_keep(repo, name, tips[name], shared))}
    return RefRemoval(tuple(name for name in tips if name not in kept), kept)


def _reason_to_keep(repo: Repo, ref: str, tip: str, shared: Collection[str]) -> str | None:
    holder = state.holder(repo.common_dir, ref)
    if holder is not None:
        return f"it is {holder}"
    ours = (STAGING, f"{_OWN_REFS}/*", f"{_SHARE_REFS}/*")
    others = "--not", *(f"--exclude={name}" for name in ours), "--all"
    alone = repo.git.run("rev-list", tip, *others).decode().split()
    newest = [tip] if ref != STAGING else []  # staging can rest on a commit of the person's, with nothing on it
    for commit in objects.read_commits(repo.git, [*newest, *alone]):
        if commit is None or not _is_own_commit(commit, shared):
            return f"it contains a commit of yours: {commit.subject if commit is not None else 'unreadable'}"
    return None


def _is_own_commit(commit: Commit, shared: Collection[str]) -> bool:
    return commit.oid in shared or commit.committer.email == EMAIL
