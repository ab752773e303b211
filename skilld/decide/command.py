"""The person's own cherry-pick or revert, run for a decision: a commit comes of it, or everything is as it was."""

from __future__ import annotations

import os

from skilld.decide import files
from skilld.decide.person import Desk, by_hand, head
from skilld.decide.values import Landed, Way
from skilld.errors import SkilldError
from skilld.git import index, state
from skilld.git.errors import GitTimeoutError
from skilld.git.run import PersonGit


def run_command(desk: Desk, *args: str) -> Landed | None:
    """Run a cherry-pick or revert; return None, and leave no trace, where it did not make a commit.

    A command that turns out to change nothing counts as done.
    """
    before = files.read(desk.path) if os.path.lexists(desk.path) else None
    message = desk.repo.git_dir / "MERGE_MSG"
    had_message = message.exists()
    try:
        desk.person.call(*args)
    except GitTimeoutError:
        _abort(desk, args[0])
        raise
    if head(desk) != desk.repo.head:
        return Landed(head(desk), Way.GIT)
    empty = state.in_progress(desk.repo.git_dir) is not None and _nothing_to_commit(desk.person)
    _abort(desk, args[0])
    _put_back(desk, before)
    if not had_message:
        message.unlink(missing_ok=True)
    return Landed(desk.repo.head, Way.NOTHING) if empty else None


def _nothing_to_commit(person: PersonGit) -> bool:
    if person.run("ls-files", "--unmerged", "-z"):
        return False
    return person.call("diff-index", "--cached", "--quiet", "HEAD").status == 0


def _abort(desk: Desk, command: str) -> None:
    if state.in_progress(desk.repo.git_dir) is not None:
        desk.person.call(command, "--abort")
    left = state.in_progress(desk.repo.git_dir)
    if left is not None or head(desk) != desk.repo.head:
        undo = by_hand(desk.repo, command, "--abort")
        raise SkilldError(desk.title, f"git {command} stopped half-way and could not be aborted", undo)


def _put_back(desk: Desk, before: bytes | None) -> None:
    """Put the skill and its entry in the index back where git left them changed with nothing in progress.

    It does where a hook refuses every move of a ref, its own notes of a pick included, and where an object that it
    needs cannot be read (measured, git 2.39).
    """
    relpath = desk.tracked.relpath
    if not desk.person.run("status", "--porcelain=v1", "-z", "--untracked-files=no", "--", relpath):
        return
    index.stage(desk.repo.git, {relpath: desk.tracked.entry})
    found = files.read(desk.path) if os.path.lexists(desk.path) else None
    if found == before:
        return
    if before is None and found is not None:
        files.remove(desk.path, found, desk.repo.toplevel)
    elif before is not None and found is None:
        files.make(desk.path, before)
    elif before is not None and found is not None:
        files.replace(desk.path, found, before)
