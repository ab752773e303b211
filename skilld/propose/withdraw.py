"""Taking everything of skilld's out of a repository: the staging branch and the refs of proposals, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skilld.git import objects, refs, state
from skilld.git.objects import EMAIL
from skilld.git.repo import Repo, open_repo
from skilld.git.turns import in_turn

_OURS = refs.PROPOSALS.removesuffix("proposals/").rstrip("/")


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What goes: the names of the refs. `kept` says why the staging branch stays, empty where it does not."""

    refs: tuple[str, ...]
    kept: str = ""


def plan(address: Path) -> Withdrawal:
    """Return what `withdraw` would do. Raises NotTrackedError where there is no repository any more."""
    repo = open_repo(address)
    return _plan(repo, refs.tips(repo.git, [refs.STAGING, _OURS]))


def withdraw(address: Path) -> Withdrawal:
    """Delete our refs in one transaction and return what was done.

    The staging branch stays where the person has it checked out, or where commits of their own stand on it alone.
    Commits that no ref holds any more are git's to collect. Raises as `plan`, and for locks and lost races.
    """
    repo = open_repo(address)
    with in_turn(repo.common_dir):
        tips = refs.tips(repo.git, [refs.STAGING, _OURS])
        planned = _plan(repo, tips)
        refs.move(repo.git, repo.common_dir, [refs.Change(name, None, tips[name]) for name in planned.refs])
    return planned


def _plan(repo: Repo, tips: dict[str, str]) -> Withdrawal:
    kept = _why_kept(repo, tips[refs.STAGING]) if refs.STAGING in tips else ""
    return Withdrawal(tuple(name for name in tips if not (kept and name == refs.STAGING)), kept)


def _why_kept(repo: Repo, tip: str) -> str:
    holder = state.staging_holder(repo.common_dir)
    if holder is not None:
        return f"it is {holder}"
    others = "--not", f"--exclude={refs.STAGING}", f"--exclude={_OURS}/*", "--all"
    alone = repo.git.run("rev-list", tip, *others).decode().split()
    for commit in objects.read_commits(repo.git, alone):
        if commit is None or commit.committer.email != EMAIL:
            return f"it has a commit of yours: {commit.subject if commit is not None else 'unreadable'}"
    return ""
