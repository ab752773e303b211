"""Whether a repository is really absent, or only cannot be read at the moment.

Git says "not a git repository" of one whose `.git` may not be entered or fails to be read, as it does where there is
none, and takes a branch whose ref it cannot read for one without a commit (measured, 2.39). Paths enter; nothing leaves
where it is absent, else a typed refusal. Runs nothing.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from skilld.git.errors import RepoRefusedError, RepoUnreadableError

_ABSENT = (FileNotFoundError, NotADirectoryError)
_FILES = ("HEAD", "config")
_FOLDERS = ("objects", "refs")
_PASSING = (errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN)
_BROKEN = "see what git says: git status"
_LIMIT = 16 << 20  # bytes of a file of git's that are read


def require_absent(folder: Path) -> None:
    """Raise where a repository stands around `folder` all the same.

    RepoUnreadableError where that cannot be told now, RepoRefusedError where it is there and broken.
    """
    device = None
    for above in (folder, *folder.parents):
        try:
            facts = above.stat()
            if device not in {None, facts.st_dev}:  # git looks no higher than the mount point
                return
            device = facts.st_dev
            (above / ".git").lstat()
        except _ABSENT:
            continue
        except OSError as error:
            raise _unreadable(above / ".git", error) from error
        _require_none(above / ".git")


def _require_none(dot_git: Path) -> None:
    try:
        if not dot_git.is_dir():
            dot_git.read_bytes()
            raise RepoRefusedError("The repository is refused", f"{dot_git} leads to no repository", _BROKEN)
        if not set(os.listdir(dot_git)) & {*_FILES, *_FOLDERS}:  # noqa: PTH208 - names, not paths
            return  # a folder that only has the name
        for name in _FILES:
            with suppress(FileNotFoundError):
                (dot_git / name).read_bytes()
        for name in _FOLDERS:
            with suppress(FileNotFoundError):
                os.scandir(dot_git / name).close()
                if not os.access(dot_git / name, os.X_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(dot_git / name))
    except OSError as error:
        raise _unreadable(dot_git, error) from error
    raise RepoRefusedError("The repository is refused", f"git finds no repository in {dot_git}", _BROKEN)


def require_unborn(git_dir: Path, common_dir: Path, branch: str | None) -> None:
    """Raise RepoUnreadableError unless HEAD is on a branch that has no commit yet."""
    if branch is None:
        raise RepoUnreadableError(str(git_dir / "HEAD"), "the commit that it names cannot be read")
    if (common_dir / "reftable").is_dir():
        return  # git alone can tell
    try:
        (common_dir / branch).lstat()
    except _ABSENT:
        pass
    except OSError as error:
        raise _unreadable(common_dir / branch, error) from error
    else:
        raise RepoUnreadableError(str(common_dir / branch), "the commit that it names cannot be read")
    try:
        with (common_dir / "packed-refs").open("rb") as file:
            packed = file.read(_LIMIT)
    except _ABSENT:
        return
    except OSError as error:
        raise _unreadable(common_dir / "packed-refs", error) from error
    if os.fsencode(branch) in (line.split(b" ", 1)[-1] for line in packed.splitlines()):
        raise RepoUnreadableError(str(common_dir / "packed-refs"), f"the commit of {branch} cannot be read")


def is_passing(sentence: str) -> bool:
    """Whether a sentence of git's ends with an error of the system's that may be gone the next moment."""
    return sentence.endswith(tuple(f": {os.strerror(number)}" for number in _PASSING))


def _unreadable(path: Path, error: OSError) -> RepoUnreadableError:
    return RepoUnreadableError(str(error.filename or path), error.strerror or type(error).__name__)


# Objects that a git which was killed, or found no room, began to write: `tmp_obj_*` files that nothing ever reads.
#
# Git itself leaves them for two weeks. A folder of objects enters, the files that were removed leave.

_FOLDER = re.compile(r"[0-9a-f]{2}")
_BEGUN = "tmp_obj_"
_PROCESSES = Path("/proc")
_SURELY = 3600.0  # seconds: older than what any process still writes, where it cannot be seen who does


def remove_begun_objects(objects: Path, older_than: float) -> list[Path]:
    """Remove our own files of that kind that nobody wrote to for so many seconds and no process has open."""
    found = {path: facts for path in _begun(objects) if (facts := _facts(path)) is not None}
    seen = _PROCESSES.is_dir()
    before = time.time() - (older_than if seen else max(older_than, _SURELY))
    old = [path for path, facts in found.items() if facts.st_mtime <= before]
    held = _open_files() if old and seen else set()
    removed = [path for path in old if (found[path].st_dev, found[path].st_ino) not in held]
    for path in removed:
        with suppress(OSError):
            path.unlink()
    return removed


def _begun(objects: Path) -> Iterator[Path]:
    with suppress(OSError):
        for entry in os.scandir(objects):
            if entry.name.startswith(_BEGUN):
                yield Path(entry.path)
            elif _FOLDER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    yield from (Path(one.path) for one in os.scandir(entry.path) if one.name.startswith(_BEGUN))


def _facts(path: Path) -> os.stat_result | None:
    try:
        facts = path.lstat()
    except OSError:
        return None
    return facts if stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() else None


def _open_files() -> set[tuple[int, int]]:
    """Return device and inode of what processes have open, as far as we may see."""
    found = set()
    for process in _PROCESSES.glob("[0-9]*/fd"):
        with suppress(OSError):
            for name in os.listdir(process):  # noqa: PTH208 - names, not paths
                with suppress(OSError):
                    facts = os.stat(process / name)  # noqa: PTH116 - the open file, not the link
                    found.add((facts.st_dev, facts.st_ino))
    return found
