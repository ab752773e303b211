"""What Droid and Kimi Code load, measured with 0.225.2 and 2.1.0: files of fixed names in each folder."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import join

from skilld.context.resolution import Resolution, Workspace
from skilld.context.values import Scope

DROID_NEWEST, KIMI_NEWEST = "0.225.2", "2.1.0"
_DROID_NAMES = ("CLAUDE.md", "AGENTS.md", ".factory/AGENTS.md", ".agents/AGENTS.md")
_KIMI_NAMES = (".kimi-code/AGENTS.md", "AGENTS.md")


def resolve_droid(where: Workspace) -> Resolution:
    """Return what Droid loads, in order: the nearest folder first, the person's files last."""
    found = Resolution(where)
    _add_folders(found, where.folders_up(where.root or where.project), _DROID_NAMES)
    _add_personal(found)
    for folder in where.nested(*_DROID_NAMES[:2], ".factory", ".agents"):
        for name in _DROID_NAMES:
            found.add(join(folder, name), Scope.NESTED, folder=folder)
    return found


def resolve_kimi(where: Workspace) -> Resolution:
    """Return what Kimi Code loads, in order; of nested folders nothing."""
    found = Resolution(where)
    _add_personal(found)
    _add_folders(found, where.folders_up(where.root or where.project)[::-1], _KIMI_NAMES)
    return found


def _add_personal(found: Resolution) -> None:
    for folder in (found.where.own, join(found.where.home, ".agents")):
        found.add(join(folder, "AGENTS.md"), Scope.PERSONAL)


def _add_folders(found: Resolution, folders: Sequence[str], names: Sequence[str]) -> None:
    for folder in folders:
        for name in names:
            found.add(join(folder, name), Scope.PROJECT)
