"""Opening the database: pragmas, migrations, refusal of a newer one, transactions."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld.errors import SkilldError
from skilld.store import damage, mounts
from skilld.store.batches import Batches
from skilld.store.learnings import Learnings
from skilld.store.meta import Meta
from skilld.store.mining import Mining
from skilld.store.notices import Notices
from skilld.store.overview import Overview
from skilld.store.proposals import Proposals
from skilld.store.rebuilding import Rebuild
from skilld.store.records import Records
from skilld.store.schema import MIGRATIONS
from skilld.store.transcripts import Transcripts
from skilld.store.usage import UsageLog
from skilld.types import State

if TYPE_CHECKING:
    from skilld.store.search import Search

_TROUBLES = {sqlite3.OperationalError, sqlite3.DatabaseError}  # not their subclasses
_PRECIOUS = "meta", "files", "proposals", "learnings"  # one that another process makes just now has no row in any
_PRIMARY = 0xFF  # of an error code; the rest of it says more


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
            raise _damaged(str(error)) from error
        raise StoreError("The database could not be used", str(error)) from error


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


class _Connection(sqlite3.Connection):
    """A connection whose troubles are StoreErrors. Wrong SQL and broken constraints stay what they are: our bugs."""

    def cursor(self, factory: Any = _Cursor) -> Any:  # noqa: ANN401 - sqlite3's signature
        return super().cursor(factory)

    def execute(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401 - sqlite3's signature
        with _TOLD:
            return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401 - sqlite3's signature
        with _TOLD:
            return super().executemany(*arguments)


class Store:
    """An open database. Use it from the thread that opened it."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self.path = path
        self.meta = Meta(db)
        self.transcripts = Transcripts(db)
        self.batches = Batches(db)
        self.proposals = Proposals(db)
        self.learnings = Learnings(db)
        self.records = Records(db)
        self.usage = UsageLog(db)
        self.mining = Mining(db)
        self.notices = Notices(db)
        self.overview = Overview(db)
        self.rebuild = Rebuild(db)

    @property
    def search(self) -> Search:
        """The full-text index: what it compares words with is imported only where somebody searches."""
        from skilld.store.search import Search

        return Search(self._db)

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open or create the database at `path` (mode 0600) and bring it up to date.

        Raises SkilldError where it was written by a newer skilld, is damaged, or cannot be opened.
        """
        try:
            _make_private(path)
            db = sqlite3.connect(path, timeout=10, isolation_level=None, factory=_Connection)
        except (sqlite3.DatabaseError, OSError) as error:
            raise StoreError("The database cannot be opened", f"{path}: {error}") from error
        try:
            db.row_factory = sqlite3.Row
            db.execute(f"PRAGMA journal_mode = {'DELETE' if mounts.is_remote(path) else 'WAL'}")
            # FULL: with NORMAL the newest transactions of a WAL database may be lost with the power.
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA cache_size = -1024")  # KiB: the system's own cache holds the rest
            _migrate(db, path)
        except BaseException:
            db.close()
            raise
        return cls(db, path)

    @classmethod
    def open_sound(cls, path: Path) -> Store:
        """Open a database as `open` does, and look all through it; raises DamagedError where anything is odd."""
        try:
            with ExitStack() as opened:
                store = cls.open(path)
                opened.callback(store.close)
                verdict = store._db.execute("PRAGMA integrity_check(1)").fetchone()[0]  # noqa: SLF001 - our own
                deque(store.transcripts.each(), maxlen=0)
                store.batches.waiting()
                store.proposals.in_states([*State])
                store.shrink()  # all of it went through the cache
                if verdict == "ok":
                    opened.pop_all()
                    return store
        except StoreError as error:
            if getattr(error.__cause__, "sqlite_errorcode", None) != sqlite3.SQLITE_ERROR:
                raise
            verdict = error.cause  # a schema that is not ours any more
        except (sqlite3.Error, LookupError, TypeError, ValueError) as error:
            verdict = f"a row makes no sense ({type(error).__name__})"
        raise _damaged(str(verdict))

    def shrink(self) -> None:
        """Forget the pages that were read: the system's own cache holds them too."""
        self._db.execute("PRAGMA shrink_memory")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything inside happen together or not at all; one inside another is part of it."""
        if self._db.in_transaction:
            yield
            return
        with _transaction(self._db):
            yield

    def keep_copy(self) -> None:
        """Put a copy beside it, in place of the one before: what a damaged one is replaced by."""
        new = self.path.with_name(f"{self.path.name}.copy-new")
        _back_up(self._db, new)
        new.replace(damage.copy_of(self.path))

    def close(self) -> None:
        """Close the database."""
        self._db.close()


def _make_private(path: Path) -> None:
    """Create an empty database that is ours alone where there is none.

    One that is there is not opened: closing any descriptor of it drops the locks of all of this process's connections
    (sqlite.org/howtocorrupt.html, 2.2), and another process then overwrites what one of them relies on.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, at TEXT NOT NULL) STRICT")
    done = {row["name"] for row in db.execute("SELECT name FROM migrations")}
    known = [name for name, _ in MIGRATIONS]
    if newer := sorted(map(str, done - set(known))):
        if not done.issuperset(known):
            raise _damaged("the names of its migrations are none")
        raise SkilldError(
            "The database was written by a newer skilld", f"{path} has {newer[0]}", "Install the newer version again."
        )
    if not done and db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").fetchone():
        raise _damaged("its migrations are gone")
    due = [(name, migration) for name, migration in MIGRATIONS if name not in done]
    if due and done and any(db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in _PRECIOUS):  # noqa: S608
        kept = path.with_name(f"{path.name}.before-{due[0][0]}")
        own = kept.with_name(f"{kept.name}.{threading.get_native_id()}")  # others may be at it in this moment
        _back_up(db, own)
        own.replace(kept)
    for name, migration in due:
        with _transaction(db):
            if not db.execute("SELECT 1 FROM migrations WHERE name = ?", (name,)).fetchone():
                migration(db)
                db.execute("INSERT INTO migrations VALUES (?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))", (name,))


def _back_up(db: sqlite3.Connection, path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))  # VACUUM fills an empty one
    except OSError as error:
        raise StoreError("The database could not be backed up", f"{path}: {error.strerror}") from error
    db.execute("VACUUM INTO ?", (str(path),))


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # where the disk is full SQLite has rolled back by itself
            db.execute("ROLLBACK")
        raise


def _damaged(cause: str) -> DamagedError:
    return DamagedError(
        "The database is damaged",
        cause,
        "Run: skilld run. It moves the file away; skilld then starts a new one with all that can be kept.",
    )
