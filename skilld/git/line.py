"""The newest commits of a branch, as far as each follows the next, read by the process that reads objects.

Most questions about a history are answered by these; the others are left to `git rev-list`. All commits are named by
their IDs, so no answer changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import pairwise

from skilld.errors import SkilldError
from skilld.git import objects, tree
from skilld.git.objects import Commit
from skilld.git.run import Git
from skilld.git.session import cached

_MOST = 8


def read_line(git: Git, tip: str) -> list[Commit]:
    """Return `tip` and the commits before it, eight at most, down to the first that has not just one parent."""

    def read() -> list[Commit]:
        line: list[Commit] = []
        with suppress(SkilldError):  # git says what is wrong, if it needs what cannot be read
            for commit in objects.read_commits(git, [tip, *(f"{tip}~{count}" for count in range(1, _MOST))]):
                if commit is None or (line and line[-1].parents != (commit.oid,)):
                    break
                line.append(commit)
        return line

    return cached((git, "line", tip), read)


def is_whole(line: Sequence[Commit]) -> bool:
    """Whether a line has all commits that there are before its first."""
    return bool(line) and not line[-1].parents


def is_before(git: Git, commit: str, tip: str) -> bool | None:
    """Whether a commit is `tip` or one before it; None if only git can tell."""
    line = read_line(git, tip)
    found = any(one.oid == commit for one in line)
    return True if found else False if is_whole(line) else None


def line_above(git: Git, tip: str, others: Collection[str]) -> list[str] | None:
    """Return the commits from `tip` down that none of the others is or comes after; None if only git can tell."""
    line = read_line(git, tip)
    end = next((number for number, one in enumerate(line) if one.oid in others), None)
    if not end:
        return None if end is None else []
    lowest, stop = line[end - 1].oid, line[end].oid

    def is_apart(other: str) -> bool:
        """Whether it is known not to come after the lowest commit: then it comes after none of them."""
        theirs = read_line(git, other)
        ids = {one.oid for one in theirs}
        return lowest not in ids and (stop in ids or is_whole(theirs) or bool(is_before(git, other, stop)))

    return [one.oid for one in line[:end]] if all(map(is_apart, others)) else None


def line_since(git: Git, tip: str, since: int | None) -> list[Commit] | None:
    """Return the commits from `tip` down that are not older than a Unix time (None: all); None if only git can tell."""
    line = read_line(git, tip)
    if since is not None:
        end = next((number for number, one in enumerate(line) if one.committer.seconds < since), None)
        if end is not None:
            return line[:end]
    return line if is_whole(line) else None


def changing(git: Git, tip: str, relpaths: Collection[str]) -> list[str] | None:
    """Return the commits of the line from `tip` that change one of these files, compared with the one before each.

    The last one is among them only if there is none before it. None if a folder cannot be read.
    """
    line = read_line(git, tip)
    with suppress(SkilldError):
        columns = [_entries(git, line, relpath) for relpath in relpaths]
        rows = [*zip(*columns, strict=True), *([(None,) * len(columns)] if is_whole(line) else [])]
        return [one.oid for one, (new, old) in zip(line, pairwise(rows), strict=False) if new != old]
    return None


def _entries(git: Git, line: Sequence[Commit], relpath: str) -> list[tree.Entry | None]:
    """Return what each commit of a line has at a path. Raises SkilldError if a folder on the way cannot be read."""
    found: list[tree.Entry | None] = [tree.Entry(tree.TREE_MODE, one.tree) for one in line]
    for part in relpath.encode("utf-8", "surrogateescape").split(b"/"):
        folders = sorted({one.oid for one in found if one and one.mode == tree.TREE_MODE})
        rows = {
            oid: tree.read_tree(item) for oid, item in zip(folders, objects.read_objects(git, folders), strict=True)
        }
        found = [rows[one.oid].get(part) if one and one.mode == tree.TREE_MODE else None for one in found]
    return found
