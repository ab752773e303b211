"""One daemon per person: a kernel lock that is freed with the process, however it dies."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path

from skilld import __version__
from skilld.errors import NotRunningError, SkilldError

_TRIES = 500  # 10 s in all: on a busy machine somebody who looks may be kept from letting go of it
_PAUSE = 0.02  # seconds
_ELSEWHERE = "Set XDG_STATE_HOME to a folder on a disk of this machine."


class Lock:
    """The daemon's lock; hold the object as long as the lock."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def take(cls, path: Path) -> Lock:
        """Take the lock, or raise NotRunningError where another process holds it."""
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise SkilldError("The daemon's lock cannot be taken", f"{path}: {error.strerror}") from error
        try:
            free = _wait_for(fd)
        except OSError as error:  # a file system without locks
            os.close(fd)
            raise SkilldError("The daemon's lock cannot be taken", f"{path}: {error.strerror}", _ELSEWHERE) from error
        if not free:
            os.close(fd)
            raise NotRunningError(
                "skilld is running already", f"process {holder(path) or 'unknown'}", "See it: skilld status"
            )
        os.ftruncate(fd, 0)
        os.write(fd, json.dumps({"pid": os.getpid(), "version": __version__}).encode())
        return cls(fd)

    def release(self) -> None:
        """Free the lock."""
        os.close(self._fd)


def _wait_for(fd: int) -> bool:
    """Take the lock; False where a daemon has it. `is_held` shares it while it looks: that is waited out."""
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
