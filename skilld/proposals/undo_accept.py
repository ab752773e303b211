"""Undoes an acceptance: reopens the proposal, and removes its commit if nothing else refers to it yet.

The commit is removed only if HEAD is that commit, the work tree is clean and no other ref contains it: then the branch
moves to its parent, by compare-and-swap, and the files with it. Otherwise it is reverted, and the person is told why.
Either way the files on the person's branch are as before.
"""

from __future__ import annotations

import time
from dataclasses import replace

from skilld.clock import rfc3339
from skilld.errors import SkilldError
from skilld.git import objects, refs, state, tree
from skilld.git.objects import Commit
from skilld.git.repo import Repo
from skilld.git.session import shared_git
from skilld.git.staging_branch import PROPOSAL_REFS, STAGING_REF
from skilld.proposals.amend import record_open, stage_on_branch
from skilld.proposals.cherry_pick import revert, revert_worktree
from skilld.proposals.decide import DecisionReport, rebuild_branch
from skilld.proposals.model import is_only_written, without_remark
from skilld.proposals.remarks import UNDONE, predecessor
from skilld.proposals.taking_out import lines_of_others
from skilld.proposals.worktree import Worktree, prepared_worktree, read_own_commit, read_versions
from skilld.store import Store
from skilld.types import Proposal, State

_TITLE = "Could not undo the acceptance"
_REFLOG_MESSAGE = "skilld: undo accept {}"


@shared_git()
def undo_accept(store: Store, proposal: Proposal) -> DecisionReport:
    """Undo the acceptance of a proposal, and reopen it; if it was moved to another file, the one for its own file.

    Raises SkilldError and changes nothing if its commit can be neither removed nor reverted.
    """
    if proposal.state is not State.ACCEPTED:
        raise SkilldError(_TITLE, f"{proposal.id} is {proposal.state.value}")
    done, commit = _take_out(proposal)
    current = without_remark(store.proposals.get(proposal.id) or proposal)
    old = predecessor(store, current)
    again = replace(old, note="") if old else current

    def record_reverted() -> None:
        now = rfc3339(time.time())
        store.proposals.decide(current, State.REVERTED, now, who="command", why=UNDONE, commit=commit)

    try:
        made, staged = stage_on_branch(store, replace(again, state=State.OPEN), restored=True)
    except SkilldError as error:  # it is out of the file again, which must be stored
        with store.transaction():
            record_reverted()
        then = rebuild_branch(store, current.repo)
        left = f"It could not be put back on the staging branch: {error}"
        return DecisionReport((f"{proposal.id} reverted: {proposal.summary}", *then.lines), (*then.warnings, left))
    with store.transaction():
        if old:
            record_reverted()
        record_open(store, again, made, staged, UNDONE, commit="" if old else commit)
    return DecisionReport(tuple(line for line in (f"{made.id} is open again: {made.summary}", done) if line))


def _take_out(proposal: Proposal) -> tuple[str, str]:
    """Take a proposal out of its file; return a sentence about how, and the commit that did it, both empty if none."""
    if is_only_written(proposal):
        revert_worktree(proposal)
        return "", ""
    why = remove_commit(proposal)
    if not why:
        return "", ""
    return f"Its commit was reverted, not removed, because {why}.", revert(proposal).commit


def remove_commit(proposal: Proposal) -> str | None:
    """Move the branch from the commit that brought a proposal in to its parent; return why not, or None.

    Raises RefusedError as `revert` does, if nothing can be done in that work tree.
    """
    with prepared_worktree(proposal, _TITLE, ("revert", proposal.landed)) as work_tree:
        commit = objects.read_commit(work_tree.repo.git, proposal.landed) if proposal.landed else None
        why = _obstacle_reason(work_tree, proposal, commit)
        return why or _move_branch_back(work_tree, proposal, commit) if commit else why


def _obstacle_reason(work_tree: Worktree, proposal: Proposal, commit: Commit | None) -> str | None:
    repo = work_tree.repo
    if commit is None or commit.proposals != (proposal.id,) or len(commit.parents) != 1:
        return "no commit contains only this proposal"
    if repo.head != commit.oid:
        return "HEAD has moved to another commit"
    if not tree.changed_files(repo.git, commit.parents[0], commit.oid).keys() <= {
        work_tree.tracked.relpath,
        *work_tree.also,
    }:
        return "it changes other files too"
    own = read_own_commit(repo, proposal.id, proposal.commit)
    if own is not None and lines_of_others(read_versions(work_tree, own), read_versions(work_tree, commit)):
        return "it contains lines of yours"
    if work_tree.person.run("status", "--porcelain=v1", "-z", "--untracked-files=no"):
        return "the work tree has uncommitted changes"
    if other := _other_holder(repo, commit.oid):
        return f"{other} contains it too"
    return None


def _other_holder(repo: Repo, commit: str) -> str | None:
    """Return what else contains a commit: a ref, or another work tree. The staging branch is rebuilt without it."""
    form = f"--contains={commit}", "--format=%(refname)"
    names = repo.git.lines("for-each-ref", *form)
    free = state.staging_holder(repo.common_dir) is None
    ours = [name for name in names if name == STAGING_REF or name.startswith(PROPOSAL_REFS)] if free else []
    others = [name for name in names if name not in {repo.branch, *ours}]
    if others:
        return others[0].removeprefix("refs/").removeprefix("heads/")
    for work_tree, head in state.other_heads(repo.common_dir, repo.git_dir):
        has_branch = head == repo.branch
        detached = objects.read_commit(repo.git, head) if not head.startswith("refs/") else None
        if has_branch or (detached and refs.is_reachable(repo.git, commit, detached.oid)):
            return f"the work tree {work_tree}"
    return None


def _move_branch_back(work_tree: Worktree, proposal: Proposal, commit: Commit) -> str | None:
    """Restore the files as they were before the commit, then move the branch; return why neither changed, or None."""
    repo, parent = work_tree.repo, commit.parents[0]
    done = work_tree.person.call("read-tree", "-m", "-u", commit.oid, parent)
    if done.status:
        return f"git could not put the files back ({done.err.splitlines()[0] if done.err else 'no reason given'})"
    try:
        change = refs.RefChange(repo.branch or "", parent, commit.oid)
        refs.move_refs(repo.git, repo.common_dir, [change], _REFLOG_MESSAGE.format(proposal.id))
    except SkilldError:
        work_tree.person.run("read-tree", "-m", "-u", parent, commit.oid)
        return "its branch has moved or is locked"
    return None
