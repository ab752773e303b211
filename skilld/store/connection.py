"""Connections to the database, with distinct errors for a full disk, a lock, damage and our own bugs."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import statusline
from skilld.errors import SkilldError
from skilld.files import write_atomically

if TYPE_CHECKING:
    from skilld.store.journal import Recorder

_TRANSLATED_ERRORS = {sqlite3.OperationalError, sqlite3.DatabaseError}  # not their subclasses
_PRIMARY_CODE_MASK = 0xFF  # the other bits of an error code hold details

_REMEDIES = {
    sqlite3.SQLITE_FULL: "Free some space, then try again. Nothing is lost.",
    sqlite3.SQLITE_BUSY: "Another program is using the database. Close that program, then try again. Nothing is lost.",
    sqlite3.SQLITE_READONLY: "Find out why it is read-only: skilld doctor",
}
_WRITE_STATEMENTS = frozenset({"INSERT", "UPDATE", "DELETE", "REPLAC"})  # the first six letters of statements
_ACCESS_ERRORS = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}


class StoreError(SkilldError):
    """The database could not be read or written because of a full disk, a lock held for too long, or damage."""


class DamagedError(StoreError):
    """The file is no longer a sound database."""


class _ErrorTranslator:
    """Raises ours for SQLite's errors. A class, because every statement enters it twice and generators are slower."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, sqlite3.DatabaseError) or type(error) not in _TRANSLATED_ERRORS:
            return
        if error.sqlite_errorcode & _PRIMARY_CODE_MASK in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise damage_error(str(error)) from error
        remedy = _REMEDIES.get(error.sqlite_errorcode & _PRIMARY_CODE_MASK, "")
        raise StoreError("Could not use the database", str(error), remedy) from error


_translated_errors = _ErrorTranslator()


class _Cursor(sqlite3.Cursor):
    def fetchone(self) -> Any:  # noqa: ANN401 - sqlite3's signature
        with _translated_errors:
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with _translated_errors:
            return super().fetchall()

    def __next__(self) -> Any:  # noqa: ANN401 - sqlite3's signature
        with _translated_errors:
            return super().__next__()


class WaitingFile:
    """The file for status lines next to a database: how many proposals are open, by agent.

    It is written inside the transactions that change the numbers, so in their order.
    """

    def __init__(self, db: sqlite3.Connection, database: Path) -> None:
        self._db = db
        self._path = database.with_name(statusline.FILE)
        self.changed = False

    def write(self) -> None:
        """Write the file if its numbers have changed. Failing to write it stops nothing: it is only a convenience."""
        if not self.changed:
            return
        from skilld.agents import ADAPTERS

        self.changed = False
        rows = self._db.execute("SELECT agent, count(*) AS number FROM proposals WHERE state = 'open' GROUP BY agent")
        data = statusline.content({**dict.fromkeys(ADAPTERS, 0), **{row["agent"]: row["number"] for row in rows}})
        if statusline.read(str(self._path)) != data:
            with suppress(OSError):
                write_atomically(self._path, data, 0o600)


class Connection(sqlite3.Connection):
    """A connection that raises StoreError, but leaves errors for wrong SQL and broken constraints: those are our bugs.

    With a `journal`, every statement that writes runs in a transaction, in its own if there is no other.
    """

    journal: Recorder | None = None  # called at the end of each transaction
    waiting: WaitingFile | None = None  # the code that changes proposals sets its `changed`

    def execute(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401, D102 - sqlite3's signature
        if self._needs_transaction(arguments[0]):
            with transaction(self):
                return self.execute(*arguments)
        with _translated_errors:  # sqlite3's own execute makes a cursor whose rows raise SQLite's errors
            return super().cursor(_Cursor).execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401, D102 - sqlite3's signature
        if self._needs_transaction(arguments[0]):
            with transaction(self):
                return self.executemany(*arguments)
        with _translated_errors:
            return super().executemany(*arguments)

    def _needs_transaction(self, sql: str) -> bool:
        return self.journal is not None and not self.in_transaction and sql.lstrip()[:6].upper() in _WRITE_STATEMENTS


class Table:
    """One table, or several that belong together."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def _first(self, sql: str, *values: object) -> Any:  # noqa: ANN401 - what a column holds
        """Return the first column of the first row; None if there is no row."""
        row = self._db.execute(sql, values).fetchone()
        return None if row is None else row[0]

    def _column(self, sql: str, *values: object) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in self._db.execute(sql, values)]


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run the body in a transaction, on disk before it returns. They cannot be nested."""
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
            waiting.changed = True  # it was written before the rollback: the next transaction corrects it
        if journal is not None:
            journal.roll_back()
        if db.in_transaction:  # on a full disk SQLite has already rolled back
            db.execute("ROLLBACK")
        raise
    if journal is not None:
        journal.clear()


@contextmanager
def unsynced(db: sqlite3.Connection) -> Iterator[None]:
    """Let the transactions begun in the body reach the disk later: with the next one outside it, or by the system.

    A power cut may take the newest of them back, but never a part of one. In rollback mode nothing changes, because
    there a database could be damaged.
    """
    if db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        yield
        return
    db.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        db.execute("PRAGMA synchronous = FULL")


def is_access_error(error: StoreError) -> bool:
    """Whether the file or its disk cannot be read or written."""
    return getattr(error.__cause__, "sqlite_errorcode", 0) & _PRIMARY_CODE_MASK in _ACCESS_ERRORS


def damage_error(cause: str, title: str = "The database is damaged") -> DamagedError:
    """Return the error that says why the file is not a sound database, and what to do about it."""
    return DamagedError(
        title,
        cause,
        "Restart skilld (its service, or skilld run). It will move the file aside and recover everything it can.",
    )


# SQLite's write-ahead log does not work on network file systems. Sources: https://sqlite.org/wal.html, "All processes
# using a database must be on the same host computer"; proc(5).

_MOUNT_TABLE = Path("/proc/self/mountinfo")
_REMOTE_FILE_SYSTEMS = frozenset(
    {
        *("9p", "afs", "beegfs", "ceph", "cifs", "davfs", "glusterfs"),
        *("gpfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"),
    }
)
_REMOTE_FUSE_TYPES = "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.glusterfs", "fuse.davfs"
_OCTAL_ESCAPE = re.compile(r"\\([0-7]{3})")


def is_remote(path: Path) -> bool:
    """Whether a file is on a network file system; False if the system does not say (macOS)."""
    try:
        mounts = _MOUNT_TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    kind = file_system_type(path.resolve(), mounts)
    return kind in _REMOTE_FILE_SYSTEMS or kind.startswith(_REMOTE_FUSE_TYPES)


def file_system_type(path: Path, mounts: str) -> str:
    """Return the type of the file system that holds a real path, given the contents of /proc/self/mountinfo."""
    found, depth = "", -1
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) > 4 and after:  # noqa: PLR2004 - the mount point is the fifth
            point = Path(_OCTAL_ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[4]))
            if path.is_relative_to(point) and len(point.parts) >= depth:  # a later mount hides an earlier one
                found, depth = after.split(" ")[0], len(point.parts)
    return found
