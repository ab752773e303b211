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

SECONDS = 3.0  # walking 20,000 commits takes 0.07 to 0.3 s of CPU, by the size of their top folder


def find_base(repo: Repo, relpaths: Sequence[str]) -> Rest:
    """Return the commit to rest on: the first of three candidates whose files equal HEAD's.

    They are the newest commit that changed any of the files (skipped where the walk takes too long), the merge base
    with the default branch, and HEAD. All files must be in HEAD.
    """
    rest = _newest_change(repo, relpaths)
    if rest is None or not same_files(repo, rest.commit, repo.head, relpaths):
        rest = _merge_base(repo)
    if rest is None or not same_files(repo, rest.commit, repo.head, relpaths):
        rest = describe(repo, repo.head)
    return rest


def same_files(repo: Repo, one: str, other: str, relpaths: Sequence[str]) -> bool:
    """Whether both commits have all the files, with the same bytes."""
    names = [f"{commit}:{relpath}" for relpath in relpaths for commit in (one, other)]
    oids = [item.oid if item is not None else None for item in objects.read(repo.git, names)]
    return None not in oids and oids[0::2] == oids[1::2]


def describe(repo: Repo, commit: str) -> Rest:
    """Return a base commit with the number of commits that merging it would bring to the default branch."""
    if repo.default is None or commit in repo.default.tips:
        return _rest(repo, commit, 0)
    out = repo.git.run("rev-list", "--count", commit, *(f"^{tip}" for tip in repo.default.tips))
    return _rest(repo, commit, int(out))


def _rest(repo: Repo, commit: str, ahead: int) -> Rest:
    branch = repo.branch.removeprefix("refs/heads/") if repo.branch else None
    return Rest(commit, branch, repo.default.name if repo.default else None, ahead)


def _newest_change(repo: Repo, relpaths: Sequence[str]) -> Rest | None:
    """Look among the commits that only HEAD has first: what is found later is on the default branch for certain."""
    tips = repo.default.tips if repo.default else ()
    try:
        own = _newest(repo, [repo.head, *(f"^{tip}" for tip in tips)], relpaths) if repo.head not in tips else None
        if own is not None:
            return describe(repo, own)
        found = _newest(repo, [repo.head], relpaths)
    except GitTimeoutError:
        return None
    return _rest(repo, found, 0) if found else None


def _newest(repo: Repo, revisions: Sequence[str], relpaths: Sequence[str]) -> str | None:
    out = repo.git.run("rev-list", "--max-count=1", *revisions, "--", *relpaths, seconds=SECONDS)
    return out.decode().strip() or None


def _merge_base(repo: Repo) -> Rest | None:
    if repo.default is None:
        return None
    # Status 1 without output: no common commit.
    found = repo.git.call("merge-base", repo.head, repo.default.tips[0]).out.decode().strip()
    return _rest(repo, found, 0) if found else None
