"""Migrations: the parts of `schema.sql`, in order, each run once in its own transaction and recorded by name."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from skilld.errors import SkilldError
from skilld.store.connection import StoreError, damage_error, transaction


def _migrations() -> tuple[tuple[str, str], ...]:
    _, *parts = Path(__file__).with_name("schema.sql").read_text(encoding="ascii").split("-- == ")
    return tuple((name, sql) for name, _, sql in (part.partition("\n") for part in parts))


MIGRATIONS = _migrations()  # names and SQL, in order

# All of them are empty if another process is just creating the database.
_PRECIOUS_TABLES = "meta", "files", "proposals", "learnings"


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Run the migrations that the open database at `path` has not had, after backing it up if it holds anything.

    Raises SkilldError if a newer skilld wrote it, DamagedError if its own record of migrations makes no sense.
    """
    db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, at TEXT NOT NULL) STRICT")
    done = {row["name"] for row in db.execute("SELECT name FROM migrations")}
    known = [name for name, _ in MIGRATIONS]
    if newer := sorted(map(str, done - set(known))):
        if not done.issuperset(known):
            raise damage_error("its migrations have unknown names")
        raise SkilldError(
            "The database was written by a newer version of skilld",
            f"{path} contains the unknown migration {newer[0]}",
            "Install the newer version again.",
        )
    if not done and _is_in_use(db):
        raise damage_error("it has tables, but no record of migrations")
    due = [(name, sql) for name, sql in MIGRATIONS if name not in done]
    if due and done and any(db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in _PRECIOUS_TABLES):  # noqa: S608
        kept = path.with_name(f"{path.name}.before-{due[0][0]}")
        own = kept.with_name(f"{kept.name}.{threading.get_native_id()}")  # other processes may be doing the same
        back_up(db, own)
        own.replace(kept)
    for name, sql in due:
        with transaction(db):
            if not db.execute("SELECT 1 FROM migrations WHERE name = ?", (name,)).fetchone():
                for statement in _statements(sql):
                    db.execute(statement)
                db.execute("INSERT INTO migrations VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))", (name,))


def _statements(sql: str) -> Iterator[str]:
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _is_in_use(db: sqlite3.Connection) -> bool:
    """Whether there are tables but no migrations: another program made them, or the record of migrations is gone."""
    row = db.execute(
        """SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' AND name != 'migrations'
           AND NOT EXISTS (SELECT 1 FROM migrations)"""  # in one statement: another process may be creating them
    ).fetchone()
    return bool(row[0])


def back_up(db: sqlite3.Connection, path: Path) -> None:
    """Write a compact copy of the database to `path` (mode 0600), overwriting it. Raises StoreError."""
    try:
        path.unlink(missing_ok=True)
        # VACUUM INTO accepts an empty file.
        path.touch(0o600, exist_ok=False)
    except OSError as error:
        raise StoreError("The database could not be backed up", f"{path}: {error.strerror}") from error
    db.execute("VACUUM INTO ?", (str(path),))
