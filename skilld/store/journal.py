"""The journal next to the database: it holds what could not be recovered from anywhere else.

Each line is one transaction: a checksum, then JSON. The first line names the database, the next ones hold every row of
the last compaction, and the lines after those are numbered. A line is on disk before its transaction is committed, so
the database is at most one line behind the journal, if a process was killed between the two; if it is further behind,
it has lost something. Lines are written only under the database's write lock. Reasons: docs/decisions/0033-journal.md.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from skilld.files import write_atomically
from skilld.store.connection import StoreError, damage_error
from skilld.store.meta import ACTIVE_SETTINGS, DAEMON, LAST_ERROR, NOTICE_ERROR, STALL_REPORTED, SYNCED_AT
from skilld.values import value_class

Row = tuple[str, dict[str, Any]]  # a table, and column -> value

_BLOCK_BYTES = 1 << 16
_ROWS_PER_LINE = 200  # of a compaction
_CHECKSUM_LENGTH = 9  # characters: a CRC-32 in hexadecimal and a blank


@value_class
class Place:
    """How far a database or a journal has come: the database's identity and the number of its last transaction."""

    database: str
    number: int


@value_class
class Tail:
    """The end of a journal: how far it has come, and the Unix time of its last line."""

    place: Place
    at: float


@value_class
class Journal:
    """A complete journal. `whole` says that no line is missing or damaged, except for a torn last one."""

    tail: Tail
    rows: tuple[Row, ...]
    last: tuple[Row, ...]
    whole: bool


def journal_of(database: Path) -> Path:
    """Return the path of a database's journal. Its name differs, so that `rm skilld.db*` spares it."""
    return database.with_suffix(".journal")


def tail(path: Path) -> Tail | None:
    """Return the end of a journal from its first and last lines; None if no journal can be read."""
    try:
        with path.open("rb") as file:
            head = _parse_line(file.readline())
            size = file.seek(0, os.SEEK_END)
            block = _BLOCK_BYTES
            while True:
                file.seek(max(0, size - block))
                lines = file.read().split(b"\n")
                if len(lines) > 2 or block >= size:  # noqa: PLR2004 - one whole line and what follows it
                    break
                block *= 2
    except OSError:
        return None
    last = _parse_line(lines[-2] + b"\n") if len(lines) > 1 else None
    if head is None or "id" not in head:
        return None
    if last is None or "n" not in last:  # damaged: use the lines before it
        found = read(path)
        return None if found is None else found.tail
    return Tail(Place(head["id"], last["n"]), last["at"])


def read(path: Path) -> Journal | None:
    """Return the readable part of a journal; None if there is none.

    A line that repeats a number replaces the earlier one and those after it: they were never committed.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError:
        return None
    parsed = [_parse_line(line + b"\n") for line in lines]
    if not parsed or (head := parsed[0]) is None or "id" not in head:
        return None
    base: list[Row] = []
    entries: list[tuple[int, float, list[Row]]] = []
    for item in parsed[1:]:
        if item is None:
            continue
        rows = [(table, row) for table, row in item["rows"]]
        if "n" not in item:
            base += rows
            continue
        while entries and entries[-1][0] >= item["n"]:
            entries.pop()
        entries.append((item["n"], item["at"], rows))
    number, at, last = entries[-1] if entries else (head["n"], head["at"], [])
    numbers = [entry[0] for entry in entries]
    whole = None not in parsed and numbers == [*range(head["n"], head["n"] + len(numbers))] and bool(numbers)
    rows = [*base, *(row for entry in entries for row in entry[2])]
    return Journal(Tail(Place(head["id"], number), at), tuple(rows), tuple(last), whole)


def append(path: Path, place: Place, rows: Sequence[Row]) -> int:
    """Append one transaction and sync it to disk; return the journal's previous length, for `undo_append`.

    Raises StoreError if there is no room, or it cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            size = _drop_torn_line(descriptor)
            _write_at(descriptor, _format_line({"n": place.number, "at": time.time(), "rows": rows}), size)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _write_error(path, error) from error
    return size


def undo_append(path: Path, size: int) -> None:
    """Remove the last line, whose transaction could not be committed."""
    with suppress(OSError):  # if this fails, the next line repeats the number
        os.truncate(path, size)


def write(path: Path, place: Place, rows: Iterable[Row]) -> None:
    """Rewrite a journal from an iterable of all rows, which need not fit in memory. Raises StoreError."""
    try:
        write_atomically(path, _format_journal(place, rows), 0o600)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise _write_error(path, error) from error


