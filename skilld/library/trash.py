"""Deleting a skill: its folder moves to the person's trash, from where their desktop puts it back."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import quote

from skilld.errors import RefusedError, SkilldError
from skilld.library.moving import move
from skilld.skills import Skill, Source


def trash_of(home: Path, data_home: Path, platform: str) -> Path:
    """Return the person's trash: macOS's, or that of the freedesktop.org Trash specification 1.0."""
    return home / ".Trash" if platform == "darwin" else data_home / "Trash"


def put_aside(skill: Skill, trash: Path) -> Path:
    """Move a skill's folder to the trash and return where it is now.

    Raises SkilldError where it cannot be moved, RefusedError where it is more than a skill: people link whole
    repositories into their skills folders.
    """
    folder = skill.path.parent
    if (folder / ".git").exists():
        raise RefusedError(
            "The skill was not deleted", f"{folder} is a repository of its own", "Remove the link to it."
        )
    name = f"{folder.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    if skill.source is Source.PLUGIN or not (folder / "SKILL.md").is_file():
        raise SkilldError("The skill was not deleted", "it is not a folder of your own")
    files = trash / "files" if trash.name == "Trash" else trash
    try:
        files.mkdir(mode=0o700, parents=True, exist_ok=True)
        if files != trash:  # what desktops need to put it back
            info = trash / "info" / f"{name}.trashinfo"
            info.parent.mkdir(mode=0o700, exist_ok=True)
            said = f"Path={quote(str(folder))}\nDeletionDate={time.strftime('%Y-%m-%dT%H:%M:%S')}"
            info.write_text(f"[Trash Info]\n{said}\n", encoding="utf-8")
        move(folder, files / name)
    except OSError as error:
        (trash / "info" / f"{name}.trashinfo").unlink(missing_ok=True)
        raise SkilldError("The skill was not deleted", error.strerror or str(error)) from error
    return files / name
