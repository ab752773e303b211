"""What a person is in the middle of: operations in progress, and work trees that hold the staging branch.

Read from the files of the git directory, since `git worktree list` does not show a branch under rebase or bisect.
Takes paths, gives words for a sentence; runs nothing.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skilld.git.errors import RepoRefusedError
from skilld.git.ref_names import STAGING

_OPERATIONS = (
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a cherry-pick or revert"),
    ("BISECT_START", "a bisect"),
    ("BISECT_LOG", "a bisect"),
)
_HOLDERS = (
    ("rebase-merge/head-name", "being rebased"),
    ("rebase-merge/update-refs", "being rebased"),
    ("rebase-apply/head-name", "being rebased"),
    ("BISECT_START", "being bisected"),
)
_HEADS = "refs/heads/"
_LIMIT = 1 << 20  # bytes of a file of git's that are read


def in_progress(git_dir: Path) -> str | None:
    """Return what is in progress in the work tree of this git directory ("a rebase"), or None."""
    return next((words for name, words in _OPERATIONS if (git_dir / name).exists()), None)


def head_branch(git_dir: Path) -> str | None:
    """Return the full name of the ref that HEAD points at, or None where it is detached."""
    return points_at(git_dir / "HEAD")


def points_at(file: Path) -> str | None:
    """Return the full name of the ref that a loose one points at, or None where it has a commit of its own."""
    text = _read(file)
    return text.removeprefix("ref:").strip() if text.startswith("ref:") else None


def checked_out(common_dir: Path) -> list[str]:
    """Return the full names of the branches that are checked out in a work tree, the staging branch apart."""
    branches = (head_branch(git_dir) for git_dir, _ in _work_trees(common_dir))
    return sorted({branch for branch in branches if branch and branch != STAGING})


def work_trees(common_dir: Path) -> list[Path]:
    """Return the work trees of a repository that are there, the main one first."""
    trees = (work_tree for _, work_tree in _work_trees(common_dir))
    return [work_tree for work_tree in trees if common_dir.is_dir() and (work_tree / ".git").exists()]


def staging_holder(common_dir: Path) -> str | None:
    """Return how the staging branch is in use ("checked out in /path"), or None where it is free."""
    return holder(common_dir, STAGING)


def holder(common_dir: Path, ref: str) -> str | None:
    """Return how a branch, by its full name, is in use, as `staging_holder` does."""
    for git_dir, work_tree in _work_trees(common_dir):
        if head_branch(git_dir) == ref:
            return f"checked out in {work_tree}"
        for name, words in _HOLDERS:
            if any(line.strip() in {ref, ref.removeprefix(_HEADS)} for line in _read(git_dir / name).splitlines()):
                return f"{words} in {work_tree}"
    return None


def _work_trees(common_dir: Path) -> Iterator[tuple[Path, Path]]:
    yield common_dir, common_dir.parent
    linked = common_dir / "worktrees"
    if not linked.is_dir():
        return
    for git_dir in sorted(linked.iterdir()):
        if (git_dir / "HEAD").is_file():
            pointer = _read(git_dir / "gitdir").strip()
            yield git_dir, Path(pointer).parent if pointer else git_dir


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LIMIT).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    except OSError as error:
        raise RepoRefusedError(
            "The repository's state is unknown", f"{path} cannot be read: {error.strerror}"
        ) from error


# skilld's own processes one after the other in a repository, without leaving a trace in it.
#
# The kernel's lock on the git directory itself: nothing is written, git knows nothing of it, and a process that is
# killed frees it. It only keeps our processes from racing for ever; that no move is lost is `skilld.git.refs`' work.

_PATIENCE = 10.0  # seconds; then we go on as if alone
_STEP = 0.01


@contextmanager
def in_turn(common_dir: Path) -> Iterator[None]:
    """Wait until no other process is in a block like this for the same repository, but not for ever."""
    descriptor = os.open(common_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + _PATIENCE
        while not _locked(descriptor) and time.monotonic() < deadline:
            time.sleep(_STEP)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Whether the lock is ours now, or is none that this file system has (NFS)."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
