"""Reads records from an agent's SQLite database like lines: path and cursor in, records and next cursor out.

The adapter says which tables it knows and how to query a record (`Query`); this reads what is new in those tables, and
no other. A position is a time in milliseconds, by which the client orders records. Knows nothing of agents or of what
records say.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from skilld.agents.base import Query
from skilld.files import FileFacts
from skilld.ingest.tail import MAX_LINE, UnreadableError, check_own
from skilld.types import RawLine, Span
from skilld.values import value_class

# Opening an agent's database: it is never written, only known schemas are read, and no file is created next to it.
#
_WAL_SUFFIX = "-wal"
_LOCK_SECONDS = 0.2  # how long to wait for a client's lock: the next read comes anyway


@contextmanager
def open_database(
    path: Path, queries: Sequence[Query], seconds: float
) -> Iterator[tuple[sqlite3.Connection, Query, str]]:
    """Open a database and yield it with the matching query and a note on what that does not cover.

    All queries see one state of it and must finish in `seconds`. Raises OSError if the database is gone,
    UnreadableError if it is not ours, locked, damaged, or has an unknown schema.
    """
    check_own(path, path.stat(follow_symlinks=False))
    still = not _is_in_use(path)
    try:
        with closing(_connect(path, seconds, still=still)) as db:
            query = next((q for q in queries if all(q.tables[name] <= _columns(db, name) for name in q.tables)), None)
            if query is None:
                raise UnreadableError(0, "its tables do not match any version that skilld supports", str(path))
            db.execute("BEGIN")
            yield db, query, _newer_table_note(db, query)
        if still and _is_in_use(path):
            raise UnreadableError(0, "an agent has just opened it; skilld will try again", str(path))
    except sqlite3.DatabaseError as error:
        raise UnreadableError(0, _describe_error(error), str(path)) from error


def _is_in_use(path: Path) -> bool:
    """Whether a log next to the database has contents: then it must be read too, and locks respected."""
    for ending in (_WAL_SUFFIX, "-journal"):
        with suppress(OSError):
            if path.with_name(f"{path.name}{ending}").stat().st_size > 0:
                return True
    return False


def _connect(path: Path, seconds: float, *, still: bool) -> sqlite3.Connection:
    """Open a database for reading. Without a log it is opened as `immutable`, so SQLite creates no files next to it."""
    place = f"file:{quote(str(path))}?mode=ro{'&immutable=1' if still else ''}"
    db = sqlite3.connect(place, uri=True, timeout=_LOCK_SECONDS, isolation_level=None)
    try:
        db.row_factory = sqlite3.Row
        db.text_factory = lambda data: data.decode("utf-8", "replace")
        deadline = time.monotonic() + seconds
        db.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        db.execute("PRAGMA query_only = ON")
        db.execute("PRAGMA trusted_schema = OFF")
        _allow_json_functions(db)
    except BaseException:
        db.close()
        raise
    return db


def _allow_json_functions(db: sqlite3.Connection) -> None:
    """Trust the schema if SQLite only objects to JSON functions in an index.

    SQLite 3.40 considers those of Kilo Code 7.7.9 unsafe, and the file damaged; they have no side effects.
    """
    try:
        db.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
    except sqlite3.DatabaseError as error:
        if "unsafe use of json_" not in str(error):
            raise
        db.execute("PRAGMA trusted_schema = ON")


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns of a table; none if it is not a table (a view could contain anything)."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (table,)).fetchone():
        return set()
    return {row["name"] for row in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def _newer_table_note(db: sqlite3.Connection, query: Query) -> str:
    """Return a note if a table of a newer version is in use that this query does not read, "" if none is."""
    for table in query.newer:
        if _columns(db, table) and db.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone():  # noqa: S608 - our own name
            return f"a newer version keeps sessions in its table {table}, which skilld cannot read yet"
    return ""


def _describe_error(error: sqlite3.DatabaseError) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return "locked by its agent; skilld will try again"
    if code == sqlite3.SQLITE_INTERRUPT:
        return "reading took too long; skilld will try again"
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return "the database is damaged"
    return f"SQLite says: {error}"


# Records are read again for this long: their parts may be written a moment later, or replace deleted ones. Turn keys
# make the repeats harmless.
OVERLAP_MS = 10_000
# How much from before skilld is read, for the skills of sessions that continue.
_LOOK_BACK_MS = 7 * 86_400_000
# How long reading what is new, or everything, may take, in case somebody built a database to stall us.
_MAX_NEW_SECONDS, _MAX_ALL_SECONDS = 10.0, 100.0
# Limits of one read; a long history is read in parts, one right after the other.
_MAX_RECORDS = 2000
_MAX_PART_SECONDS = 0.2


@value_class
class RowCursor:
    """How far a database was read: all records before `offset`, and all up to row `row` at any position.

    Rows are in the order of commits, positions are not: a fork copies old ones, a clock is set back. `row` is None
    until the end has been reached once.
    """

    dev: int
    ino: int
    offset: int
    row: int | None = None


@value_class
class RowRead:
    """The new records of a database, like `tail.FileRead` for a file.

    `note` tells the person what could not be read.
    """

    lines: tuple[RawLine, ...]
    overlong: tuple[Span, ...]
    cursor: RowCursor
    restarted: bool
    more: bool
    size: int
    mtime: float
    note: str
    length: int = sys.maxsize  # positions are times, which have no end

    def parts(self) -> tuple[RawLine, ...]:
        """Return the records."""
        return self.lines


@value_class
class RowSource:
    """How a database is read; `ingest.source` says what the methods are for.

    Those that read raise OSError if the database is gone, UnreadableError if it is locked, damaged, or has an unknown
    schema; a cursor stays valid.
    """

    queries: tuple[Query, ...]
    rereads: ClassVar = True

    def transcript(self, changed: Path) -> Path:
        """Return the database, also for its write-ahead log, which changes first."""
        return changed.with_name(changed.name.removesuffix(_WAL_SUFFIX))

    def facts(self, place: Path | os.DirEntry[str]) -> FileFacts:
        """Return identity, size and time of the database and its write-ahead log, to which new records go first."""
        path = Path(place)
        own = path.stat(follow_symlinks=False)
        size, mtime = own.st_size, own.st_mtime
        with suppress(FileNotFoundError):
            log = path.with_name(f"{path.name}{_WAL_SUFFIX}").stat(follow_symlinks=False)
            size, mtime = size + log.st_size, max(mtime, log.st_mtime)
        return FileFacts(own.st_dev, own.st_ino, size, mtime)

    def end(self, path: Path, facts: FileFacts) -> int:
        """Return the position after the newest record, 0 if there is none; if it cannot be read, one from its time."""
        try:
            with open_database(path, self.queries, _MAX_NEW_SECONDS) as (db, query, _):
                (position,) = db.execute(query.newest).fetchone()
        except OSError:
            position = int(facts.st_mtime * 1000)
        return position + 1 if isinstance(position, int) else 0

    def cursor(self, stored: Mapping[str, Any] | None, baseline: int) -> RowCursor | None:
        """Return the stored cursor, or one that starts some days before the baseline."""
        if stored:
            return RowCursor(**stored)
        return RowCursor(0, 0, max(0, baseline - _LOOK_BACK_MS)) if baseline else None

    @contextmanager
    def read_new(self, path: Path, cursor: object, *, budget: int = 4 << 20) -> Iterator[RowRead]:
        """Read the records after `cursor`, at most about `budget` bytes; the database is closed before parsing."""
        seen = self.facts(path)  # before reading, so that what is written meanwhile counts as a change
        with open_database(path, self.queries, _MAX_NEW_SECONDS) as (db, query, note):
            last = cursor if isinstance(cursor, RowCursor) else None
            known = last is not None and (last.dev, last.ino) in {(seen.st_dev, seen.st_ino), (0, 0)}
            since, row = (last.offset, last.row) if last is not None and known else (0, None)
            (last_row,) = db.execute(query.last_row).fetchone()
            index, cut = _page(db, query, since if row is None else since - OVERLAP_MS, row)
            lines, overlong, left = _read_records(budget, db, query, index)
            left = left or cut
            end = max([since, *(line.end for line in lines), *(span.end for span in overlong)])
        yield RowRead(
            tuple(lines),
            tuple(overlong),
            RowCursor(seen.st_dev, seen.st_ino, end, None if left else last_row),
            restarted=last is not None and not known,
            more=left,
            size=seen.st_size,
            mtime=seen.st_mtime,
            note=note,
        )

    def session(self, record: RawLine) -> str | None:
        """Return the value of a column `session` in the record."""
        fields = json.loads(record.data)
        found = (row["session"] for rows in fields.values() for row in rows if "session" in row)
        return next((name for name in found if isinstance(name, str)), None)

    def read_all(self, path: Path, *, end: int | None = None) -> Iterator[RawLine | Span]:
        """Yield all records in order."""
        del end
        return self._read(path, None)

    def read_session(self, path: Path, session: str, start: int, end: int) -> Iterator[RawLine | Span]:
        """Yield all records of a session."""
        del start, end
        return self._read(path, session)

    read_range = read_session

    def _read(self, path: Path, session: str | None) -> Iterator[RawLine | Span]:
        with open_database(path, self.queries, _MAX_ALL_SECONDS) as (db, query, _):
            for position, key in _index(db, query, 0, session=session):
                yield _read_record(db, query, position, key)


def _read_records(
    budget: int, db: sqlite3.Connection, query: Query, index: Sequence[tuple[int, str]]
) -> tuple[list[RawLine], list[Span], bool]:
    """Read records for a short time or until `budget` bytes are read, but always all that share a position.

    The next read begins after that position.
    """
    lines: list[RawLine] = []
    overlong: list[Span] = []
    size = 0
    until = time.monotonic() + _MAX_PART_SECONDS
    for number, (position, key) in enumerate(index):
        is_enough = size >= budget or (number and time.monotonic() > until)
        if is_enough and position != index[number - 1][0]:
            return lines, overlong, True
        item = _read_record(db, query, position, key)
        if isinstance(item, RawLine):
            lines.append(item)
            size += len(item.data)
        else:
            overlong.append(item)
    return lines, overlong, False


def _page(db: sqlite3.Connection, query: Query, since: int, row: int | None) -> tuple[list[tuple[int, str]], bool]:
    """Return positions and keys of the first records, for each position all or none, and whether there are more."""
    found = _index(db, query, since, row, limit=_MAX_RECORDS)
    if len(found) < _MAX_RECORDS:
        return found, False
    whole = [item for item in found if item[0] != found[-1][0]]
    if whole:
        return whole, True
    every = _index(db, query, since, row)
    same = [item for item in every if item[0] == every[0][0]]
    return same, len(same) < len(every)


def _index(
    db: sqlite3.Connection,
    query: Query,
    since: int,
    row: int | None = None,
    *,
    session: str | None = None,
    limit: int = -1,
) -> list[tuple[int, str]]:
    found = db.execute(query.index, {"since": since, "row": row, "session": session, "limit": limit})
    return [(position, key) for position, key in found]


def _read_record(db: sqlite3.Connection, query: Query, position: int, key: str) -> RawLine | Span:
    fields: dict[str, Any] = {}
    for name, statement in query.record.items():
        rows = [dict(row) for row in db.execute(statement, {"key": key, "longest": MAX_LINE})]
        fields[name] = rows
    data = json.dumps(fields, ensure_ascii=False, default=lambda _: None).encode("utf-8", "replace")
    span = Span(max(position, 0), max(position, 0) + 1)
    return RawLine(span.start, span.end, data) if len(data) <= MAX_LINE else span
