"""A damaged database: what is done with its files, and what can still be read of it.

Nothing is deleted. SQLite keeps no checksums, so rows that can be read may be wrong: the caller checks what it took
over. Only for the holder of the daemon's lock.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

# Those that others refer to come first.
_TABLES = (
    *("meta", "files", "sessions", "turns", "skill_uses", "batches"),
    *("proposals", "decisions", "learnings", "usage", "notices", "tasks", "feedback"),
)
_JSON = {"value", "cursor", "parser", "job", "operations", "evidence", "flags", "proposal_ids", "tools", "skills"}

_TROUBLE = (sqlite3.Error, UnicodeDecodeError)  # its messages may hold bytes of the file


def copy_of(path: Path) -> Path:
    """Return where the daily copy of a database is kept."""
    return path.with_name(f"{path.name}.copy")


def rebuilt(path: Path) -> Path:
    """Return where a database is built that will take the place of a damaged one."""
    return path.with_name(f"{path.name}.rebuilt")


def last_write(path: Path) -> float:
    """Return when something was last written into a database (Unix seconds); 0 where there is none."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return max((file.stat().st_mtime for file in files if file.exists()), default=0.0)


def begin(path: Path, *, from_copy: bool) -> Path | None:
    """Start a new database from the daily copy or from nothing; returns where, None where there is no copy."""
    new = rebuilt(path)
    for suffix in ("-wal", "-shm", ""):
        new.with_name(new.name + suffix).unlink(missing_ok=True)
    if from_copy:
        if not copy_of(path).exists():
            return None
        shutil.copyfile(copy_of(path), new)
        new.chmod(0o600)
    return new


def replace(path: Path, mark: str) -> Path:
    """Move a damaged database aside and the rebuilt one into its place; returns where the damaged one is.

    Its log goes first: beside another database SQLite would take it for that one's.
    """
    aside = path.with_name(f"{path.name}.damaged-{mark}")
    for suffix in ("-wal", "-shm", ""):
        old = path.with_name(path.name + suffix)
        if old.exists():
            old.replace(aside.with_name(aside.name + suffix))
    rebuilt(path).replace(path)
    return aside


def salvage(damaged: Path, into: Path) -> int:
    """Take over every row that can be read of a damaged database into one of the newest schema; returns how many."""
    taken = 0
    with (
        closing(sqlite3.connect(f"{damaged.as_uri()}?mode=ro", uri=True)) as old,
        closing(sqlite3.connect(into, isolation_level=None)) as new,
    ):
        new.execute("PRAGMA foreign_keys = ON")
        new.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            known = _columns(old, table)
            columns = [column for column in _columns(new, table) if column in known]
            marks = ", ".join("?" * len(columns))
            for row in _rows(old, table, columns):
                try:
                    new.execute(f"INSERT OR REPLACE INTO {table} ({_names(columns)}) VALUES ({marks})", row)  # noqa: S608 - fixed names
                    taken += 1
                except _TROUBLE:  # a row that breaks the schema's rules is none
                    continue
        new.execute("COMMIT")
    return taken


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    try:
        return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    except _TROUBLE:
        return []


def _names(columns: list[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _rows(db: sqlite3.Connection, table: str, columns: list[str]) -> Iterator[tuple[object, ...]]:
    """Yield the rows from the first one up to the damage, then from the last one back to it."""
    if not columns:
        return
    for order in ("ASC", "DESC"):
        try:
            for row in db.execute(f"SELECT {_names(columns)} FROM {table} NOT INDEXED ORDER BY rowid {order}"):  # noqa: S608 - fixed names
                if all(_is_json(value) for column, value in zip(columns, row, strict=True) if column in _JSON):
                    yield row
        except _TROUBLE:
            continue
        return


def _is_json(value: object) -> bool:
    try:
        json.loads(value) if isinstance(value, str) else None
    except ValueError:
        return False
    return True
