"""Writes files atomically, checks who else can change them, finds programs, and quotes paths for a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple


def write_whole(path: Path, data: bytes | Iterable[bytes], mode: int, check: Callable[[], None] | None = None) -> None:
    """Put a file holding `data` in the place of `path`, which is no link; a crash leaves the old one or the new one.

    `check` is called when all is written and only the rename is left; what it raises is raised here, and nothing has
    changed then. Raises OSError.
    """
    descriptor, name = tempfile.mkstemp(prefix=".skilld-", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        if check is not None:
            check()
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_plain(path: Path, most: int, *, links: bool = True) -> tuple[bytes, os.stat_result]:
    """Return what a regular file holds, and its facts; with `links` also the file a link leads to. Waits for no pipe.

    Raises OSError if it cannot be read, ValueError if it is something else or has over `most` bytes.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW))
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise ValueError("it is not a regular file")
        if facts.st_size > most:
            raise ValueError(f"it is {facts.st_size} bytes; the limit is {most}")
        return file.read(most), facts


def open_to_others(facts: os.stat_result, *, secret: bool) -> str | None:
    """Return what lets others decide what a file says, or read it where it holds a `secret`; None if nothing does.

    A file of root's that nobody else may write is trusted: some systems keep settings so.
    """
    mode = stat.S_IMODE(facts.st_mode)
    if facts.st_uid not in {os.geteuid(), 0}:
        return "belongs to another user"
    if mode & 0o022:
        return "can be changed by other users"
    return "contains an API key and can be read by other users" if secret and mode & 0o044 else None


def in_shell(path: Path) -> str:
    """Return a path as one word of a command to copy: macOS keeps skilld's folders in one with a blank."""
    return shlex.quote(str(path))


class FileFacts(NamedTuple):
    """What tells a transcript and its state, in the words of `os.stat_result`."""

    st_dev: int
    st_ino: int
    st_size: int
    st_mtime: float


def on_path(names: Iterable[str], environment: Mapping[str, str]) -> Path | None:
    """Return the first of these programs that is on PATH, links followed; None if there is none."""
    found = (shutil.which(name, path=environment.get("PATH", "")) for name in names)
    return next((Path(path).resolve() for path in found if path), None)
