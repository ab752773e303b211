"""Where the staging branch rests: on the newest commit that last changed the skills it edits.

So merging it into any branch that has that version brings in the proposals and nothing else. Takes a repository and
paths, gives a commit with the data for a warning; writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilld.git import objects
from skilld.git.errors import GitTimeoutError
from skilld.git.repo import Repo
from skilld.propose.values import Rest

SECONDS = 5.0  # a path-limited walk of 20,000 commits takes 0.07 s


def find_base(repo: Repo, relpaths: Sequence[str]) -> Rest:
    """Return the commit to rest on: the first of three candidates whose files equal HEAD's.

    They are the newest commit that changed any of the files (skipped where the walk takes too long), the merge base
    with the default branch, and HEAD. All files must be in HEAD.
    """
    for candidate in (_newest_change(repo, relpaths), _merge_base(repo)):
        if candidate is not None and same_files(repo, candidate, repo.head, relpaths):
            return describe(repo, candidate)
    return describe(repo, repo.head)


def same_files(repo: Repo, one: str, other: str, relpaths: Sequence[str]) -> bool:
    """Whether both commits have all the files, with the same bytes."""
    names = [f"{commit}:{relpath}" for relpath in relpaths for commit in (one, other)]
    oids = [item.oid if item is not None else None for item in objects.read(repo.git, names)]
    return None not in oids and oids[0::2] == oids[1::2]


def describe(repo: Repo, commit: str) -> Rest:
    """Return a base commit with the number of commits that merging it would bring to the default branch."""
    branch = repo.branch.removeprefix("refs/heads/") if repo.branch else None
    if repo.default is None:
        return Rest(commit, branch)
    out = repo.git.run("rev-list", "--count", commit, *(f"^{tip}" for tip in repo.default.tips))
    return Rest(commit, branch, repo.default.name, int(out))


def _newest_change(repo: Repo, relpaths: Sequence[str]) -> str | None:
    try:
        out = repo.git.run("rev-list", "--max-count=1", repo.head, "--", *relpaths, seconds=SECONDS)
    except GitTimeoutError:
        return None
    return out.decode().strip() or None


def _merge_base(repo: Repo) -> str | None:
    if repo.default is None:
        return None
    # Status 1 without output: no common commit.
    return repo.git.call("merge-base", repo.head, repo.default.tips[0]).out.decode().strip() or None
