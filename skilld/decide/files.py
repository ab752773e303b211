"""Writing a SKILL.md in the work tree: whole or not at all, and only over the bytes that were read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from skilld.errors import RefusedError
from skilld.files import write_whole


def read(path: Path) -> bytes:
    """Return the bytes of a plain file; a link, a device or a missing file is refused."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise RefusedError("The skill is not changed", f"{path} cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RefusedError("The skill is not changed", f"{path} is no plain file")
        return file.read()


def replace(path: Path, old: bytes, new: bytes) -> None:
    """Put `new` in place of `old`, mode kept; raises RefusedError when the file no longer holds `old`."""

    def unchanged() -> None:
        if read(path) != old:
            raise RefusedError("The skill is not changed", f"{path} was changed by someone else meanwhile")

    write_whole(path, new, stat.S_IMODE(path.lstat().st_mode), unchanged)
