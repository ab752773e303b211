"""Archives, restores and deletes skills by moving their folders.

An archive entry (`skilld/skills/set_aside.py`) is a folder `NAME-YYYYMMDD-HHMMSS` in skilld's data directory. Its note
is written first, so that every archived folder has its origin; entries without a skill are ignored.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from urllib.parse import quote

from skilld.clock import rfc3339
from skilld.errors import RefusedError, SkilldError, cause_of
from skilld.files import shell_quoted, write_atomically
from skilld.git.errors import NotTrackedError
from skilld.git.repo import locate
from skilld.git.run import PersonGit, literal
from skilld.skills import Skill, Source, opt_out
from skilld.skills.find import FILE
from skilld.skills.set_aside import NOTE_FILE, ArchivedSkill, archived_skills

# Moving a folder, also to another device, such that a crash at any moment leaves it complete in at least one place.


def move_folder(source: Path, target: Path) -> None:
    """Move the folder `source` to the path `target`, which must not exist but whose parent must.

    On another device it is copied, synced and compared before the first file of the source is removed. Raises OSError,
    and RefusedError if a file changed meanwhile; the source is then unchanged.
    """
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy_folder(source, target)
        remove_folder(source)
    else:
        _sync_to_disk(source.parent)
        _sync_to_disk(target.parent)


def remove_folder(folder: Path) -> None:
    """Remove a folder that has been copied. It gets a hidden name first, so that half of it is never taken for it.

    Files that cannot be removed stay there: the copy is complete, so the move has not failed.
    """
    hidden = hidden_path(folder)
    if hidden.exists():
        shutil.rmtree(hidden)  # of an earlier, interrupted move
    folder.rename(hidden)
    _sync_to_disk(folder.parent)
    shutil.rmtree(hidden, ignore_errors=True)


def hidden_path(folder: Path) -> Path:
    """Return the path of a folder while it is being removed."""
    return folder.with_name(f".skilld-moved-{folder.name}")


def is_same_folder(one: Path, other: Path) -> bool:
    """Whether two folders have the same files with the same bytes, links and permissions."""
    return _folder_content(one) == _folder_content(other)


def _copy_folder(source: Path, target: Path) -> None:
    copy = target.with_name(f".skilld-copying-{target.name}")
    if copy.exists():
        shutil.rmtree(copy)
    before = _folder_content(source)
    try:
        shutil.copytree(source, copy, symlinks=True)
    except OSError as error:
        shutil.rmtree(copy, ignore_errors=True)
        if isinstance(error, shutil.Error):  # one for each file: (from, to, what the first error said)
            reason = str(error.args[0][0][2])
            raise OSError(errno.EIO, reason.partition("] ")[2].partition(":")[0] or reason) from error
        raise
    for path in (*copy.rglob("*"), copy):
        if not path.is_symlink():
            _sync_to_disk(path)
    if _folder_content(copy) != before or _folder_content(source) != before:
        shutil.rmtree(copy)
        raise RefusedError("Could not move the skill", f"{source} was changed by another program")
    copy.rename(target)
    _sync_to_disk(target.parent)


def _folder_content(folder: Path) -> list[tuple[str, int, str]]:
    """Return every file, folder and link below a folder: name, mode, and digest or link target."""
    return sorted(
        (str(path.relative_to(folder)), path.lstat().st_mode, _file_content(path))
        for here, folders, files in os.walk(folder)
        for path in (Path(here) / name for name in (*folders, *files))
    )


def _file_content(path: Path) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return str(path.readlink())
    if stat.S_ISREG(mode):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""


def _sync_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Whether a skill's folder may be moved: not if that would lose work, leave a dead link, or is forbidden.


def check_movable(skill: Skill, folders: Iterable[Path], title: str) -> None:
    """Raise RefusedError with `title` if the skill's folder must not be moved.

    `folders` are those in which agents look for skills.
    """
    folder, places = skill.path.parent, list(folders)
    try:
        why, remedy = _refusal_reason(skill, folder), ""
        if why is None and (link := _symlink_to(skill, places)):
            why = f"{link} is a symlink to it"
            linked = folder.parent in {Path(os.path.realpath(one)) for one in places}
            way = "First remove the symlink" if linked else "To hide it from your agents, remove the symlink"
            remedy = f"{way}: rm {shell_quoted(link)}"
        if why is None and (why := _uncommitted_reason(folder)):
            remedy = "Commit or stash them first."
    except SkilldError as error:
        raise RefusedError(title, str(error), error.remedy) from error
    if why:
        raise RefusedError(title, why, remedy)


def _refusal_reason(skill: Skill, folder: Path) -> str | None:
    if skill.source is Source.PLUGIN:
        return "it belongs to a plugin"
    if reason := opt_out(skill.path, skill.name):
        return reason
    if os.path.lexists(folder / ".git"):
        return f"{folder} is a separate repository"
    return None


def _symlink_to(skill: Skill, folders: Iterable[Path]) -> Path | None:
    """Return the first symlink below `folders` by which agents find the skill."""
    for folder in folders:
        with suppress(OSError):
            for path in folder.iterdir():
                file = path / FILE
                if os.path.realpath(file) == str(skill.path) and (path.is_symlink() or file.is_symlink()):
                    return path if path.is_symlink() else file
    return None


def _uncommitted_reason(folder: Path) -> str | None:
    """Return that a folder with tracked files has uncommitted changes, None otherwise."""
    try:
        place = locate(folder)
    except NotTrackedError:
        return None
    git = PersonGit(place.toplevel)
    inside = folder.relative_to(place.toplevel).as_posix()
    held = git.run("ls-files", "-z", "--", literal(inside))
    if held and git.run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--", literal(inside)):
        return f"{inside} has uncommitted changes"
    return None


# Deleting a skill: its folder moves to the person's trash, from which the desktop can restore it.


def move_to_trash(skill: Skill, trash: Path) -> Path:
    """Move a skill's folder to the trash and return its new path.

    Raises SkilldError if it cannot be moved, RefusedError if it is more than a skill: people link whole repositories
    into their skills folders.
    """
    folder = skill.path.parent
    if (folder / ".git").exists():
        remedy = "Remove the symlink to the repository instead."
        raise RefusedError("The skill was not deleted", f"{folder} is a separate repository", remedy)
    if skill.source is Source.PLUGIN or not (folder / "SKILL.md").is_file():
        raise SkilldError("The skill was not deleted", "it is not in one of your own folders")
    files = trash / "files" if trash.name == "Trash" else trash
    info = None
    try:
        files.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = _free_place(files, folder.name)
        if files != trash:  # desktops need this to restore it
            (trash / "info").mkdir(mode=0o700, exist_ok=True)
            said = f"Path={quote(str(folder))}\nDeletionDate={time.strftime('%Y-%m-%dT%H:%M:%S')}"
            with (trash / "info" / f"{place.name}.trashinfo").open("x", encoding="utf-8") as file:
                info = Path(file.name)
                file.write(f"[Trash Info]\n{said}\n")
        move_folder(folder, place)
    except (OSError, RefusedError) as error:
        if info is not None and os.path.lexists(folder):
            info.unlink(missing_ok=True)
        if isinstance(error, RefusedError):
            raise
        raise SkilldError("The skill was not deleted", f"{error.filename or folder}: {cause_of(error)}") from error
    return place


def _free_place(files: Path, name: str) -> Path:
    """Return the path below `files` for a folder of this name, which others of the same second do not have."""
    info = files.parent / "info"
    return next(
        files / one
        for one in _stamped_names(name, time.localtime())
        if not os.path.lexists(files / one) and not os.path.lexists(info / f"{one}.trashinfo")
    )


_ABANDONED_SECONDS = 86400.0  # seconds


def remove_leftovers(archive: Path, now: float) -> None:
    """Remove leftovers of interrupted moves, which are complete elsewhere. Recent entries may be in progress."""
    for one in archived_skills(archive):
        shutil.rmtree(hidden_path(one.origin), ignore_errors=True)
    whole = {one.entry for one in archived_skills(archive)}
    for entry in archive.iterdir():
        if entry not in whole and entry.is_dir() and now - entry.lstat().st_mtime > _ABANDONED_SECONDS:
            shutil.rmtree(entry, ignore_errors=True)


def archive_skill(folder: Path, archive: Path, now: float) -> ArchivedSkill:
    """Move a skill's folder into `archive`, an existing private folder; `now` is a Unix time.

    Completes an earlier call that was killed after copying. Raises SkilldError if the folder cannot be moved; it is
    then unchanged.
    """
    try:
        for one in archived_skills(archive):
            if one.origin == folder and is_same_folder(one.folder, folder):
                remove_folder(folder)
                return one
        made = ArchivedSkill(_new_entry(archive, folder.name, now), folder.name, folder, rfc3339(now))
        note = {"name": made.name, "origin": str(folder), "at": made.at}
        write_atomically(made.entry / NOTE_FILE, (json.dumps(note) + "\n").encode(), 0o600)
        try:
            move_folder(folder, made.folder)
        except (OSError, RefusedError):
            if os.path.lexists(folder):  # otherwise the archive has the only copy
                _remove_entry(made.entry)
            raise
    except OSError as error:
        raise SkilldError("The skill was not archived", f"{folder}: {error.strerror or error}") from error
    return made


def restore_skill(one: ArchivedSkill) -> Path:
    """Move an archived skill back and return its folder.

    Raises RefusedError if the path is taken or the project is gone, SkilldError if it cannot be moved.
    """
    title = "The skill was not restored"
    try:
        if os.path.lexists(one.origin):
            if one.origin.is_symlink() or not one.origin.is_dir() or not is_same_folder(one.folder, one.origin):
                raise RefusedError(title, f"{one.origin} already exists", "Move it out of the way first.")
            remove_folder(one.folder)  # an earlier call was killed after copying everything
        else:
            if not _project_folder(one.origin).is_dir():
                raise RefusedError(
                    title, f"{_project_folder(one.origin)} is gone", f"The skill is still in {one.folder}"
                )
            one.origin.parent.mkdir(parents=True, exist_ok=True)
            move_folder(one.folder, one.origin)
        _remove_entry(one.entry)
    except OSError as error:
        raise SkilldError(title, f"{one.origin}: {error.strerror or error}") from error
    return one.origin


def _project_folder(origin: Path) -> Path:
    """Return the folder that must still exist: the one with the agent's folder, as `P` in `P/.claude/skills/NAME`."""
    return next((folder.parent for folder in origin.parents if folder.name.startswith(".")), origin.parent)


def _stamped_names(name: str, at: time.struct_time) -> Iterator[str]:
    """Yield names for a skill's folder that is set aside: with the time, and a number if that one is taken."""
    stamped = f"{name}-{time.strftime('%Y%m%d-%H%M%S', at)}"
    yield stamped
    yield from (f"{stamped}-{number}" for number in count(2))


def _new_entry(archive: Path, name: str, now: float) -> Path:
    for one in _stamped_names(name, time.gmtime(now)):
        with suppress(FileExistsError):
            (archive / one).mkdir(mode=0o700)
            return archive / one
    raise AssertionError


def _remove_entry(entry: Path) -> None:
    """Remove an entry whose skill is complete elsewhere."""
    (entry / NOTE_FILE).unlink(missing_ok=True)
    shutil.rmtree(entry, ignore_errors=True)
