"""Applying a proposal unasked, in auto mode: a commit of its own on the branch that is checked out, touching one file.

By plumbing alone, since no person gave a command: no hook, no signing. The file and its index entry follow only where
both are HEAD's, byte for byte; every other state leaves the proposal where it is. A process that is killed on the way
leaves at most the edit in the file or staged, never a branch that its work tree contradicts.
"""

from __future__ import annotations

import time
from pathlib import Path

from skilld.decide import files
from skilld.decide.person import own_commit, tracked_by
from skilld.decide.values import Apply
from skilld.errors import RefusedError, SkilldError
from skilld.git import index, objects, refs, state, tree
from skilld.git.objects import Ident
from skilld.git.repo import Repo, Tracked
from skilld.types import Proposal

_TITLE = "The proposal was not applied"


def apply_unasked(proposal: Proposal, apply: Apply, private: Path | None = None) -> str:
    """Apply a proposal and return its commit on the branch that is checked out where its skill lives.

    `private` is the folder of skilld's own repositories. Raises RefusedError, with everything as it was, where the
    file or its index entry is not HEAD's, an operation is in progress, HEAD is detached or the staging branch itself,
    or the edit does not fit. A new skill is never applied unasked.
    """
    tracked = tracked_by(proposal, private)
    if proposal.creates or tracked.entry is None:
        raise RefusedError(_TITLE, "a new skill is for you to accept")
    repo, path = tracked.repo, Path(proposal.path)
    source = own_commit(repo, proposal.id, proposal.commit)
    if source is None:
        raise RefusedError(_TITLE, "its commit is gone from the repository")
    branch = _ready(tracked)
    old = files.read(path)
    if old != objects.read_blob(repo.git, repo.head, tracked.relpath):
        raise RefusedError(_TITLE, f"{tracked.relpath} has uncommitted changes")
    new = apply(old)
    entry = tree.Entry(tracked.entry.mode, objects.write_blob(repo.git, new))
    commit = objects.write_commit(
        repo.git,
        tree=tree.rewrite(repo.git, repo.head, {tracked.relpath: entry}),
        parents=[repo.head],
        message=source.message,
        author=source.author,
        committer=Ident("skilld", objects.EMAIL, int(time.time())),
    )
    files.replace(path, old, new)
    try:
        _move(tracked, entry, refs.Change(branch, commit, repo.head), source.subject)
    except SkilldError:
        files.replace(path, new, old)
        raise
    return commit


def _ready(tracked: Tracked) -> str:
    """Return the branch to commit on."""
    repo = tracked.repo
    busy = state.in_progress(repo.git_dir)
    if busy is not None:
        raise RefusedError(_TITLE, f"{busy} is in progress in {repo.toplevel}")
    if repo.branch is None:
        raise RefusedError(_TITLE, f"no branch is checked out in {repo.toplevel}")
    if repo.branch == refs.STAGING:
        raise RefusedError(_TITLE, f"{refs.BRANCH} itself is checked out in {repo.toplevel}")
    if not _is_clean(repo, tracked):
        raise RefusedError(_TITLE, f"{tracked.relpath} has staged changes")
    return repo.branch


def _is_clean(repo: Repo, tracked: Tracked) -> bool:
    return index.parse(repo.git.run("ls-files", "-z", "--stage", "--", tracked.relpath)) == {
        tracked.relpath: tracked.entry
    }


def _move(tracked: Tracked, entry: tree.Entry, change: refs.Change, subject: str) -> None:
    repo = tracked.repo
    index.stage(repo.git, {tracked.relpath: entry})
    try:
        refs.move(repo.git, repo.common_dir, [change], f"skilld: {subject}")
    except SkilldError:
        index.stage(repo.git, {tracked.relpath: tracked.entry})
        raise
