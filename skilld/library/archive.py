"""Archived skills: their folders in skilld's data directory, each with a note of where it came from.

An entry is a folder `NAME-YYYYMMDD-HHMMSS` with the skill's own folder in it and `origin.json` beside that. The note is
written first, so that whatever lies there says where it belongs; an entry without the skill is of no account.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import quote

from skilld.clock import rfc3339
from skilld.errors import RefusedError, SkilldError
from skilld.files import write_whole
from skilld.git.errors import NotTrackedError
from skilld.git.repo import locate
from skilld.git.run import PersonGit
from skilld.skills import Skill, Source, opt_out
from skilld.skills.find import FILE

# Moving a folder, also onto another device, so that a crash at any moment leaves it whole in at least one place.


def move(source: Path, target: Path) -> None:
    """Move the folder `source` to the path `target`, where nothing is and whose parent exists.

    Onto another device it is copied, written through and compared before the first file of the old place goes. Raises
    OSError, and RefusedError if a file changed meanwhile; the source is then as it was.
    """
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy(source, target)
        remove(source)
    else:
        _sync(source.parent)
        _sync(target.parent)


def remove(folder: Path) -> None:
    """Remove a folder that has been copied. It goes under a hidden name first: half of it is never taken for it.

    What cannot be removed then stays there: the copy is whole, so that is no failure of the move.
    """
    hidden = going(folder)
    if hidden.exists():
        shutil.rmtree(hidden)  # of an earlier, interrupted move
    folder.rename(hidden)
    _sync(folder.parent)
    shutil.rmtree(hidden, ignore_errors=True)


def going(folder: Path) -> Path:
    """Return where a folder is while it is being removed."""
    return folder.with_name(f".skilld-moved-{folder.name}")


def same(one: Path, other: Path) -> bool:
    """Whether two folders hold the same files with the same bytes, links and permissions."""
    return _content(one) == _content(other)


def _copy(source: Path, target: Path) -> None:
    copy = target.with_name(f".skilld-copying-{target.name}")
    if copy.exists():
        shutil.rmtree(copy)
    before = _content(source)
    try:
        shutil.copytree(source, copy, symlinks=True)
    except OSError as error:
        shutil.rmtree(copy, ignore_errors=True)
        if isinstance(error, shutil.Error):  # one for each file: (from, to, what the first error said)
            said = str(error.args[0][0][2])
            raise OSError(errno.EIO, said.partition("] ")[2].partition(":")[0] or said) from error
        raise
    for path in (*copy.rglob("*"), copy):
        if not path.is_symlink():
            _sync(path)
    if _content(copy) != before or _content(source) != before:
        shutil.rmtree(copy)
        raise RefusedError("Could not move the skill", f"{source} was changed by another program")
    copy.rename(target)
    _sync(target.parent)


def _content(folder: Path) -> list[tuple[str, int, str]]:
    """Return every file, folder and link below a folder: name, mode, and the digest of what it holds."""
    return sorted(
        (str(path.relative_to(folder)), path.lstat().st_mode, _held(path))
        for here, folders, files in os.walk(folder)
        for path in (Path(here) / name for name in (*folders, *files))
    )


def _held(path: Path) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return str(path.readlink())
    if stat.S_ISREG(mode):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Whether a skill's folder may be moved away: not where that would lose work, leave a dead link, or was forbidden.


def check(skill: Skill, folders: Iterable[Path], removed: Mapping[str, str], title: str) -> None:
    """Raise RefusedError with `title` where the skill's folder must stay where it is.

    `folders` are those in which agents look for skills, `removed` what `scrub_environment` took out of the process.
    """
    folder = skill.path.parent
    try:
        why = _refusal(skill, folder, folders) or _uncommitted(folder, removed)
    except SkilldError as error:
        raise RefusedError(title, str(error), error.remedy) from error
    if why:
        raise RefusedError(title, why)


def _refusal(skill: Skill, folder: Path, folders: Iterable[Path]) -> str | None:
    if skill.source is Source.PLUGIN:
        return "it belongs to a plugin"
    if reason := opt_out(skill.path, skill.name):
        return reason
    if os.path.lexists(folder / ".git"):
        return f"{folder} is a separate repository"
    seen = _seen_as(folders, skill)
    return next((f"{one} is a symlink to it" for one in seen if one.is_symlink() or (one / FILE).is_symlink()), None)


def _seen_as(folders: Iterable[Path], skill: Skill) -> Iterable[Path]:
    """Yield the paths below `folders` at which agents find the skill."""
    for folder in folders:
        try:
            found = [path for path in folder.iterdir() if (path / FILE).resolve() == skill.path]
        except OSError:
            continue
        yield from found


def _uncommitted(folder: Path, removed: Mapping[str, str]) -> str | None:
    """Return what git would lose: changes of a folder that it holds. One it holds nothing of is not its affair."""
    try:
        place = locate(folder)
    except NotTrackedError:
        return None
    git = PersonGit(place.toplevel, removed)
    inside = folder.relative_to(place.toplevel).as_posix()
    held = git.run("ls-files", "-z", "--", inside)
    if held and git.run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--", inside):
        return f"{inside} has uncommitted changes"
    return None


# Deleting a skill: its folder moves to the person's trash, from where their desktop puts it back.


def trash_of(home: Path, data_home: Path, platform: str) -> Path:
    """Return the person's trash: macOS's, or that of the freedesktop.org Trash specification 1.0."""
    return home / ".Trash" if platform == "darwin" else data_home / "Trash"


def put_aside(skill: Skill, trash: Path) -> Path:
    """Move a skill's folder to the trash and return where it is now.

    Raises SkilldError if it cannot be moved, RefusedError if it is more than a skill: people link whole
    repositories into their skills folders.
    """
    folder = skill.path.parent
    if (folder / ".git").exists():
        remedy = "Remove the symlink to the repository instead."
        raise RefusedError("The skill was not deleted", f"{folder} is a separate repository", remedy)
    name = f"{folder.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    if skill.source is Source.PLUGIN or not (folder / "SKILL.md").is_file():
        raise SkilldError("The skill was not deleted", "it is not in one of your own folders")
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


NOTE = "origin.json"
_ABANDONED = 86400.0  # seconds


@dataclass(frozen=True, slots=True)
class ArchivedSkill:
    """A skill in the archive. `entry` is its folder there, `origin` the folder it was, `at` when it came (RFC 3339)."""

    entry: Path
    name: str
    origin: Path
    at: str

    @property
    def folder(self) -> Path:
        """Where the skill's own folder is now."""
        return self.entry / self.name


