"""The files that a running daemon stands on, and whether they are still the ones it opened.

SQLite goes on with a database that was deleted or replaced, and the kernel with a lock whose file is gone. What is
learned then goes where nobody will ever look, or into another file's log, and a second daemon may start.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from skilld.errors import SkilldError

_BESIDE = ("", "-wal", "-shm")


class Footing:
    """Knows the lock and the database, both open by now, with what SQLite keeps beside it."""

    def __init__(self, lock: Path, database: Path) -> None:
        files = [lock, *(database.with_name(database.name + more) for more in _BESIDE)]
        self._known = {path: here for path in files if (here := _identity(path))}

    def check(self) -> None:
        """Raise SkilldError where one of them was deleted, moved away or replaced."""
        for path, known in self._known.items():
            with suppress(OSError):  # a disk that does not answer says nothing of it
                if _identity(path) != known:
                    raise SkilldError(
                        "skilld ends: a file of its own was taken away while it ran",
                        f"{path} was deleted, or is another one by now",
                        "Start it again: skilld run. As a service it starts again by itself.",
                    )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return facts.st_dev, facts.st_ino
