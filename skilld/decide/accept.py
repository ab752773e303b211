"""Accepting a proposal: a `git cherry-pick` in the person's name, or the same edit by its anchors where that conflicts.

Takes a proposal and its edit as a function of bytes; gives the commit that brought it in. Author, message and
trailers stay skilld's; the person is the committer, and their hooks and signing apply.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skilld.decide import files
from skilld.decide.person import commit_by_lines, own_commit, run_command, sit_down, versions, would_merge
from skilld.decide.values import Apply, Landed
from skilld.types import Proposal

_TITLE = "The proposal was not accepted"


def accept(proposal: Proposal, apply: Apply, removed: Mapping[str, str]) -> Landed:
    """Bring a proposal into the branch that is checked out where its skill lives.

    `removed` is what `scrub_environment` returned. A proposal whose edit is there already counts as accepted. Raises
    RefusedError, with everything as it was and the command to do it by hand, for a dirty skill, an operation in
    progress, a detached HEAD, or anchors that are gone.
    """
    desk = sit_down(Path(proposal.path), removed, _TITLE, ("cherry-pick", proposal.commit))
    commit = own_commit(desk.repo, proposal.id, proposal.commit)
    if commit is None:
        raise desk.refused("the proposal's commit is gone from the repository")
    before, after = versions(desk, commit)
    if would_merge(desk, before, after):
        done = run_command(desk, "cherry-pick", commit.oid)
        if done is not None:
            return done
    return commit_by_lines(desk, apply, commit.message, commit.author)


def accept_worktree(proposal: Proposal, apply: Apply) -> bool:
    """Write the edit into the file and commit nothing; return whether the file changed.

    Raises SkilldError when the anchors are gone, RefusedError when the file is changed meanwhile.
    """
    path = Path(proposal.path)
    old = files.read(path)
    new = apply(old)
    if new != old:
        files.replace(path, old, new)
    return new != old