def archived(where: Path) -> list[ArchivedSkill]:
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


def archive(folder: Path, where: Path, now: float) -> ArchivedSkill:
    """Move a skill's folder into the archive `where`, a private folder that exists; `now` is a Unix time.

    What an earlier call that was killed had copied whole is finished. Raises SkilldError if it cannot be moved, with
    the folder as it was.
    """
    try:
        for one in archived(where):
            if one.origin == folder and same(one.folder, folder):
                remove(folder)
                return one
        made = ArchivedSkill(_new_entry(where, folder.name, now), folder.name, folder, rfc3339(now))
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


def restore(one: ArchivedSkill) -> Path:
    """Move an archived skill back and return its folder.

    Raises RefusedError if something is there by now, or its project is gone; SkilldError if it cannot be moved.
    """
    title = "The skill was not restored"
    try:
        if os.path.lexists(one.origin):
            if one.origin.is_symlink() or not one.origin.is_dir() or not same(one.folder, one.origin):
                raise RefusedError(title, f"{one.origin} already exists", "Move it out of the way first.")
            remove(one.folder)  # an earlier call was killed when it had copied everything
        else:
            if not _project(one.origin).is_dir():
                raise RefusedError(title, f"{_project(one.origin)} is gone", f"The skill is still in {one.folder}")
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


def _entries(where: Path) -> Iterator[ArchivedSkill]:
    for note in where.glob(f"*/{NOTE}"):
        try:
            said = json.loads(note.read_text(encoding="utf-8"))
            one = ArchivedSkill(note.parent, Path(said["name"]).name, Path(said["origin"]), str(said["at"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if one.folder.is_dir() and one.origin.is_absolute():
            yield one


def _drop(entry: Path) -> None:
    """Remove an entry of a skill that is whole elsewhere."""
    (entry / NOTE).unlink(missing_ok=True)
    shutil.rmtree(entry, ignore_errors=True)
