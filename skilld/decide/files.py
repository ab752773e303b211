"""Writing a SKILL.md in the work tree: whole or not at all, and only over the bytes that were read."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from skilld.errors import RefusedError


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
    descriptor, name = tempfile.mkstemp(prefix=".skilld-", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(stat.S_IMODE(path.lstat().st_mode))
        if read(path) != old:
            raise RefusedError("The skill is not changed", f"{path} was changed by someone else meanwhile")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
