"""What of the database goes into its journal: noted by triggers, written before each commit, replayed after damage.

Triggers see every change, whichever statement makes it. They are temporary: other programs can still write the file.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from skilld.store import journal
from skilld.store.connection import damaged
from skilld.store.journal import Place, Row
from skilld.store.meta import DAEMON, IN_FORCE, LAST_ERROR, LEARNING_DEAD, NOTICES

# What of the database goes into its journal: noted by triggers, written before each commit, replayed after damage.
#
# Triggers see every change, whichever statement makes it. They are temporary: other programs can still write the
# file.

_PLACE = "journal"  # the key in `meta`
_PASSING = (_PLACE, "rebuilding", DAEMON, IN_FORCE, LAST_ERROR, LEARNING_DEAD, NOTICES)
_REMEMBERED = 7  # days after which a batch that is done, with its turns, is left to the copies
_TROUBLE = (sqlite3.Error, UnicodeDecodeError, ValueError, TypeError)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A table, and which changes of it count."""

    table: str
    update: str = ""  # all columns
    inserted: str = "1"
    updated: str = "1"
    deleted: str = "0"  # of most nothing is ever deleted


_NOT_PASSING = f"new.key NOT IN ({', '.join(map(repr, _PASSING))})"
_BATCH = (
    "(new.state != 'running' AND new.state IS NOT old.state)"
    " OR new.job IS NOT old.job OR new.outcome IS NOT old.outcome"
    " OR new.cause IS NOT old.cause OR new.kept IS NOT old.kept"
)
# Those that others refer to come first.
_KEPT = (
    _Kept("meta", inserted=_NOT_PASSING, updated=_NOT_PASSING, deleted=_NOT_PASSING.replace("new.", "old.")),
    _Kept("batches", updated=_BATCH),
    _Kept("turns", "OF batch_id", inserted="0", updated="new.batch_id IS NOT NULL AND new.batch_id != 'before'"),
    *(_Kept(table) for table in ("proposals", "decisions")),
    _Kept("learnings", deleted="1"),
    *(_Kept(table) for table in ("usage", "tasks", "feedback", "mined")),
)
_TABLES = tuple(kept.table for kept in _KEPT)


class Recorder:
    """Notes what one connection changes, and writes it into the journal when it is about to be committed."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._changed: dict[tuple[str, int], None] = {}
        self._gone = False
        self._before: int | None = None
        db.create_function("noted", 2, self._note)
        db.create_function("noted_gone", 0, self._note_gone)
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("BEGIN")  # one by one they take a millisecond
        for kept in _KEPT:
            _watch(db, kept)
        db.execute("COMMIT")

    def _note(self, table: str, rowid: int) -> None:
        self._changed[table, rowid] = None

    def _note_gone(self) -> None:
        self._gone = True

    def _rows(self) -> list[Row]:
        order = {kept.table: number for number, kept in enumerate(_KEPT)}
        noted = sorted(self._changed, key=lambda change: order[change[0]])
        return [row for table, rowid in noted for row in _rows(self._db, table, "rowid = ?", (rowid,))]

    def write(self) -> None:
        """Put on the disk what the transaction changed. Raises StoreError; DamagedError where the journal is ahead."""
        if not self._changed and not self._gone:
            return
        here = place(self._db) or new_place()
        after = Place(here.database, here.number + 1)
        set_place(self._db, after)
        there = journal.tail(self._path)
        is_short = there is None or is_behind(there.place, here)
        if there is not None and not is_short and (why := why_lost(here, there.place)):
            raise damaged(why)
        if is_short or self._gone:  # a line that says what was deleted would leave it in the lines before
            journal.write(self._path, after, everything(self._db))
        else:  # one line ahead is that of a process that was killed before it could commit: it never happened
            self._before = journal.append(self._path, after, self._rows())

    def done(self) -> None:
        """Note that the transaction is committed."""
        self._changed.clear()
        self._gone = False
        self._before = None

    def take_back(self) -> None:
        """Note that it is not: what was written of it is taken back."""
        if self._before is not None:
            journal.take_back(self._path, self._before)
        self.done()


def _watch(db: sqlite3.Connection, kept: _Kept) -> None:
    noted = f"BEGIN SELECT noted('{kept.table}', new.rowid); END"
    name = f"TEMP TRIGGER journal_{kept.table}"
    if kept.inserted != "0":
        db.execute(f"CREATE {name}_insert AFTER INSERT ON {kept.table} WHEN {kept.inserted} {noted}")
    db.execute(f"CREATE {name}_update AFTER UPDATE {kept.update} ON {kept.table} WHEN {kept.updated} {noted}")
    if kept.deleted != "0":
        gone = "BEGIN SELECT noted_gone(); END"
        db.execute(f"CREATE {name}_delete AFTER DELETE ON {kept.table} WHEN {kept.deleted} {gone}")


def is_ready(db: sqlite3.Connection) -> bool:
    """Whether a database has what a journal needs: an older skilld's has not."""
    return db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'judged'").fetchone() is not None


