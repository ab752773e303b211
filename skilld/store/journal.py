"""The journal next to the database: keeps what could not be recovered from anywhere else.

One line is one transaction: a checksum, then JSON. The first line names the database, those after it hold every row of
the last compaction, and from there on each line is numbered. A line is on the disk before its transaction is committed,
so the database is behind the journal by one line at most, where a process was killed between the two; further behind,
it has lost something. Lines are written under the database's write lock only. docs/decisions/0033-journal.md says why.
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
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from skilld.files import write_whole
from skilld.store.connection import StoreError, damaged
from skilld.store.meta import DAEMON, IN_FORCE, LAST_ERROR, LEARNING_DEAD, NOTICES, SYNCED_AT

Row = tuple[str, dict[str, Any]]  # a table, and its row as column -> value

_BLOCK = 1 << 16  # bytes
_ROWS = 200  # in one line of a compaction
_SUM = 9  # characters: a CRC-32 in hexadecimal and a blank


@dataclass(frozen=True, slots=True)
class Place:
    """How far a database or a journal has come: the database's identity and the number of its last transaction."""

    database: str
    number: int


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a journal: how far it has come, and the Unix time of its last line."""

    place: Place
    at: float


@dataclass(frozen=True, slots=True)
class Journal:
    """All of a journal. `whole` says that no line of it is missing or spoilt, but for a torn last one."""

    tail: Tail
    rows: tuple[Row, ...]
    last: tuple[Row, ...]
    whole: bool


def journal_of(database: Path) -> Path:
    """Return where the journal of a database is. Its name begins otherwise: `rm skilld.db*` spares it."""
    return database.with_suffix(".journal")


def tail(path: Path) -> Tail | None:
    """Return the end of a journal, by its first and its last lines; None if there is no journal that can be read."""
    try:
        with path.open("rb") as file:
            head = _parsed(file.readline())
            size = file.seek(0, os.SEEK_END)
            block = _BLOCK
            while True:
                file.seek(max(0, size - block))
                lines = file.read().split(b"\n")
                if len(lines) > 2 or block >= size:  # noqa: PLR2004 - one whole line and what follows it
                    break
                block *= 2
    except OSError:
        return None
    last = _parsed(lines[-2] + b"\n") if len(lines) > 1 else None
    if head is None or "id" not in head:
        return None
    if last is None or "n" not in last:  # spoilt: what comes before it has to do
        found = read(path)
        return None if found is None else found.tail
    return Tail(Place(head["id"], last["n"]), last["at"])


def read(path: Path) -> Journal | None:
    """Return what can be read of a journal; None if that is nothing.

    A line that repeats a number takes the place of the earlier one, and of what followed it: that was never committed.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError:
        return None
    parsed = [_parsed(line + b"\n") for line in lines]
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
    """Add one transaction, on the disk when this returns; returns how long the journal was before, for `take_back`.

    Raises StoreError if there is no room, or it cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            size = _without_torn_line(descriptor)
            _write(descriptor, _line({"n": place.number, "at": time.time(), "rows": rows}), size)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unwritable(path, error) from error
    return size


def take_back(path: Path, size: int) -> None:
    """Take back the last line, whose transaction could not be committed."""
    with suppress(OSError):  # else the next line repeats its number
        os.truncate(path, size)


def write(path: Path, place: Place, rows: Iterable[Row]) -> None:
    """Write a journal again: every row there is, never all of them in memory. Raises StoreError."""
    try:
        write_whole(path, _lines(place, rows), 0o600)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise _unwritable(path, error) from error


def _lines(place: Place, rows: Iterable[Row]) -> Iterator[bytes]:
    at = time.time()
    yield _line({"id": place.database, "n": place.number, "at": at})
    remaining = iter(rows)
    while some := list(islice(remaining, _ROWS)):
        yield _line({"rows": some})
    yield _line({"n": place.number, "at": at, "rows": []})


def _line(item: dict[str, Any]) -> bytes:
    text = json.dumps(item, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return what a line holds; None if it is torn or spoilt."""
    text = line[_SUM:-1]
    if not line.endswith(b"\n") or line[:_SUM] != b"%08x " % zlib.crc32(text):
        return None
    item: dict[str, Any] = json.loads(text)
    return item


def _without_torn_line(descriptor: int) -> int:
    """Cut off a last line without an end, which a killed process left; returns the length."""
    size = end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - _BLOCK)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)
    return end


def _write(descriptor: int, data: bytes, at: int) -> None:
    try:
        done = 0
        while done < len(data):
            done += os.pwrite(descriptor, data[done:], at + done)
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, at)
        raise


def _unwritable(path: Path, error: OSError) -> StoreError:
    remedy = "Free some space, then try again. Nothing is lost." if error.errno == errno.ENOSPC else ""
    cause = f"{path}: {error.strerror}"
    return StoreError("Could not use the database", cause, remedy or "Find out why: skilld doctor")


# What of the database goes into its journal: noted by triggers, written before each commit, replayed after damage.
# Triggers see every change, whichever statement makes it. They are temporary: other programs can still write the file.

_PLACE = "journal"  # the key in `meta`
_PASSING = (_PLACE, "rebuilding", DAEMON, IN_FORCE, LAST_ERROR, LEARNING_DEAD, NOTICES, SYNCED_AT)
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
    *(_Kept(table) for table in ("usage", "tasks", "feedback", "mined", "past_sessions", "evals", "eval_runs")),
    _Kept("reviews"),
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
        """Put on the disk what the transaction changed. Raises StoreError; DamagedError if the journal is ahead."""
        if not self._changed and not self._gone:
            return
        here = place(self._db) or new_place()
        after = Place(here.database, here.number + 1)
        set_place(self._db, after)
        there = tail(self._path)
        is_short = there is None or is_behind(there.place, here)
        if there is not None and not is_short and (why := mismatch(here, there.place)):
            raise damaged(why)
        if is_short or self._gone:  # a line that says what was deleted would leave it in the lines before
            write(self._path, after, everything(self._db))
        else:  # one line ahead is that of a process that was killed before it could commit: it never happened
            self._before = append(self._path, after, self._rows())

    def done(self) -> None:
        """Note that the transaction is committed."""
        self._changed.clear()
        self._gone = False
        self._before = None

    def take_back(self) -> None:
        """Note that it is not: what was written of it is taken back."""
        if self._before is not None:
            take_back(self._path, self._before)
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


def mismatch(here: Place | None, journal: Place) -> str | None:
    """Return why a database cannot be the one its journal tells of; None if it can."""
    if here is None or here.database != journal.database:
        return "it is a different or incomplete database"
    if journal.number > here.number + 1:
        return "it is older than its journal"
    return None


def place(db: sqlite3.Connection) -> Place | None:
    """Return how far a database has come; None if it does not say. Raises sqlite3.Error, StoreError."""
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
