"""Opening the database: pragmas, migrations, refusal of a newer one, transactions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skilld.errors import SkilldError
from skilld.store.batches import Batches
from skilld.store.learnings import Learnings
from skilld.store.meta import Meta
from skilld.store.proposals import Proposals
from skilld.store.schema import MIGRATIONS
from skilld.store.transcripts import Transcripts
from skilld.store.usage import UsageLog


class StoreError(SkilldError):
    """The database could not be read or written: a full disk, a lock held for too long, damage."""


class _Connection(sqlite3.Connection):
    """A connection whose troubles are StoreErrors. Wrong SQL and broken constraints stay what they are: our bugs."""

    def execute(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401 - sqlite3's signature
        with _told():
            return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401 - sqlite3's signature
        with _told():
            return super().executemany(*arguments)


class Store:
    """An open database. Use it from the thread that opened it."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self.path = path
        self.meta = Meta(db)
        self.transcripts = Transcripts(db)
        self.batches = Batches(db)
        self.proposals = Proposals(db)
        self.learnings = Learnings(db)
        self.usage = UsageLog(db)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open or create the database at `path` (mode 0600) and bring it up to date.

        Raises SkilldError where it was written by a newer skilld, is damaged, or cannot be opened.
        """
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            db = sqlite3.connect(path, timeout=10, isolation_level=None, factory=_Connection)
        except (sqlite3.DatabaseError, OSError) as error:
            raise StoreError("The database cannot be opened", f"{path}: {error}") from error
        try:
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA journal_mode = WAL")
            # FULL: with NORMAL the newest transactions of a WAL database may be lost with the power.
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
            _migrate(db, path)
        except BaseException:
            db.close()
            raise
        return cls(db, path)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything inside happen together or not at all."""
        with _transaction(self._db):
            yield

    def close(self) -> None:
        """Close the database."""
        self._db.close()


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, at TEXT NOT NULL) STRICT")
    done = {row["name"] for row in db.execute("SELECT name FROM migrations")}
    known = [name for name, _ in MIGRATIONS]
    if newer := sorted(done - set(known)):
        raise SkilldError(
            "The database was written by a newer skilld", f"{path} has {newer[0]}", "Install the newer version again."
        )
    due = [(name, migration) for name, migration in MIGRATIONS if name not in done]
    if due and done:
        _back_up(db, path.with_name(f"{path.name}.before-{due[0][0]}"))
    for name, migration in due:
        with _transaction(db):
            if not db.execute("SELECT 1 FROM migrations WHERE name = ?", (name,)).fetchone():
                migration(db)
                db.execute("INSERT INTO migrations VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))", (name,))


def _back_up(db: sqlite3.Connection, path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))  # VACUUM fills an empty one
    except OSError as error:
        raise StoreError("The database could not be backed up", f"{path}: {error.strerror}") from error
    db.execute("VACUUM INTO ?", (str(path),))


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # where the disk is full SQLite has rolled back by itself
            db.execute("ROLLBACK")
        raise


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if type(error) not in {sqlite3.OperationalError, sqlite3.DatabaseError}:
            raise
        damaged = error.sqlite_errorcode in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
        remedy = (
            "Move skilld.db, with what begins with its name, away; skilld then starts a new one." if damaged else ""
        )
        raise StoreError("The database could not be used", str(error), remedy) from error