def new_place() -> Place:
    """Return the place of a database that has no identity yet."""
    return Place(os.urandom(8).hex(), 0)


def is_behind(there: Place, here: Place) -> bool:
    """Whether `there` knows less than `here`, of the same database."""
    return there.database == here.database and there.number < here.number


def why_lost(here: Place | None, journal: Place) -> str:
    """Return why a database cannot be the one its journal tells of; empty where it can."""
    if here is None or here.database != journal.database:
        return "another database, or a part of one, lies in its place"
    if journal.number > here.number + 1:
        return "it is older than what was written down beside it"
    return ""


def place(db: sqlite3.Connection) -> Place | None:
    """Return how far a database has come; None where it does not say. Raises sqlite3.Error, StoreError."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").fetchone():
        return None
    row = db.execute("SELECT value FROM meta WHERE key = ?", (_PLACE,)).fetchone()
    try:
        return None if row is None else Place(*json.loads(row[0]))
    except (TypeError, ValueError):
        return None


def set_place(db: sqlite3.Connection, place: Place) -> None:
    """Write down how far it has come."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_PLACE, json.dumps([place.database, place.number])))


def everything(db: sqlite3.Connection) -> Iterator[Row]:
    """Yield every row that a journal holds, of done batches and their turns the newest only."""
    recent = f"""SELECT id FROM batches WHERE state != 'done' OR created_at >=
        (SELECT strftime('%Y-%m-%dT%H:%M:%SZ', max(created_at), '-{_REMEMBERED} days') FROM batches)"""  # noqa: S608
    for table in _TABLES:
        where = {
            "meta": f"key NOT IN ({', '.join(map(repr, _PASSING))})",
            "batches": f"id IN ({recent})",
            "turns": f"batch_id IN ({recent})",
        }.get(table, "1")
        yield from _rows(db, table, where)
    for key, batch in db.execute(f"SELECT key, batch_id FROM judged WHERE batch_id IN ({recent})"):  # noqa: S608 - fixed
        yield "turns", {"key": key, "batch_id": batch}


def _rows(db: sqlite3.Connection, table: str, where: str, values: tuple[object, ...] = ()) -> Iterator[Row]:
    columns = "key, batch_id" if table == "turns" else "*"
    found = db.execute(f"SELECT {columns} FROM {table} WHERE {where}", values)  # noqa: S608 - fixed names
    names = [column[0] for column in found.description]
    for row in found:
        yield table, dict(zip(names, row, strict=True))


def replay(db: sqlite3.Connection, rows: Iterable[Row]) -> int:
    """Lay rows of a journal over a database, within its transaction; returns how many could be."""
    known = {table: {row[1] for row in db.execute(f"PRAGMA table_info({table})")} for table in _TABLES}
    taken = 0
    for table, row in rows:
        if not row.keys() & known.get(table, set()):
            continue
        with suppress(*_TROUBLE):  # a row that breaks the schema's rules is none
            if table == "turns":
                db.execute("UPDATE turns SET batch_id = :batch_id WHERE key = :key", row)
                db.execute("INSERT OR REPLACE INTO judged VALUES (:key, :batch_id)", row)
            else:
                kept = {name: value for name, value in row.items() if name in known[table]}
                names = ", ".join(f'"{name}"' for name in kept)
                marks = ", ".join("?" * len(kept))
                db.execute(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", [*kept.values()])  # noqa: S608 - fixed names
            taken += 1
    return taken


def forget_deletable(db: sqlite3.Connection) -> None:
    """Delete the rows that a whole journal has as well, or that were deleted since: it alone knows."""
    db.execute("DELETE FROM learnings")
    db.execute(f"DELETE FROM meta WHERE key NOT IN ({', '.join(map(repr, _PASSING))})")  # noqa: S608 - fixed names
