"""Opening an agent's SQLite database to read it: never written, of a known shape or none, no other file made beside it.

Path and the adapter's queries in, a connection and the query that fits out. Knows nothing of what records say.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from skilld.intake.agents.base import Query
from skilld.intake.tail import UnreadableError, check_own

_PATIENCE = 0.2  # seconds a client's lock is waited for; the next look comes anyway


@contextmanager
def opened(path: Path, queries: Sequence[Query], seconds: float) -> Iterator[tuple[sqlite3.Connection, Query, str]]:
    """Open a database and yield it with the query that fits and a word about what it does not reach.

    All that is asked is of one moment, and takes at most so many seconds. Raises OSError where the database is gone,
    UnreadableError where it is not ours, locked, damaged, or of no known shape.
    """
    check_own(path, path.stat(follow_symlinks=False))
    still = not _is_in_use(path)
    try:
        with closing(_connect(path, seconds, still=still)) as db:
            query = next((query for query in queries if _fits(db, query)), None)
            if query is None:
                raise UnreadableError(0, "its tables are not those of a version that skilld knows", str(path))
            db.execute("BEGIN")
            yield db, query, _beyond(db, query)
        if still and _is_in_use(path):
            raise UnreadableError(0, "a client has just opened it; skilld tries again", str(path))
    except sqlite3.DatabaseError as error:
        raise UnreadableError(0, _why(error), str(path)) from error


def _is_in_use(path: Path) -> bool:
    """Whether there is anything in a log beside the database: then that, too, must be read, and locks be heeded."""
    for ending in ("-wal", "-journal"):
        with suppress(OSError):
            if path.with_name(f"{path.name}{ending}").stat().st_size > 0:
                return True
    return False


def _connect(path: Path, seconds: float, *, still: bool) -> sqlite3.Connection:
    """Open a database for reading. Without a log it is taken for `immutable`: else SQLite makes files beside it."""
    place = f"file:{quote(str(path))}?mode=ro{'&immutable=1' if still else ''}"
    db = sqlite3.connect(place, uri=True, timeout=_PATIENCE, isolation_level=None)
    try:
        db.row_factory = sqlite3.Row
        db.text_factory = lambda data: data.decode("utf-8", "replace")
        deadline = time.monotonic() + seconds
        db.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        db.execute("PRAGMA query_only = ON")
        db.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        db.close()
        raise
    return db


def _fits(db: sqlite3.Connection, query: Query) -> bool:
    return all(columns <= _columns(db, table) for table, columns in query.tables.items())


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns of a table; none where it is none (a view could say anything)."""
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
        return "locked by its client; skilld tries again"
    if code == sqlite3.SQLITE_INTERRUPT:
        return "reading took too long; skilld tries again"
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return "it is no sound database"
    return f"SQLite says: {error}"