def _format_journal(place: Place, rows: Iterable[Row]) -> Iterator[bytes]:
    at = time.time()
    yield _format_line({"id": place.database, "n": place.number, "at": at})
    remaining = iter(rows)
    while some := list(islice(remaining, _ROWS_PER_LINE)):
        yield _format_line({"rows": some})
    yield _format_line({"n": place.number, "at": at, "rows": []})


def _format_line(item: dict[str, Any]) -> bytes:
    text = json.dumps(item, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the contents of a line; None if it is torn or damaged."""
    text = line[_CHECKSUM_LENGTH:-1]
    if not line.endswith(b"\n") or line[:_CHECKSUM_LENGTH] != b"%08x " % zlib.crc32(text):
        return None
    item: dict[str, Any] = json.loads(text)
    return item


def _drop_torn_line(descriptor: int) -> int:
    """Cut off an unfinished last line, which a killed process left; return the length."""
    size = end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)
    return end


def _write_at(descriptor: int, data: bytes, at: int) -> None:
    try:
        done = 0
        while done < len(data):
            done += os.pwrite(descriptor, data[done:], at + done)
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, at)
        raise


def _write_error(path: Path, error: OSError) -> StoreError:
    remedy = "Free some space, then try again. Nothing is lost." if error.errno == errno.ENOSPC else ""
    cause = f"{path}: {error.strerror}"
    return StoreError("Could not use the database", cause, remedy or "Find out why: skilld doctor")


# Which changes of the database go into its journal: triggers note them, each commit writes them, and they are replayed
# after damage. Triggers see every change, whichever statement makes it. They are temporary, so other programs can
# still write to the file.

_PLACE_KEY = "journal"  # the key in `meta`
_TRANSIENT = (_PLACE_KEY, "rebuilding", DAEMON, ACTIVE_SETTINGS, LAST_ERROR, STALL_REPORTED, NOTICE_ERROR, SYNCED_AT)
_MAX_BATCH_DAYS = 7  # done batches and their turns that are older are only in the copies
_ROW_ERRORS = (sqlite3.Error, UnicodeDecodeError, ValueError, TypeError)


@value_class
class _Table:
    """A table, and which of its changes go into the journal."""

    table: str
    update: str = ""  # all columns
    inserted: str = "1"
    updated: str = "1"
    deleted: str = "0"  # rows of most tables are never deleted


_IS_LASTING_KEY = f"new.key NOT IN ({', '.join(map(repr, _TRANSIENT))})"
_BATCH_CHANGED = (
    "(new.state != 'running' AND new.state IS NOT old.state)"
    " OR new.job IS NOT old.job OR new.outcome IS NOT old.outcome"
    " OR new.cause IS NOT old.cause OR new.kept IS NOT old.kept"
)
# Chatter is done when it is added. If that is lost, it is closed again, without being judged.
_IS_JUDGED = "new.state != 'done'"
_IN_JUDGED_BATCH = "EXISTS (SELECT 1 FROM batches WHERE id = new.batch_id AND state != 'done')"
# Tables that others refer to come first.
_JOURNALED = (
    _Table("meta", inserted=_IS_LASTING_KEY, updated=_IS_LASTING_KEY, deleted=_IS_LASTING_KEY.replace("new.", "old.")),
    _Table("batches", inserted=_IS_JUDGED, updated=_BATCH_CHANGED),
    _Table("turns", "OF batch_id", inserted="0", updated=_IN_JUDGED_BATCH),
    *(_Table(table) for table in ("proposals", "decisions")),
    _Table("learnings", deleted="1"),
    *(_Table(table) for table in ("usage", "tasks", "feedback", "mined", "past_sessions", "evals", "eval_runs")),
    _Table("reviews"),
)
_TABLES = tuple(kept.table for kept in _JOURNALED)


class Recorder:
    """Collects the changes of one connection and writes them to the journal just before the commit."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._changed: dict[tuple[str, int], None] = {}
        self._gone = False
        self._before: int | None = None
        db.create_function("noted", 2, self._note)
        db.create_function("noted_gone", 0, self._note_gone)
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("BEGIN")  # without it each trigger takes a millisecond
        for kept in _JOURNALED:
            _add_triggers(db, kept)
        db.execute("COMMIT")

    def _note(self, table: str, rowid: int) -> None:
        self._changed[table, rowid] = None

    def _note_gone(self) -> None:
        self._gone = True

    def _rows(self) -> list[Row]:
        order = {kept.table: number for number, kept in enumerate(_JOURNALED)}
        noted = sorted(self._changed, key=lambda change: order[change[0]])
        return [row for table, rowid in noted for row in _rows(self._db, table, "rowid = ?", (rowid,))]

    def write(self) -> None:
        """Write the transaction's changes to disk. Raises StoreError; DamagedError if the journal is ahead."""
        if not self._changed and not self._gone:
            return
        here = place(self._db) or new_place()
        after = Place(here.database, here.number + 1)
        set_place(self._db, after)
        there = tail(self._path)
        is_short = there is None or is_behind(there.place, here)
        if there is not None and not is_short and (why := mismatch(here, there.place)):
            raise damage_error(why)
        if is_short or self._gone:  # appending a deletion would leave the deleted row in an earlier line
            write(self._path, after, journaled_rows(self._db))
        else:  # a journal that is one line ahead holds a transaction that was killed before its commit
            self._before = append(self._path, after, self._rows())

    def clear(self) -> None:
        """Forget the changes: they are committed, or rolled back."""
        self._changed.clear()
        self._gone = False
        self._before = None

    def roll_back(self) -> None:
        """Undo what was written: the transaction failed."""
        if self._before is not None:
            undo_append(self._path, self._before)
        self.clear()


def _add_triggers(db: sqlite3.Connection, kept: _Table) -> None:
    noted = f"BEGIN SELECT noted('{kept.table}', new.rowid); END"
    name = f"TEMP TRIGGER journal_{kept.table}"
    if kept.inserted != "0":
        db.execute(f"CREATE {name}_insert AFTER INSERT ON {kept.table} WHEN {kept.inserted} {noted}")
    db.execute(f"CREATE {name}_update AFTER UPDATE {kept.update} ON {kept.table} WHEN {kept.updated} {noted}")
    if kept.deleted != "0":
        gone = "BEGIN SELECT noted_gone(); END"
        db.execute(f"CREATE {name}_delete AFTER DELETE ON {kept.table} WHEN {kept.deleted} {gone}")


def supports_journal(db: sqlite3.Connection) -> bool:
    """Whether a database has the tables that a journal needs; one from an older skilld does not."""
    return db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'judged'").fetchone() is not None


def new_place() -> Place:
    """Return a place for a database that has no identity yet."""
    return Place(os.urandom(8).hex(), 0)


def is_behind(there: Place, here: Place) -> bool:
    """Whether `there` is behind `here`, of the same database."""
    return there.database == here.database and there.number < here.number


def mismatch(here: Place | None, journal: Place) -> str | None:
    """Return why a database does not belong to its journal; None if it may."""
    if here is None or here.database != journal.database:
        return "it is a different or incomplete database"
    if journal.number > here.number + 1:
        return "it is older than its journal"
    return None


def place(db: sqlite3.Connection) -> Place | None:
    """Return how far a database has come; None if it does not say. Raises sqlite3.Error, StoreError."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").fetchone():
        return None
    row = db.execute("SELECT value FROM meta WHERE key = ?", (_PLACE_KEY,)).fetchone()
    try:
        return None if row is None else Place(*json.loads(row[0]))
    except (TypeError, ValueError):
        return None


def set_place(db: sqlite3.Connection, place: Place) -> None:
    """Save how far a database has come."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_PLACE_KEY, json.dumps([place.database, place.number])))


def journaled_rows(db: sqlite3.Connection) -> Iterator[Row]:
    """Yield every row that belongs in a journal; of done batches and their turns only recent ones."""
    recent = f"""SELECT id FROM batches WHERE state != 'done' OR created_at >=
        (SELECT strftime('%Y-%m-%dT%H:%M:%SZ', max(created_at), '-{_MAX_BATCH_DAYS} days') FROM batches)"""  # noqa: S608
    for table in _TABLES:
        where = {
            "meta": f"key NOT IN ({', '.join(map(repr, _TRANSIENT))})",
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
    """Apply rows of a journal to a database, in its open transaction; return how many could be applied."""
    known = {table: {row[1] for row in db.execute(f"PRAGMA table_info({table})")} for table in _TABLES}
    taken = 0
    for table, row in rows:
        if not row.keys() & known.get(table, set()):
            continue
        with suppress(*_ROW_ERRORS):  # a row that breaks the schema's rules is dropped
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


def delete_removable(db: sqlite3.Connection) -> None:
    """Delete the rows of tables with deletions; a complete journal restores those that still exist."""
    db.execute("DELETE FROM learnings")
    db.execute(f"DELETE FROM meta WHERE key NOT IN ({', '.join(map(repr, _TRANSIENT))})")  # noqa: S608 - fixed names
