"""The commits of a branch that touch a skill, as the rules of `judge` need them. Reads git, decides nothing."""

from __future__ import annotations

import re

from skilld.decide.judge import Sighting
from skilld.git import lines, objects
from skilld.git.objects import Commit
from skilld.git.repo import Repo

# A short one with `revert.reference`.
_REVERTS = re.compile(r"^[ \t>*-]*This reverts commit ([0-9a-f]{7,64})", re.MULTILINE)
_LIMIT = "--max-count=300"


def read_history(repo: Repo, tip: str, relpath: str, since: int | None) -> tuple[Sighting, ...]:
    """Return the newest 300 commits of `tip` that touch a file, oldest first: all, or those since a Unix time."""
    # No date stands for "always": git 2.39 reads --since=0 as now, and so hides every commit.
    dated = () if since is None else (f"--since={since}",)
    limits = "--full-history", "--topo-order", _LIMIT, *dated
    oids = repo.git.run("rev-list", *limits, tip, "--", relpath).decode().split()
    commits = [commit for commit in objects.read_commits(repo.git, oids[::-1]) if commit is not None]
    names = [f"{oid}:{relpath}" for commit in commits for oid in (commit.oid, *commit.parents[:1])]
    read = objects.read(repo.git, names)
    texts = {name: item.data if item is not None else None for name, item in zip(names, read, strict=True)}
    return tuple(_sighting(repo, commit, relpath, texts) for commit in commits)


def _sighting(repo: Repo, commit: Commit, relpath: str, texts: dict[str, bytes | None]) -> Sighting:
    text = texts[f"{commit.oid}:{relpath}"]
    before = texts[f"{commit.parents[0]}:{relpath}"] if commit.parents else None
    # A commit that makes the file adds all of its lines, one that removes it takes them away.
    signature = lines.signature(before or b"", text or b"") if len(commit.parents) == 1 else ((), ())
    reverted: set[str] = set()
    for oid in _REVERTS.findall(commit.text):
        reverted |= _brought(repo, oid)
    return Sighting(commit.oid, commit.proposals, frozenset(reverted), signature, before, text)


def _brought(repo: Repo, oid: str) -> set[str]:
    """Return a reverted commit, with all commits that it had brought where it is a merge."""
    commit = objects.read_commit(repo.git, oid)
    if commit is None:
        return {oid}
    if len(commit.parents) < 2:  # noqa: PLR2004 - a merge has two parents or more
        return {commit.oid}
    out = repo.git.run("rev-list", "--max-count=1000", oid, f"^{commit.parents[0]}").decode()
    return {commit.oid, *out.split()}
