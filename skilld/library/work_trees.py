"""Skills that are one file in several work trees of a repository: listed and compared once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from skilld.git.state import git_dirs
from skilld.git.top import find_top
from skilld.library.rows import LibraryRow


def _work_tree(folder: Path) -> tuple[Path, Path] | None:
    """Return the top of the work tree around a folder and what its repository's trees share, without running git.

    None if there is none. Raises OSError or ValueError if it cannot be read.
    """
    top = find_top(folder)
    return None if top is None else (top, git_dirs(top / ".git")[1].resolve())


def without_copies(rows: Sequence[LibraryRow], here: Path) -> list[LibraryRow]:
    """Return the rows with one for each file of a repository: that of the work tree around `here`, or the main one.

    It has the uses of all.
    """
    tops: dict[Path, tuple[Path, Path] | None] = {}

    def tree_of(folder: Path) -> tuple[Path, Path] | None:
        if folder not in tops:
            tops[folder] = None
            with suppress(OSError, ValueError):
                tops[folder] = _work_tree(folder.resolve())
        return tops[folder]

    current = tree_of(here)
    groups: dict[tuple[str, str], list[tuple[int, LibraryRow]]] = {}
    for row in rows:
        tree = tree_of(row.skill.project) if row.skill.project is not None else None
        key, rank = ("", str(row.path)), 0
        if tree is not None and row.path.is_relative_to(tree[0]):
            key = str(tree[1]), row.path.relative_to(tree[0]).as_posix()
            rank = 0 if current and tree[0] == current[0] else 1 if (tree[0] / ".git").is_dir() else 2
        groups.setdefault(key, []).append((rank, row))
    return [_merged(sorted(those, key=lambda one: one[0])) for those in groups.values()]


def _merged(ranked: Sequence[tuple[int, LibraryRow]]) -> LibraryRow:
    best, others = ranked[0][1], [row for _, row in ranked[1:]]
    if not others:
        return best
    sessions = best.uses.sessions.union(*(one.uses.sessions for one in others))
    uses = replace(best.uses, sessions=sessions, last=max(best.uses.last, *(one.uses.last for one in others)))
    return replace(
        best,
        uses=uses,
        corrections=best.corrections + sum(one.corrections for one in others),
        edited_at=max(best.edited_at, *(one.edited_at for one in others)),
    )
