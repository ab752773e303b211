"""skilld's own processes one after the other in a repository, without leaving a trace in it.

The kernel's lock on the git directory itself: nothing is written, git knows nothing of it, and a process that is killed
frees it. It only keeps our processes from racing for ever; that no move is lost is `skilld.git.refs`' work.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 10.0  # seconds; then we go on as if alone
_STEP = 0.01


@contextmanager
def in_turn(common_dir: Path) -> Iterator[None]:
    """Wait until no other process is in a block like this for the same repository, but not for ever."""
    descriptor = os.open(common_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + _PATIENCE
        while not _locked(descriptor) and time.monotonic() < deadline:
            time.sleep(_STEP)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Whether the lock is ours now, or is none that this file system has (NFS)."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
