"""Where work trees begin, from the names of files alone: no git runs, and nothing is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def is_top(folder: str | Path) -> bool:
    """Whether a folder is the top of a work tree: its `.git` is a file, or a folder with a HEAD.

    Git passes a folder that is only called `.git`; sandboxes of agents leave empty ones behind. A `.git` whose inside
    may not be seen counts. Never raises, also for a path that no system takes.
    """
    try:
        os.lstat(f"{folder}/.git/HEAD")  # a string: `skills.project_config` asks for every turn
    except (FileNotFoundError, ValueError):
        return False
    except OSError:
        return os.path.lexists(f"{folder}/.git")
    return True


def find_top(folder: Path) -> Path | None:
    """Return the top of the work tree around `folder`, perhaps itself; None if there is none."""
    return next((one for one in (folder, *folder.parents) if is_top(one)), None)


def folders_to_top(folder: Path) -> Iterator[Path]:
    """Yield a folder and its parents up to the top of its work tree; without one, only the folder."""
    top = find_top(folder) or folder
    yield from (one for one in (folder, *folder.parents) if one.is_relative_to(top))
