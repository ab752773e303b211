"""Archived skills: their folders in skilld's data directory, each with a note of where it came from.

An entry is a folder `NAME-YYYYMMDD-HHMMSS` with the skill's own folder in it and `origin.json` beside that. The note is
written first, so that whatever lies there says where it belongs; an entry without the skill is of no account.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from skilld.clock import rfc3339
from skilld.errors import RefusedError, SkilldError
from skilld.files import write_whole
from skilld.library.move import going, move, remove, same

NOTE = "origin.json"
_ABANDONED = 86400.0  # seconds


@dataclass(frozen=True, slots=True)
class Archived:
    """A skill in the archive. `entry` is its folder there, `origin` the folder it was, `at` when it came (RFC 3339)."""

    entry: Path
    name: str
    origin: Path
    at: str

    @property
    def folder(self) -> Path:
        """Where the skill's own folder is now."""
        return self.entry / self.name


def archived(where: Path) -> list[Archived]:
    """Return what is in the archive `where`, the newest first."""
    return sorted(_entries(where), key=lambda one: (one.at, one.entry.name), reverse=True)


def sweep(where: Path, now: float) -> None:
    """Remove what a move that was killed has left: copies that are whole elsewhere. Entries may be in the making."""
    for one in archived(where):
        shutil.rmtree(going(one.origin), ignore_errors=True)
    whole = {one.entry for one in archived(where)}
    for entry in where.iterdir():
        if entry not in whole and entry.is_dir() and now - entry.lstat().st_mtime > _ABANDONED:
            shutil.rmtree(entry, ignore_errors=True)


def archive(folder: Path, where: Path, now: float) -> Archived:
    """Move a skill's folder into the archive `where`, a private folder that exists; `now` is a Unix time.

    What an earlier call that was killed had copied whole is finished. Raises SkilldError where it cannot be moved, with
    the folder as it was.
    """
    try:
        for one in archived(where):
            if one.origin == folder and same(one.folder, folder):
                remove(folder)
                return one
        made = Archived(_new_entry(where, folder.name, now), folder.name, folder, rfc3339(now))
        note = {"name": made.name, "origin": str(folder), "at": made.at}
        write_whole(made.entry / NOTE, (json.dumps(note) + "\n").encode(), 0o600)
        try:
            move(folder, made.folder)
        except (OSError, RefusedError):
            if os.path.lexists(folder):  # else what is in the archive is all there is
                _drop(made.entry)
            raise
    except OSError as error:
        raise SkilldError("The skill was not archived", f"{folder}: {error.strerror or error}") from error
    return made


def restore(one: Archived) -> Path:
    """Move an archived skill back and return its folder.

    Raises RefusedError where something is there by now, or its project is gone; SkilldError where it cannot be moved.
    """
    title = "The skill was not restored"
    try:
        if os.path.lexists(one.origin):
            if one.origin.is_symlink() or not one.origin.is_dir() or not same(one.folder, one.origin):
                raise RefusedError(title, f"there is something at {one.origin} by now", "Move that away first.")
            remove(one.folder)  # an earlier call was killed when it had copied everything
        else:
            if not _project(one.origin).is_dir():
                raise RefusedError(title, f"{_project(one.origin)} is gone", f"It lies in {one.folder}")
            one.origin.parent.mkdir(parents=True, exist_ok=True)
            move(one.folder, one.origin)
        _drop(one.entry)
    except OSError as error:
        raise SkilldError(title, f"{one.origin}: {error.strerror or error}") from error
    return one.origin


def _project(origin: Path) -> Path:
    """Return what has to be there still: the folder that holds the agent's one, as `P` in `P/.claude/skills/NAME`."""
    return next((folder.parent for folder in origin.parents if folder.name.startswith(".")), origin.parent)


def _new_entry(where: Path, name: str, now: float) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    for number in count(1):
        entry = where / (f"{name}-{stamp}" if number == 1 else f"{name}-{stamp}-{number}")
        try:
            entry.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return entry
    raise AssertionError


def _entries(where: Path) -> Iterator[Archived]:
    for note in where.glob(f"*/{NOTE}"):
        try:
            said = json.loads(note.read_text(encoding="utf-8"))
            one = Archived(note.parent, Path(said["name"]).name, Path(said["origin"]), str(said["at"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if one.folder.is_dir() and one.origin.is_absolute():
            yield one


def _drop(entry: Path) -> None:
    """Remove an entry of a skill that is whole elsewhere."""
    (entry / NOTE).unlink(missing_ok=True)
    shutil.rmtree(entry, ignore_errors=True)
