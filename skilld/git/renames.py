"""Finds the other path of a file that a commit renamed, as git's rename detection tells it."""

from __future__ import annotations

from pathlib import PurePosixPath

from skilld.git import objects, tree
from skilld.git.errors import RepoRefusedError
from skilld.git.line_diff import split_lines
from skilld.git.run import Git

_TEXTS = ".md", ".mdc"
_HOW = "--no-ext-diff", "--no-textconv", "--name-status", "-r", "-z"


def is_other_text(old: bytes | None, new: bytes | None) -> bool:
    """Whether a file is gone, or nothing of its old text is left in it: it became a link, or an import."""
    if old is None or new is None:
        return new is None
    return {*map(str.strip, split_lines(old))}.isdisjoint({*map(str.strip, split_lines(new))} - {""})


def is_replaced(old: bytes, new: bytes | None) -> bool:
    """Whether a file is gone, or has less than half of the lines of its old text."""
    lines = [line.strip() for line in split_lines(old) if line.strip()]
    left = {line.strip() for line in split_lines(new or b"")}
    return new is None or 2 * sum(line in left for line in lines) < len(lines)


def may_follow(old: str, new: str) -> bool:
    """Whether an edit of the file at one path may follow it to another one, where agents read it and git can name it.

    What became a script or a setting is no text for agents any more.
    """
    try:
        tree.check_relpath(old)
        tree.check_relpath(new)
    except RepoRefusedError:
        return False
    return PurePosixPath(new).suffix in {PurePosixPath(old).suffix, *_TEXTS}


def renamed_to(git: Git, commit: str, relpath: str) -> str:
    """Return the new path of the file that a commit moved away from `relpath`; empty if it renamed it to none."""
    return next((new for old, new in _renames(git, commit) if old == relpath and _has_left(git, commit, old)), "")


def renamed_from(git: Git, commit: str, relpath: str) -> str:
    """Return the old path of the file that a commit moved to `relpath`; empty if it renamed none."""
    return next((old for old, new in _renames(git, commit) if new == relpath and _has_left(git, commit, old)), "")


def renamed_between(git: Git, old: str, new: str, relpath: str) -> str:
    """Return the path in commit `new` of the file that `old` has at `relpath`, as git's cherry-pick finds it."""
    how = *_HOW, "--find-renames", "--diff-filter=R"
    return next((after for before, after in _rows(git, *how, old, new) if before == relpath), "")


def _renames(git: Git, commit: str) -> list[tuple[str, str]]:
    """Return the old and the new path of each file that a commit renamed, or copied from one that it changed."""
    parent = f"{commit}^"
    if objects.read_commit(git, parent) is None:
        return []
    changed = tree.changed_files(git, parent, commit).values()
    if all(was is None for was, _ in changed) or all(was is not None for was, _ in changed):
        return []  # no need to ask git
    return _rows(git, *_HOW, "--find-renames", "--find-copies", "--diff-filter=RC", parent, commit)


def _has_left(git: Git, commit: str, relpath: str) -> bool:
    """Whether a commit left nothing of a file: a copy of one that became a link to the copy was renamed as well."""
    return is_other_text(*objects.read_texts(git, [f"{one}:{relpath}" for one in (f"{commit}^", commit)]))


def _rows(git: Git, *options: str) -> list[tuple[str, str]]:
    rows = git.run("diff-tree", *options).decode("utf-8", "surrogateescape").split("\0")
    return [(old, new) for old, new in zip(rows[1::3], rows[2::3], strict=False) if may_follow(old, new)]
