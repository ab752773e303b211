"""Where a SKILL.md that is to be made belongs: the repository around its place, if that would hold it.

A path that nothing stands at enters, a `Tracked` without an entry leaves, or a typed refusal. Reads only.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from skilld.git import tree
from skilld.git.errors import GitFailedError, NotTrackedError, RepoRefusedError
from skilld.git.repo import Repo, Tracked, find_in


def find_absent(path: Path) -> Tracked:
    """Return the repository that would track a new skill at `path`, and where in it.

    `path` must be a real one as far as it exists. Where HEAD holds a file there, that is its entry. Raises
    NotTrackedError where no repository is around it, or it would be ignored or filtered there; RepoRefusedError where
    something that HEAD does not hold stands there, a name differs from it only by case, it is in a submodule, or as
    `skilld.git.repo.open_repo`.
    """
    found = find_in(standing_above(path), path)
    repo, relpath = found.repo, found.relpath
    if (repo.toplevel / ".git").is_file() and repo.git_dir == repo.common_dir:
        raise _refused(f"{repo.toplevel} is a submodule of another repository")
    if found.entry is not None:
        return found
    refuse_occupied(path)
    _check_names(repo, relpath)
    # Looked at by name alone, without the index: nothing is tracked there.
    result = repo.git.call("check-ignore", "--quiet", "--no-index", "--", f"./{relpath}")
    if result.status not in (0, 1):  # 1: not ignored
        raise GitFailedError("git check-ignore failed", result.status, result.err)
    if result.status == 0:
        raise NotTrackedError("ignored", f"git ignores {relpath} in {repo.toplevel}")
    return found


def standing_above(path: Path) -> Path:
    """Return the nearest folder above `path` that exists."""
    return next(folder for folder in path.parents if folder.is_dir())


def refuse_occupied(path: Path) -> None:
    """Raise RepoRefusedError where something stands at `path`, or something that is no folder above it."""
    if os.path.lexists(path):
        raise _refused(f"{path} stands there, and git does not hold it")
    above = next(part for part in path.parents if os.path.lexists(part))
    if not above.is_dir():
        raise _refused(f"{above} stands there, and is no folder")


def _check_names(repo: Repo, relpath: str) -> None:
    """Refuse a path that something in HEAD stands in the way of, or of which a part has a twin there or on the disk."""
    folder, above = repo.toplevel, ""
    for part in relpath.split("/"):
        stored = tree.names(repo.git, repo.head, above.rstrip("/"))
        if part in stored and stored[part].mode != tree.TREE_MODE:
            raise _refused(f"{above}{part} is no folder in the newest commit of {repo.toplevel}")
        twin = next(_twins(part, (*stored, *_on_disk(folder))), None)
        if twin is not None:
            raise _refused(f"{above}{part} differs from {twin} only by case")
        folder, above = folder / part, f"{above}{part}/"


def _twins(part: str, names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if name != part and _folded(name) == _folded(part))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _on_disk(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _refused(cause: str) -> RepoRefusedError:
    return RepoRefusedError("The new skill is refused", cause)
