"""Whether paths are one file or one project, in work trees of a repository or clones of one origin. Runs no git."""

from __future__ import annotations

import os
import re
from pathlib import Path

from skilld.git.state import git_dirs, normalize_address, read_tail
from skilld.git.top import find_top


def main_path(path: str) -> str:
    """Return the path that a file of a linked work tree has in the main one; any other path unchanged.

    What was decided about a file holds in all work trees of its repository.
    """
    if (top := find_top(Path(path).parent)) is None:
        return path
    git_dir, common = git_dirs(top / ".git")
    linked = git_dir.parent == common / "worktrees" and common.name == ".git"
    return str(common.parent / Path(path).relative_to(top)) if linked else path


def project_root(folder: Path) -> Path:
    """Return the main work tree of the repository around a folder; the folder if there is none that can be read."""
    try:
        return Path(main_path(str((find_top(folder) or folder) / "file"))).parent
    except (OSError, ValueError):
        return folder


def is_same_project(one: Path, other: Path) -> bool:
    """Whether two folders are in one repository, perhaps in two of its work trees, or in clones of one origin."""
    return is_same_file(*(str((find_top(folder) or folder) / "file") for folder in (one, other)))


def is_clone_of(one: Path, other: Path) -> bool:
    """Whether two folders are in two clones of one origin, and not in work trees of one repository."""
    return is_same_project(one, other) and project_root(one) != project_root(other)


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths are of one file of a repository, perhaps in two of its work trees, or clones of one origin."""
    if one == other or Path(one).name != Path(other).name:
        return one == other
    try:
        return main_path(one) == main_path(other) or (
            bool(place := _place_in_origin(one)) and place == _place_in_origin(other)
        )
    except OSError:  # one of them cannot be read, or names an impossible git directory
        return False


_ORIGIN_PATTERN = re.compile(r'^[ \t]*\[remote "origin"\][^\[]*?^[ \t]*url[ \t]*=[ \t]*(\S+)', re.MULTILINE)


def _place_in_origin(path: str) -> tuple[str, Path] | None:
    """Return the address that a file's repository was cloned from, and the file's path in it; None if unknown."""
    if (top := find_top(Path(path).parent)) is None:
        return None
    try:
        common = git_dirs(top / ".git")[1]
        found = _ORIGIN_PATTERN.search(read_tail(common / "config"))
    except OSError:
        return None
    if found is None:
        return None
    # A local address may be relative to the main work tree.
    address = os.path.normpath(common.parent / found[1]) if found[1].startswith((".", "/")) else found[1]
    return normalize_address(address), Path(path).relative_to(top)
