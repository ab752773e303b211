"""Taking an accepted proposal back: a `git revert` in the person's name, or its lines taken out where that conflicts.

What came in by a squash, or amended with other files, is not reverted as a commit, which would take the rest along.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skilld.decide.command import run_command
from skilld.decide.inverse import undo
from skilld.decide.person import Desk, at_desk, commit_by_lines, own_commit, versions, would_merge
from skilld.decide.values import Landed, Way
from skilld.decide.whole import commit_removed
from skilld.git import lines, objects, tree
from skilld.git.objects import Commit
from skilld.types import Proposal

_TITLE = "The proposal was not reverted"


def revert(proposal: Proposal, removed: Mapping[str, str], private: Path | None = None) -> Landed:
    """Take a proposal out of the branch that is checked out where its skill lives.

    `removed` is what `scrub_environment` returned, `private` the folder of skilld's own repositories. What is not there
    any more counts as reverted. Raises RefusedError as `accept` does, and for a new skill that was changed since.
    """
    named = proposal.landed or proposal.commit
    with at_desk(proposal, removed, private, _TITLE, ("revert", named)) as desk:
        return _take_out(desk, proposal)


def _take_out(desk: Desk, proposal: Proposal) -> Landed:
    landing = _landing(desk, proposal)
    source = landing or own_commit(desk.repo, proposal.id, proposal.commit)
    if source is None:
        raise desk.refused("the proposal's commit is gone from the repository")
    before, after = versions(desk, source)
    if proposal.creates:
        if desk.tracked.entry is None:
            return Landed(desk.repo.head, Way.NOTHING)
        if objects.read_blob(desk.repo.git, desk.repo.head, desk.tracked.relpath) != after:
            raise desk.refused(f"{desk.tracked.relpath} was changed since it was made")
    if landing is not None and would_merge(desk, after, before):
        done = run_command(desk, "revert", "--no-edit", landing.oid)
        if done is not None:
            return done
    message = f'Revert "{source.subject}"\n\nThis reverts commit {source.oid}.\n'.encode()

    def taken_out(current: bytes) -> bytes:
        return current if lines.gone(current, before, after) else undo(before, after, current)

    if proposal.creates:
        return commit_removed(desk, message)
    return commit_by_lines(desk, taken_out, message, None)


def _landing(desk: Desk, proposal: Proposal) -> Commit | None:
    """Return the newest commit of HEAD that brought in this proposal and nothing else, or None."""
    repo, relpath = desk.repo, desk.tracked.relpath
    wanted = (
        "--fixed-strings",
        f"--grep=Skilld-Proposal: {proposal.id}",
        "--full-history",
        "--no-merges",
        "--max-count=10",
    )
    oids = repo.git.run("rev-list", *wanted, "HEAD", "--", relpath).decode().split()
    for commit in objects.read_commits(repo.git, oids):
        if commit is None or commit.proposals != (proposal.id,) or len(commit.parents) != 1:
            continue
        if tree.changed(repo.git, commit.parents[0], commit.oid).keys() == {relpath}:
            return commit
    return None
