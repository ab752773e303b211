"""Where a skill that was archived or deleted is now, and the command that brings it back. Only reads.

An archive entry is a folder with the skill's folder and NOTE_FILE, which says where it came from.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from skilld.files import shell_quoted
from skilld.values import value_class

NOTE_FILE = "origin.json"
_STAMP_PATTERN = re.compile(r"-\d{8}-\d{6}(?:-\d+)?")


@value_class
class ArchivedSkill:
    """A skill in the archive. `entry` is its folder there, `origin` its former folder, `at` the time (RFC 3339)."""

    entry: Path
    name: str
    origin: Path
    at: str

    @property
    def folder(self) -> Path:
        """The skill's own folder in the archive."""
        return self.entry / self.name


def archived_skills(archive: Path) -> list[ArchivedSkill]:
    """Return the skills in an archive folder, the newest first."""
    return sorted(_entries(archive), key=lambda one: (one.at, one.entry.name), reverse=True)


def _entries(archive: Path) -> Iterator[ArchivedSkill]:
    for note in archive.glob(f"*/{NOTE_FILE}"):
        try:
            facts = json.loads(note.read_text(encoding="utf-8"))
            one = ArchivedSkill(note.parent, Path(facts["name"]).name, Path(facts["origin"]), str(facts["at"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if one.folder.is_dir() and one.origin.is_absolute():
            yield one


def trash_folder(home: Path, data_home: Path, platform: str) -> Path:
    """Return the person's trash folder on macOS, or that of the freedesktop.org Trash specification 1.0."""
    return home / ".Trash" if platform == "darwin" else data_home / "Trash"


def restore_command(one: ArchivedSkill, archive: Path) -> str:
    """Return the command that brings an archived skill back: by its name, unless others there have the same."""
    alone = sum(other.name == one.name for other in archived_skills(archive)) == 1
    return f"skilld skills restore {shlex.quote(one.name if alone else one.entry.name)}"


def way_back(folder: Path, archive: Path, trash: Path) -> str:
    """Return the command that brings a skill's folder back from the archive or the trash, "" if it is in neither."""
    archived = next((one for one in archived_skills(archive) if one.origin == folder), None)
    if archived is not None:
        return restore_command(archived, archive)
    deleted = max(_in_trash(folder, trash), default=None)
    return command_out_of_trash(deleted, folder) if deleted else ""


def command_out_of_trash(place: Path, folder: Path) -> str:
    """Return the command that moves a skill at `place` in the trash back to its folder, and removes its note."""
    note = _trash_note(place)
    cleared = f" && rm {shell_quoted(note)}" if note.is_file() else ""
    return f"mv {shell_quoted(place)} {shell_quoted(folder)}{cleared}"


def _trash_note(place: Path) -> Path:
    """Return the path of the note that desktops need to restore what is at `place`; macOS has none."""
    return place.parents[1] / "info" / f"{place.name}.trashinfo"


def _in_trash(folder: Path, trash: Path) -> Iterator[Path]:
    """Yield the folders in the trash that skilld moved there from `folder`."""
    files = trash / "files" if trash.name == "Trash" else trash
    for place in files.glob(f"{folder.name}-*/SKILL.md"):
        if not _STAMP_PATTERN.fullmatch(place.parent.name[len(folder.name) :]):
            continue
        if files == trash or _origin(_trash_note(place.parent)) == str(folder):
            yield place.parent


def _origin(note: Path) -> str:
    try:
        lines = note.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return ""
    return next((unquote(line.removeprefix("Path=")) for line in lines if line.startswith("Path=")), "")
