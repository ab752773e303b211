"""What Pi loads, measured with 0.73.1 and 1.6.0."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import join

from skilld.context.resolution import Resolution, Workspace
from skilld.context.values import Kind, Scope

NEWEST = "1.6.0"
_WORKTREES_SINCE, _OVERRIDES_SINCE = (0, 83), (0, 84)  # by its change log


def resolve(where: Workspace) -> Resolution:
    """Return what is loaded, in order."""
    found = Resolution(where)
    for name in ("SYSTEM.md", "APPEND_SYSTEM.md"):
        mine, theirs = join(where.own, name), join(where.project, ".pi", name)
        taken = found.add(theirs, Scope.PROJECT) or found.add(mine, Scope.PERSONAL)
        if taken and name == "SYSTEM.md":
            found.add_surprise(Kind.HIDDEN, taken.path, "it replaces Pi's entire system prompt")
        if taken and taken.path == theirs and found.has_content(mine):
            found.add_surprise(Kind.HIDDEN, mine, "the project's file is read instead", by=theirs)
    names = ("AGENTS.override.md", "AGENTS.md", "CLAUDE.md")[_is_older(where, _OVERRIDES_SINCE) :]
    found.add_first(where.own, names, Scope.PERSONAL)
    main = "" if _is_older(where, _WORKTREES_SINCE) else where.main_checkout()
    own = _names_in(where, where.root, names)[:1]
    for folder in where.folders_up()[::-1]:
        there = _names_in(where, folder, names)
        paths = [join(folder, name) for name in there]
        if folder == main and own and own == there[:1]:
            found.add_surprise(Kind.HIDDEN, paths[0], "the work tree has its own", by=join(where.root, own[0]))
            continue
        taken = found.add_first(folder, there, Scope.PROJECT)
        for path in paths[1:] if taken else ():
            if found.has_content(path):
                found.add_surprise(Kind.HIDDEN, path, "only one file per folder is read", by=paths[0])
    return found


def _is_older(where: Workspace, version: tuple[int, ...]) -> bool:
    return bool(where.version) and where.version < version


def _names_in(where: Workspace, folder: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if where.files.read(join(folder, name)) is not None] if folder else []
