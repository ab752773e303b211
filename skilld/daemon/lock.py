"""One daemon per person: a kernel lock that is released with the process, however it dies."""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from skilld import __version__
from skilld.errors import NotRunningError, SkilldError

_TRIES = 500  # 10 s in all: on a busy machine somebody who looks may be kept from letting go of it
_PAUSE = 0.02  # seconds
_ELSEWHERE = "Set XDG_STATE_HOME to a folder on a local disk."


class Lock:
    """The daemon's lock; hold the object as long as the lock."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def take(cls, path: Path) -> Lock:
        """Take the lock, or raise NotRunningError if another process holds it."""
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise SkilldError("Cannot acquire the daemon's lock", f"{path}: {error.strerror}") from error
        try:
            free = _wait_for(fd)
        except OSError as error:  # a file system without locks
            os.close(fd)
            raise SkilldError("Cannot acquire the daemon's lock", f"{path}: {error.strerror}", _ELSEWHERE) from error
        if not free:
            os.close(fd)
            raise NotRunningError(
                "skilld is already running",
                f"process {holder(path) or 'unknown'}",
                "See what it is doing: skilld status",
            )
        os.ftruncate(fd, 0)
        os.write(fd, json.dumps({"pid": os.getpid(), "version": __version__}).encode())
        return cls(fd)

    def release(self) -> None:
        """Free the lock."""
        os.close(self._fd)


def _wait_for(fd: int) -> bool:
    """Take the lock; False if a daemon has it. `is_held` shares it while it looks: that is waited out."""
    for _ in range(_TRIES):
        if _try(fd, fcntl.LOCK_EX):
            return True
        if not _try(fd, fcntl.LOCK_SH):
            return False
        fcntl.flock(fd, fcntl.LOCK_UN)
        time.sleep(_PAUSE)
    return False


def _try(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(path: Path) -> bool:
    """Whether a daemon runs: asks the kernel, not the file's content."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def holder(path: Path) -> int | None:
    """Return the process that last took the lock: a hint, never used to signal it."""
    try:
        return int(json.loads(path.read_text())["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


# The files that a running daemon stands on, and whether they are still the ones it opened.
#
# SQLite goes on with a database that was deleted or replaced, and the kernel with a lock whose file is gone. What is
# learned then goes where nobody will ever look, or into another file's log, and a second daemon may start.

_BESIDE = ("", "-wal", "-shm")


class FileIdentity:
    """Knows the lock and the database, both open by now, with what SQLite keeps next to it."""

    def __init__(self, lock: Path, database: Path) -> None:
        files = [lock, *(database.with_name(database.name + more) for more in _BESIDE)]
        self._known = {path: here for path in files if (here := _identity(path))}

    def check(self) -> None:
        """Raise SkilldError if one of them was deleted, moved away or replaced."""
        for path, known in self._known.items():
            with suppress(OSError):  # a disk that does not answer says nothing of it
                if _identity(path) != known:
                    raise SkilldError(
                        "skilld is stopping because one of its own files was removed",
                        f"{path} was deleted or replaced",
                        "Start skilld again: skilld run. If it runs as a service, it restarts on its own.",
                    )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return facts.st_dev, facts.st_ino
