"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def write_whole(path: Path, data: bytes, mode: int, check: Callable[[], None] | None = None) -> None:
    """Put a file holding `data` in the place of `path`, which is no link; a crash leaves the old one or the new one.

    `check` is called when all is written and only the rename is left; what it raises is raised here, and nothing has
    changed then. Raises OSError.
    """
    descriptor, name = tempfile.mkstemp(prefix=".skilld-", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        if check is not None:
            check()
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
