"""Reads records from an agent's SQLite database as if they were lines: path and cursor in, records and cursor out.

The adapter says which tables it knows and how a record is asked for (`Query`); this reads what is new of those. A
position is a time in milliseconds, by which the client orders records. Knows nothing of agents or of what records say,
and asks for no other table.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from skilld.agents.base import Query
from skilld.files import FileFacts
from skilld.ingest.tail import MAX_LINE, UnreadableError, check_own
from skilld.types import RawLine, Span

# Opening an agent's SQLite database to read it: never written, of a known shape or none, no other file made beside
# it.
#
# Path and the adapter's queries in, a connection and the query that fits out. Knows nothing of what records say.

_LOCK_SECONDS = 0.2  # seconds a client's lock is waited for; the next look comes anyway


@contextmanager
def opened(path: Path, queries: Sequence[Query], seconds: float) -> Iterator[tuple[sqlite3.Connection, Query, str]]:
    """Open a database and yield it with the query that fits and a word about what it does not reach.

    All that is asked is of one moment, and takes at most so many seconds. Raises OSError if the database is gone,
    UnreadableError if it is not ours, locked, damaged, or of no known shape.
    """
    check_own(path, path.stat(follow_symlinks=False))
    still = not _is_in_use(path)
    try:
        with closing(_connect(path, seconds, still=still)) as db:
            query = next((query for query in queries if _fits(db, query)), None)
            if query is None:
                raise UnreadableError(0, "its tables do not match any version that skilld supports", str(path))
            db.execute("BEGIN")
            yield db, query, _beyond(db, query)
        if still and _is_in_use(path):
            raise UnreadableError(0, "an agent has just opened it; skilld will try again", str(path))
    except sqlite3.DatabaseError as error:
        raise UnreadableError(0, _why(error), str(path)) from error


def _is_in_use(path: Path) -> bool:
    """Whether there is anything in a log next to the database: then that, too, must be read, and locks be heeded."""
    for ending in ("-wal", "-journal"):
        with suppress(OSError):
            if path.with_name(f"{path.name}{ending}").stat().st_size > 0:
                return True
    return False


def _connect(path: Path, seconds: float, *, still: bool) -> sqlite3.Connection:
    """Open a database for reading. Without a log it is taken for `immutable`: else SQLite makes files next to it."""
    place = f"file:{quote(str(path))}?mode=ro{'&immutable=1' if still else ''}"
    db = sqlite3.connect(place, uri=True, timeout=_LOCK_SECONDS, isolation_level=None)
    try:
        db.row_factory = sqlite3.Row
        db.text_factory = lambda data: data.decode("utf-8", "replace")
        deadline = time.monotonic() + seconds
        db.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        db.execute("PRAGMA query_only = ON")
        db.execute("PRAGMA trusted_schema = OFF")
        _let_json_be(db)
    except BaseException:
        db.close()
        raise
    return db


def _let_json_be(db: sqlite3.Connection) -> None:
    """Trust the schema where all that is held against it is JSON's own functions in an index.

    SQLite 3.40 takes those of Kilo Code 7.7.9 for unsafe, and the file for damaged; none of them has an effect.
    """
    try:
        db.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
    except sqlite3.DatabaseError as error:
        if "unsafe use of json_" not in str(error):
            raise
        db.execute("PRAGMA trusted_schema = ON")


def _fits(db: sqlite3.Connection, query: Query) -> bool:
    return all(columns <= _columns(db, table) for table, columns in query.tables.items())


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns of a table; none if it is not one (a view could say anything)."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (table,)).fetchone():
        return set()
    return {row["name"] for row in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def _beyond(db: sqlite3.Connection, query: Query) -> str:
    """Return a word on tables of a newer version that are in use, which this query does not read."""
    for table in query.newer:
        if _columns(db, table) and db.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone():  # noqa: S608 - our own name
            return f"a newer version keeps sessions in its table {table}, which skilld cannot read yet"
    return ""


def _why(error: sqlite3.DatabaseError) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return "locked by its agent; skilld will try again"
    if code == sqlite3.SQLITE_INTERRUPT:
        return "reading took too long; skilld will try again"
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return "the database is damaged"
    return f"SQLite says: {error}"


# A record that was read is read again for so long: what belongs to it may come a moment later, or in place of a
# deleted one. Turn keys make the repeats harmless.
OVERLAP = 10_000  # milliseconds
# Of what was there before skilld only this much is read, for the skills of sessions that go on.
LOOK_BACK = 7 * 86_400_000  # milliseconds
# Seconds that reading may take, should somebody have made a database to keep us: what is new, all of it.
_MAX_NEW_LENGTH, _MAX_WHOLE_LENGTH = 10.0, 100.0
# What one look takes: a part of a long history, and not long. The rest is read by the next look, at once.
_MAX_RECORDS = 2000  # records
_WHILE = 0.2  # seconds


@dataclass(frozen=True, slots=True)
class RowCursor:
    """How far a database was read: all records before `offset`, and all up to row `row` wherever they stand.

    Rows come in the order of commits, positions do not: a fork copies old ones, a clock is set back. `row` is None
    while the reader has not come to the end yet.
    """

    dev: int
    ino: int
    offset: int
    row: int | None = None


@dataclass(frozen=True, slots=True)
class RowLook:
    """What one look at a database gave, as `tail.Look` gives it of a file.

    `note` is what the person should know of what could not be read.
    """

    lines: tuple[RawLine, ...]
    overlong: tuple[Span, ...]
    cursor: RowCursor
    restarted: bool
    more: bool
    size: int
    mtime: float
    note: str

    @property
    def length(self) -> int:
        """Where positions end: nowhere, they are times."""
        return sys.maxsize

    def parts(self) -> tuple[RawLine, ...]:
        """Return the records."""
        return self.lines


def facts(path: Path) -> FileFacts:
    """Return identity, size and time of a database with its write-ahead log, in which new records come first."""
    own = path.stat(follow_symlinks=False)
    size, mtime = own.st_size, own.st_mtime
    try:
        log = path.with_name(f"{path.name}-wal").stat(follow_symlinks=False)
    except FileNotFoundError:
        return FileFacts(own.st_dev, own.st_ino, size, mtime)
    return FileFacts(own.st_dev, own.st_ino, size + log.st_size, max(mtime, log.st_mtime))


def newest(path: Path, queries: Sequence[Query]) -> int:
    """Return the position behind the newest record; 0 if there is none. Raises OSError as `read` does."""
    with opened(path, queries, _MAX_NEW_LENGTH) as (db, query, _):
        (position,) = db.execute(query.newest).fetchone()
        return int(position or 0) + 1 if isinstance(position, int) else 0


def read(path: Path, cursor: RowCursor | None, queries: Sequence[Query], *, budget: int = 4 << 20) -> RowLook:
    """Return the records behind `cursor` (None: from the start), at most about `budget` bytes of them.

    Raises OSError if the database is gone, UnreadableError if it is locked, damaged, or of no known shape: none
    of it moves the cursor.
    """
    seen = facts(path)  # before it is read: what comes meanwhile is a change
    with opened(path, queries, _MAX_NEW_LENGTH) as (db, query, note):
        known = cursor is not None and (cursor.dev, cursor.ino) in {(seen.st_dev, seen.st_ino), (0, 0)}
        since, row = (cursor.offset, cursor.row) if cursor is not None and known else (0, None)
        (last_row,) = db.execute(query.last_row).fetchone()
        index, cut = _page(db, query, since if row is None else since - OVERLAP, row)
        lines, overlong, left = _within(budget, db, query, index)
        left = left or cut
        end = max([since, *(line.end for line in lines), *(span.end for span in overlong)])
        position = RowCursor(seen.st_dev, seen.st_ino, end, None if left else last_row)
    return RowLook(
        tuple(lines),
        tuple(overlong),
        position,
        restarted=cursor is not None and not known,
        more=left,
        size=seen.st_size,
        mtime=seen.st_mtime,
        note=note,
    )


def whole(path: Path, queries: Sequence[Query], session: str | None = None) -> Iterator[RawLine | Span]:
    """Yield all records, or those of one session, in order. Raises as `read` does."""
    with opened(path, queries, _MAX_WHOLE_LENGTH) as (db, query, _):
        for position, key in _index(db, query, 0, session=session):
            yield _record(db, query, position, key)


def _within(
    budget: int, db: sqlite3.Connection, query: Query, index: Sequence[tuple[int, str]]
) -> tuple[list[RawLine], list[Span], bool]:
    """Read records for a while, or until `budget` bytes are there, but all that share a position.

    The next look begins behind it.
    """
    lines: list[RawLine] = []
    overlong: list[Span] = []
    size = 0
    until = time.monotonic() + _WHILE
    for number, (position, key) in enumerate(index):
        is_enough = size >= budget or (number and time.monotonic() > until)
        if is_enough and position != index[number - 1][0]:
            return lines, overlong, True
        item = _record(db, query, position, key)
        if isinstance(item, RawLine):
            lines.append(item)
            size += len(item.data)
        else:
            overlong.append(item)
    return lines, overlong, False


def _page(db: sqlite3.Connection, query: Query, since: int, row: int | None) -> tuple[list[tuple[int, str]], bool]:
    """Return the first records' positions and keys, of each position all or none, and whether there are others."""
    found = _index(db, query, since, row, most=_MAX_RECORDS)
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
    most: int = -1,
) -> list[tuple[int, str]]:
    found = db.execute(query.index, {"since": since, "row": row, "session": session, "most": most})
    return [(position, key) for position, key in found]


def _record(db: sqlite3.Connection, query: Query, position: int, key: str) -> RawLine | Span:
    fields: dict[str, Any] = {}
    for name, statement in query.record.items():
        rows = [dict(row) for row in db.execute(statement, {"key": key, "longest": MAX_LINE})]
        fields[name] = rows
    data = json.dumps(fields, ensure_ascii=False, default=lambda _: None).encode("utf-8", "replace")
    span = Span(max(position, 0), max(position, 0) + 1)
    return RawLine(span.start, span.end, data) if len(data) <= MAX_LINE else span
