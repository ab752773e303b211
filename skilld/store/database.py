"""Opening the database: pragmas, migrations, refusal of a newer one, transactions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skilld.errors import SkilldError
from skilld.store.batches import Batches
from skilld.store.learnings import Learnings
from skilld.store.meta import Meta
from skilld.store.proposals import Proposals
from skilld.store.schema import MIGRATIONS
from skilld.store.transcripts import Transcripts
from skilld.store.usage import UsageLog


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
            db = sqlite3.connect(path, timeout=10, isolation_level=None)
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA journal_mode = WAL")
            # FULL: with NORMAL the newest transactions of a WAL database may be lost with the power.
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
            _migrate(db, path)
        except (sqlite3.DatabaseError, OSError) as error:
            raise SkilldError(
                "The database cannot be used", f"{path}: {error}", f"Move {path} away; skilld then starts a new one."
            ) from error
        return cls(db, path)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything inside happen together or not at all."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

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
        backup = path.with_name(f"{path.name}.before-{due[0][0]}")
        backup.unlink(missing_ok=True)
        db.execute("VACUUM INTO ?", (str(backup),))
        backup.chmod(0o600)
    for name, migration in due:
        db.execute("BEGIN IMMEDIATE")
        try:
            if not db.execute("SELECT 1 FROM migrations WHERE name = ?", (name,)).fetchone():
                migration(db)
                db.execute("INSERT INTO migrations VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))", (name,))
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
