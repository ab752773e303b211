"""Accepting a proposal: a `git cherry-pick` in the person's name, or the same edit by its anchors where that conflicts.

Takes a proposal and its edit as a function of bytes (of b"" where it makes the skill); gives the commit that brought
it in. Author, message and trailers stay skilld's; the person is the committer, and their hooks and signing apply.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from skilld.decide import files
from skilld.decide.command import run_command
from skilld.decide.inverse import transplant, undo
from skilld.decide.person import Desk, at_desk, commit_by_lines, head, own_commit, versions, would_merge
from skilld.decide.values import Apply, Landed, Refit
from skilld.decide.whole import commit_made
from skilld.errors import RefusedError, SkilldError
from skilld.git import lines, objects, refs
from skilld.git.objects import Commit
from skilld.types import Proposal

_TITLE = "The proposal was not accepted"


def accept(
    proposal: Proposal,
    apply: Apply,
    removed: Mapping[str, str],
    private: Path | None = None,
    refit: Refit | None = None,
) -> Landed:
    """Bring a proposal into the branch that is checked out where its skill lives.

    `removed` is what `scrub_environment` returned, `private` the folder of skilld's own repositories. `refit` makes the
    edit in a version that was edited since; without it only its anchors tell its place. A proposal whose edit is there
    already counts as accepted. Raises RefusedError, with everything as it was, for a dirty skill, an operation in
    progress, a detached HEAD, each with the command to do it by hand, and where the edit has no certain place.
    """
    with at_desk(proposal, removed, private, _TITLE, ("cherry-pick", proposal.commit)) as desk:
        return _take_in(desk, proposal, apply, refit)


def _take_in(desk: Desk, proposal: Proposal, apply: Apply, refit: Refit | None) -> Landed:
    edited = _edited_commit(desk, proposal.id)
    commit = edited or own_commit(desk.repo, proposal.id, proposal.commit)
    if commit is None:
        cause = "the proposal's commit is gone from the repository"
        raise RefusedError(_TITLE, cause, f"to write it into the file: skilld accept --worktree {proposal.id}")
    before, after = versions(desk, commit)
    if would_merge(desk, before, after) and not _misnumbered(desk, before, after, refit if edited is None else None):
        done = run_command(desk, "cherry-pick", commit.oid)
        if done is not None:
            _write_out(desk, after)
            return done
    else:  # a cherry-pick by hand would conflict, or give a step the number that another one has
        desk = replace(desk, remedy=lambda: f"Write it into {proposal.relpath} yourself: skilld show {proposal.id}")

    def change(current: bytes) -> bytes:
        if edited is not None:
            return undo(after, before, current)
        try:
            return apply(current) if refit is None else refit(before, after, current)
        except SkilldError:
            # Where the branch that is checked out and the one below the proposal part.
            common = objects.common_version(desk.repo.git, desk.repo.head, commit.parents[0], desk.tracked.relpath)
            if common is None or common == before:
                raise
        return transplant(before, after, common, current)

    if desk.tracked.entry is None:
        return commit_made(desk, change(b""), commit.message, commit.author)
    return commit_by_lines(desk, change, commit.message, commit.author)


def _misnumbered(desk: Desk, before: bytes, after: bytes, refit: Refit | None) -> bool:
    """Whether a clean cherry-pick would leave an added step with another number than it has in its list."""
    current = objects.read_blob(desk.repo.git, desk.repo.head, desk.tracked.relpath)
    if refit is None or current is None:
        return False
    try:
        merged, fitted = lines.merge(before, current, after), refit(before, after, current)
    except (SkilldError, lines.MergeConflictError):
        return False
    return sorted(lines.split(merged)) != sorted(lines.split(fitted))


def _write_out(desk: Desk, data: bytes) -> None:
    """Write a new skill that git left out of a sparse work tree; git takes a file that stands there for wanted."""
    is_new = desk.tracked.entry is None and not os.path.lexists(desk.path)
    if is_new and objects.read_blob(desk.repo.git, head(desk), desk.tracked.relpath) == data:
        files.make(desk.path, data)


def _edited_commit(desk: Desk, proposal: str) -> Commit | None:
    """Return the proposal's commit on the staging branch where the person amended it there: their version wins."""
    repo = desk.repo
    tip = refs.tip(repo.git, refs.STAGING)
    if tip is None:
        return None
    named = "--fixed-strings", f"--grep=Skilld-Proposal: {proposal}", "--no-merges", "--max-count=10"
    oids = repo.git.run("rev-list", *named, tip, f"^{repo.head}").decode().split()
    found = [commit for commit in objects.read_commits(repo.git, oids) if commit and commit.proposals == (proposal,)]
    return next((commit for commit in found if commit.committer.email != objects.EMAIL), None)


def accept_worktree(proposal: Proposal, apply: Apply) -> bool:
    """Write the edit into the file and commit nothing; return whether the file changed.

    Raises SkilldError when the anchors are gone, RefusedError when the file is changed meanwhile, or something stands
    where a new skill is to be made.
    """
    path = Path(proposal.path)
    if proposal.creates and not os.path.lexists(path):
        files.make(path, apply(b""))
        return True
    old = files.read(path)
    try:
        new = apply(old)
    except SkilldError as error:
        if proposal.creates:
            raise RefusedError(_TITLE, error.cause) from error
        raise
    if new != old:
        files.replace(path, old, new)
    return new != old
