"""The redacted words of turns that may be lasting and no worker has judged yet, in a small separate database.

With them a batch can be judged even if its transcript is gone by then. They are not in the store, so that no copy of it
has them: a row is overwritten once its batch is judged, and after two days in any case. The file is expendable: if
anything is wrong with it, it is created again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from skilld.types import How

if TYPE_CHECKING:
    from skilld.protocol import StoredWords

KEPT_SECONDS = 2 * 86400.0  # seconds
MAX_TEXT = 16 * 1024  # characters: a longer turn is a paste
_MAX_TURNS = 5000
_SCHEMA = "CREATE TABLE IF NOT EXISTS words (key TEXT PRIMARY KEY, how TEXT, text TEXT NOT NULL, at REAL NOT NULL)"
_DATABASE_ERRORS = (sqlite3.Error, OSError)
Result = TypeVar("Result")


class Words:
    """The database at `path`, opened or created when first needed. Use it from the thread that created this object."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db: sqlite3.Connection | None = None

    def save(self, said: Iterable[StoredWords], now: float) -> None:
        """Save the words of turns, except overlong ones, until `forget` or two days from `now` (Unix time)."""
        rows = [(one.key, one.how, one.text, now) for one in said if len(one.text) <= MAX_TEXT]
        if not rows:
            return

        def insert(db: sqlite3.Connection) -> None:
            db.executemany("INSERT OR IGNORE INTO words VALUES (?, ?, ?, ?)", rows)
            db.execute(_DELETE_OLDEST, (_MAX_TURNS,))

        self._run(insert, None)

    def get(self, keys: Iterable[str]) -> list[StoredWords]:
        """Return the saved words of turns."""
        wanted = list(keys)

        from skilld.protocol import StoredWords

        def find(db: sqlite3.Connection) -> list[StoredWords]:
            rows = (db.execute("SELECT key, how, text FROM words WHERE key = ?", (key,)).fetchone() for key in wanted)
            return [StoredWords(row[0], How(row[1]), row[2]) for row in rows if row is not None]

        return self._run(find, []) if self._path.exists() else []

    def keys(self) -> list[str]:
        """Return the turns whose words are saved."""
        if not self._path.exists():
            return []
        return self._run(lambda db: [key for (key,) in db.execute("SELECT key FROM words")], [])

    def forget(self, keys: Iterable[str]) -> None:
        """Overwrite the words of turns."""
        rows = [(key,) for key in keys]
        if self._path.exists():
            self._run(lambda db: db.executemany("DELETE FROM words WHERE key = ?", rows).rowcount, 0)

    def forget_old(self, now: float) -> None:
        """Overwrite what is older than two days, or further in the future."""
        if self._path.exists():
            old = now - KEPT_SECONDS, now + KEPT_SECONDS
            self._run(lambda db: db.execute("DELETE FROM words WHERE at < ? OR at > ?", old).rowcount, 0)

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def _run(self, work: Callable[[sqlite3.Connection], Result], otherwise: Result) -> Result:
        """Run `work` in a transaction; recreate a damaged file, and return `otherwise` on any other error."""
        for _ in range(2):
            try:
                with self._connect() as db:
                    return work(db)
            except _DATABASE_ERRORS as error:
                self.close()
                if type(error) is not sqlite3.DatabaseError:  # not damage, but a full disk or a lock
                    break
                for suffix in ("", "-journal"):
                    with suppress(OSError):
                        self._path.with_name(self._path.name + suffix).unlink()
        return otherwise

    def _connect(self) -> sqlite3.Connection:
        if self._db is None or not self._path.exists():
            self.close()
            with suppress(FileExistsError):
                self._path.touch(0o600, exist_ok=False)
            self._db = sqlite3.connect(self._path, timeout=1)
            self._db.execute("PRAGMA secure_delete = ON")
            self._db.execute("PRAGMA synchronous = OFF")  # kill -9 loses nothing, a power cut little
            self._db.execute("PRAGMA journal_mode = TRUNCATE")  # one file made and deleted less for each turn
            self._db.execute("PRAGMA cache_size = -64")
            self._db.execute(_SCHEMA)
        return self._db


_DELETE_OLDEST = "DELETE FROM words WHERE rowid <= (SELECT max(rowid) FROM words) - ?"
