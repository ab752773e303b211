"""Moving a skill's folder away: whether it may be, to the trash, and whole at any moment in at least one place."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from skilld.errors import RefusedError, SkilldError
from skilld.git.errors import NotTrackedError
from skilld.git.run import PersonGit
from skilld.git.workdir import locate
from skilld.skills import Skill, Source, why_left_alone
from skilld.skills.find import FILE

# Moving a folder, also onto another device, so that a crash at any moment leaves it whole in at least one place.


def move(source: Path, target: Path) -> None:
    """Move the folder `source` to the path `target`, where nothing is and whose parent exists.

    Onto another device it is copied, written through and compared before the first file of the old place goes. Raises
    OSError, and RefusedError where a file changed meanwhile; the source is then as it was.
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
        raise RefusedError("The skill was not moved", f"{source} was changed by someone else meanwhile")
    copy.rename(target)
    _sync(target.parent)


def _content(folder: Path) -> list[tuple[str, int, str]]:
    """Return every file, folder and link below a folder: name, mode, and the digest of what it holds."""
    return sorted((str(path.relative_to(folder)), path.lstat().st_mode, _held(path)) for path in _below(folder))


def _below(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        yield from (Path(here) / name for name in (*folders, *files))


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
        why = _why_not(skill, folder, folders) or _uncommitted(folder, removed)
    except SkilldError as error:
        raise RefusedError(title, str(error), error.remedy) from error
    if why:
        raise RefusedError(title, why)


def _why_not(skill: Skill, folder: Path, folders: Iterable[Path]) -> str:
    if skill.source is Source.PLUGIN:
        return "it belongs to a plugin"
    if left_alone := why_left_alone(skill.path, skill.name):
        return left_alone
    if os.path.lexists(folder / ".git"):
        return f"{folder} is a repository of its own"
    links = (link for link in _seen_as(folders, skill) if _is_link(link))
    return next((f"{link} is a link to it" for link in links), "")


def _seen_as(folders: Iterable[Path], skill: Skill) -> Iterable[Path]:
    """Yield the paths below `folders` at which agents find the skill."""
    for folder in folders:
        try:
            found = [path for path in folder.iterdir() if (path / FILE).resolve() == skill.path]
        except OSError:
            continue
        yield from found


def _is_link(path: Path) -> bool:
    return path.is_symlink() or (path / FILE).is_symlink()


def _uncommitted(folder: Path, removed: Mapping[str, str]) -> str:
    """Return what git would lose: changes of a folder that it holds. One it holds nothing of is not its affair."""
    try:
        place = locate(folder)
    except NotTrackedError:
        return ""
    git = PersonGit(place.toplevel, removed)
    inside = folder.relative_to(place.toplevel).as_posix()
    held = git.run("ls-files", "-z", "--", inside)
    if held and git.run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--", inside):
        return f"{inside} has changes that are not committed"
    return ""


# Deleting a skill: its folder moves to the person's trash, from where their desktop puts it back.


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
