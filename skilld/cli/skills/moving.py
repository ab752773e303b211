"""What archiving and deleting a skill share: who may do it, and which skills stay where they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from skilld.cli import common
from skilld.errors import RefusedError

if TYPE_CHECKING:
    from skilld.library.rows import Shelved
    from skilld.store import Store


def refuse_to_move(store: Store, row: Shelved, removed: Mapping[str, str], title: str) -> None:
    """Raise RefusedError with `title` where a skill is pinned, or its folder must stay where it is."""
    from skilld.library import move
    from skilld.library.visibility import pinned

    if row.path in pinned(store):
        raise RefusedError(title, f"{row.name} is pinned", f"skilld skills unpin {row.name}")
    move.check(row.skill, _folders(row.skill.project), removed, title)


def _folders(project: Path | None) -> list[Path]:
    """Return the folders in which agents look for skills: the person's, and those of this project."""
    from skilld.agents import ADAPTERS
    from skilld.ingest.discover import skill_places

    roots = common.settings().roots
    places = [skill_places(name, common.home(), os.environ, roots) for name in ADAPTERS]
    inside = [project / sub for one in places for sub in one.in_project] if project else []
    return list(dict.fromkeys([*inside, *(folder for one in places for folder in one.absolute)]))
