"""Connections to the database, with distinct errors: a full disk, a lock, damage, or our own bug."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import statusline
from skilld.errors import SkilldError
from skilld.files import write_whole

if TYPE_CHECKING:
    from skilld.store.journal import Recorder

_TROUBLES = {sqlite3.OperationalError, sqlite3.DatabaseError}  # not their subclasses
_PRIMARY = 0xFF  # of an error code; the rest of it says more

_REMEDIES = {
    sqlite3.SQLITE_FULL: "Free some space, then try again. Nothing is lost.",
    sqlite3.SQLITE_BUSY: "Another program is using the database. Close that program, then try again. Nothing is lost.",
    sqlite3.SQLITE_READONLY: "Find out why it is read-only: skilld doctor",
}
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLAC"})  # the first six letters of statements
_UNREADABLE = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}


class StoreError(SkilldError):
    """The database could not be read or written: a full disk, a lock held for too long, damage."""


class DamagedError(StoreError):
    """The file is no sound database any more."""


class _Told:
    """Turns SQLite's errors into ours; a context of its own kind, since every statement goes through it twice."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, sqlite3.DatabaseError) or type(error) not in _TROUBLES:
            return
        if error.sqlite_errorcode & _PRIMARY in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise damaged(str(error)) from error
        remedy = _REMEDIES.get(error.sqlite_errorcode & _PRIMARY, "")
        raise StoreError("Could not use the database", str(error), remedy) from error


_TOLD = _Told()


class _Cursor(sqlite3.Cursor):
    def fetchone(self) -> Any:  # noqa: ANN401 - sqlite3's signature
        with _TOLD:
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with _TOLD:
            return super().fetchall()

    def __next__(self) -> Any:  # noqa: ANN401 - sqlite3's signature
        with _TOLD:
            return super().__next__()


class WaitingFile:
    """The file for status lines next to a database: how many proposals are waiting, by agent.

    It is written inside the transactions that change the numbers, and so in their order.
    """

    def __init__(self, db: sqlite3.Connection, database: Path) -> None:
        self._db = db
        self._path = database.with_name(statusline.FILE)
        self.changed = False

    def write(self) -> None:
        """Write the file if its numbers have changed. It is a convenience: failing to write it stops nothing."""
        if not self.changed:
            return
        from skilld.agents import ADAPTERS

        self.changed = False
        rows = self._db.execute("SELECT agent, count(*) AS number FROM proposals WHERE state = 'open' GROUP BY agent")
        data = statusline.content({**dict.fromkeys(ADAPTERS, 0), **{row["agent"]: row["number"] for row in rows}})
        if statusline.read(str(self._path)) != data:
            with suppress(OSError):
                write_whole(self._path, data, 0o600)


class Connection(sqlite3.Connection):
    """A connection whose troubles are StoreErrors. Wrong SQL and broken constraints stay what they are: our bugs.

    With a `journal` every statement that writes is in a transaction, if need be in one of its own.
    """

    journal: Recorder | None = None  # told of the end of each transaction
    waiting: WaitingFile | None = None  # the code that changes proposals sets its `changed`

    def cursor(self, factory: Any = _Cursor) -> Any:  # noqa: ANN401, D102 - sqlite3's signature
        return super().cursor(factory)

    def execute(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401, D102 - sqlite3's signature
        if self._is_alone(arguments[0]):
            with transaction(self):
                return self.execute(*arguments)
        with _TOLD:
            return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401, D102 - sqlite3's signature
        if self._is_alone(arguments[0]):
            with transaction(self):
                return self.executemany(*arguments)
        with _TOLD:
            return super().executemany(*arguments)

    def _is_alone(self, sql: str) -> bool:
        return self.journal is not None and not self.in_transaction and sql.lstrip()[:6].upper() in _WRITES


class Table:
    """One table, or some that belong together."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def _first(self, sql: str, *values: object) -> Any:  # noqa: ANN401 - what a column holds
        """Return the first column of the first row; None if there is no row."""
        row = self._db.execute(sql, values).fetchone()
        return None if row is None else row[0]


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Make everything inside happen together or not at all. Not for one inside another."""
    journal, waiting = (db.journal, db.waiting) if isinstance(db, Connection) else (None, None)
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        if journal is not None:
            journal.write()
        if waiting is not None:
            waiting.write()
        db.execute("COMMIT")
    except BaseException:
        if waiting is not None:
            waiting.changed = True  # it published what was rolled back: the next transaction corrects it
        if journal is not None:
            journal.take_back()
        if db.in_transaction:  # where the disk is full SQLite has rolled back by itself
            db.execute("ROLLBACK")
        raise
    if journal is not None:
        journal.done()


def is_unreadable(error: StoreError) -> bool:
    """Whether it is the file, or the disk below it, that cannot be read or written."""
    return getattr(error.__cause__, "sqlite_errorcode", 0) & _PRIMARY in _UNREADABLE


def damaged(cause: str, title: str = "The database is damaged") -> DamagedError:
    """Return the error that says why the file is no sound database, and what to do about it."""
    return DamagedError(
        title,
        cause,
        "Restart skilld (its service, or skilld run). It will move the file aside and recover everything it can.",
    )


# Which sort of file system holds a file: SQLite's write-ahead log does not work over a network. Source:
# https://sqlite.org/wal.html, "All processes using a database must be on the same host computer"; proc(5).

_TABLE = Path("/proc/self/mountinfo")
_REMOTE = frozenset(
    {
        *("9p", "afs", "beegfs", "ceph", "cifs", "davfs", "glusterfs"),
        *("gpfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"),
    }
)
_REMOTE_PROGRAMS = "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.glusterfs", "fuse.davfs"
_ESCAPED = re.compile(r"\\([0-7]{3})")


def is_remote(path: Path) -> bool:
    """Whether a file is on a network file system; False if the system does not tell (macOS)."""
    try:
        mounts = _TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    kind = kind_of(path.resolve(), mounts)
    return kind in _REMOTE or kind.startswith(_REMOTE_PROGRAMS)


def kind_of(path: Path, mounts: str) -> str:
    """Return the type of the file system that holds a real path, by a table as in /proc/self/mountinfo."""
    found, depth = "", -1
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) > 4 and after:  # noqa: PLR2004 - the mount point is the fifth
            point = Path(_ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4]))
            if path.is_relative_to(point) and len(point.parts) >= depth:  # a later one lies over an earlier one
                found, depth = after.split(" ")[0], len(point.parts)
    return found
