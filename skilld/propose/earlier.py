"""Finding a proposal that an earlier try made already: a retried job returns it instead of making another.

Looked for on its own ref, on the staging branch by its trailers, and in what was merged since.
"""

from __future__ import annotations

from skilld.git import objects, refs, tree
from skilld.git.objects import Commit
from skilld.git.repo import Repo, Tracked
from skilld.propose.base import describe
from skilld.propose.branch import Branch
from skilld.propose.values import Line, Proposed, Request

_MARGIN = 86400  # seconds: clocks of two machines


def found_again(request: Request, tracked: Tracked, branch: Branch) -> Proposed | None:
    """Return the proposal where an earlier try made it: on its ref, on the branch, or merged already."""
    repo, relpath = tracked.repo, tracked.relpath
    oid = branch.proposals.get(request.id) if not request.restored else None
    commit = objects.read_commit(repo.git, oid) if oid else None
    if commit is None:
        commit = next((item for item in branch.line or () if _is_same(repo, request, item, relpath)), None)
    if commit is None:
        commit = _merged_already(repo, request, relpath)
    if commit is None:
        return None
    name = commit.trailers.get("Skilld-Proposal", request.id)
    base = branch.base or repo.head
    stands = {name: item.oid for item in branch.line or () for name in item.proposals}
    moved: dict[str, str] = {}
    for other in request.standing:  # the word of where that try moved them to was lost with it
        moved |= other.news(stands.get(other.id, other.commit))
    line = Line(branch.tip, describe(repo, base), moved)
    return Proposed(name, commit.oid, base, refs.BRANCH, str(repo.address), relpath, line, fresh=False)


def _is_same(repo: Repo, request: Request, commit: Commit, relpath: str) -> bool:
    if request.id in commit.proposals:
        return True
    of_batch = commit.trailers.get("Skilld-Batch") == request.batch_id
    return of_batch and relpath in tree.changed(repo.git, commit.parents[0], commit.oid)


def _merged_already(repo: Repo, request: Request, relpath: str) -> Commit | None:
    named = "--fixed-strings", f"--grep=Skilld-Proposal: {request.id}"
    limits = f"--since={request.epoch - _MARGIN}", "--max-count=1"
    tips = [repo.head, *(repo.default.tips if repo.default else ())]
    oid = repo.git.run("rev-list", *named, *limits, *tips, "--", relpath).decode().strip()
    found = objects.read_commit(repo.git, oid) if oid else None
    return found if found is not None and request.id in found.proposals else None
