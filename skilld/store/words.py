"""The redacted words of turns that no worker has judged yet, in a small database of their own.

What was read of a transcript can so be kept when the transcript is gone by the time its batch is judged. Apart from the
store, so that no copy of that has them: a row is overwritten as soon as its batch was judged, and after two days in any
case. Nothing here is precious: whatever goes wrong with the file, it is made again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from skilld.types import How

if TYPE_CHECKING:
    from skilld.protocol import StoredWords

KEPT = 2 * 86400.0  # seconds
MAX_TEXT = 16 * 1024  # characters of a turn: a longer one is a paste
_MAX_TURNS = 5000  # turns
_SCHEMA = "CREATE TABLE IF NOT EXISTS words (key TEXT PRIMARY KEY, how TEXT, text TEXT NOT NULL, at REAL NOT NULL)"
_TROUBLE = (sqlite3.Error, OSError)
Found = TypeVar("Found")


class Words:
    """The file at `path`, opened and made when it is first needed. Use it from the thread that made this."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None

    def keep(self, said: Iterable[StoredWords], now: float) -> None:
        """Keep the words of turns, but not what is too long, until `forget` or two days from `now` (Unix time)."""
        rows = [(one.key, one.how, one.text, now) for one in said if len(one.text) <= MAX_TEXT]
        if rows:
            self._do(lambda db: db.executemany("INSERT OR IGNORE INTO words VALUES (?, ?, ?, ?)", rows).rowcount, 0)
            self._do(lambda db: db.execute(_TOO_MANY, (_MAX_TURNS,)).rowcount, 0)

    def of(self, keys: Iterable[str]) -> list[StoredWords]:
        """Return what is kept of turns."""
        wanted = list(keys)

        from skilld.protocol import StoredWords

        def find(db: sqlite3.Connection) -> list[StoredWords]:
            rows = (db.execute("SELECT key, how, text FROM words WHERE key = ?", (key,)).fetchone() for key in wanted)
            return [StoredWords(row[0], How(row[1]), row[2]) for row in rows if row is not None]

        return self._do(find, []) if self._path.exists() else []

    def forget(self, keys: Iterable[str]) -> None:
        """Overwrite the words of turns."""
        rows = [(key,) for key in keys]
        if self._path.exists():
            self._do(lambda db: db.executemany("DELETE FROM words WHERE key = ?", rows).rowcount, 0)

    def forget_old(self, now: float) -> None:
        """Overwrite what was kept for two days, or comes from the future."""
        if self._path.exists():
            old = now - KEPT, now + KEPT
            self._do(lambda db: db.execute("DELETE FROM words WHERE at < ? OR at > ?", old).rowcount, 0)

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def _do(self, work: Callable[[sqlite3.Connection], Found], otherwise: Found) -> Found:
        """Do something in a transaction; a file that is damaged is made again, and other trouble gives `otherwise`."""
        for _ in range(2):
            try:
                with self._opened() as db:
                    return work(db)
            except _TROUBLE as error:
                self.close()
                if type(error) is not sqlite3.DatabaseError:  # it is no damage: a full disk, a lock
                    break
                for suffix in ("", "-journal"):
                    with suppress(OSError):
                        self._path.with_name(self._path.name + suffix).unlink()
        return otherwise

    def _opened(self) -> sqlite3.Connection:
        if self._db is None or not self._path.exists():
            self.close()
            with suppress(FileExistsError):
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            self._db = sqlite3.connect(self._path, timeout=1)
            self._db.execute("PRAGMA secure_delete = ON")
            self._db.execute("PRAGMA synchronous = OFF")  # kill -9 loses nothing by it, and a power cut little
            self._db.execute("PRAGMA cache_size = -64")
            self._db.execute(_SCHEMA)
        return self._db


_TOO_MANY = "DELETE FROM words WHERE rowid NOT IN (SELECT rowid FROM words ORDER BY rowid DESC LIMIT ?)"
