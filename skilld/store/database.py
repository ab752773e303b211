"""The store as a whole: opens the database, groups its tables, runs transactions, makes copies."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path

from skilld.files import access_remedy
from skilld.store import connection, corruption, journal
from skilld.store.batches import Batches
from skilld.store.budget import UsageLog
from skilld.store.connection import Connection, StoreError, Table, WaitingFile, damage_error, transaction, unsynced
from skilld.store.evals import Evals
from skilld.store.journal import Place, Tail, journal_of, read, tail, write
from skilld.store.learnings import Learnings
from skilld.store.machine_records import MachineRecords
from skilld.store.meta import Meta, Mining, Notices
from skilld.store.moved import MovedFolders
from skilld.store.overview import Overview
from skilld.store.past import PastSessions
from skilld.store.proposals import Proposals
from skilld.store.reviews import Reviews
from skilld.store.schema import back_up, migrate
from skilld.store.search import Search
from skilld.store.tasks import TaskRecords
from skilld.store.transcripts import Transcripts
from skilld.store.words import Words
from skilld.types import State
from skilld.values import value_class

_REBUILD_KEY = "rebuilding"
_MAX_IDS = 1000


@value_class
class RebuildState:
    """The state of a rebuild.

    What was said at `since` (Unix seconds) or later must be read again; `tries` counts attempts to recover from git. A
    database that was not `damaged` only lacked a proposal that git holds; a `consistent` one reads on where it stopped.
    """

    since: float
    reread: bool = False
    tries: int = 0
    damaged: bool = True
    consistent: bool = False


class Rebuild(Table):
    """The row of `meta` that holds the state of a rebuild; absent if none is running."""

    @property
    def state(self) -> RebuildState | None:
        """The state; None if nothing is being rebuilt."""
        value = self._first("SELECT value FROM meta WHERE key = ?", _REBUILD_KEY)
        return None if value is None else RebuildState(**json.loads(value))

    def save(self, state: RebuildState) -> None:
        """Save the state."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_REBUILD_KEY, json.dumps(asdict(state))))

    def end(self) -> None:
        """Record that the rebuild is done."""
        self._db.execute("DELETE FROM meta WHERE key = ?", (_REBUILD_KEY,))

    def sessions_with_skills(self) -> list[tuple[str, str]]:
        """Return (agent, session id) of the newest sessions that used a skill."""
        rows = self._db.execute(
            "SELECT agent, session_id FROM skill_uses GROUP BY agent, session_id ORDER BY max(rowid) DESC LIMIT ?",
            (_MAX_IDS,),
        )
        return [(row["agent"], row["session_id"]) for row in rows]

    def agent_of(self, session_id: str) -> str:
        """Return the agent of a session, "" if the session is unknown."""
        return self._first("SELECT agent FROM sessions WHERE session_id = ?", session_id) or ""


_CACHE_KIB, _SMALL_CACHE_KIB = 512, 64  # twice as much is no faster
_MAX_STATEMENTS = 32  # prepared statements to cache: 128, the default, take 0.5 MB more and are no faster
_LOCK_SECONDS = 60.0  # how long to wait for another process's lock: on a slow disk a commit takes seconds


class Store:
    """An open database. Use it from the thread that opened it."""

    def __init__(self, db: Connection, path: Path) -> None:
        self._db = db
        self.path = path
        self.meta = Meta(db)
        self.transcripts = Transcripts(db)
        self.batches = Batches(db)
        self.proposals = Proposals(db)
        self.learnings = Learnings(db)
        self.records = TaskRecords(db)
        self.usage = UsageLog(db)
        self.mining = Mining(db)
        self.past = PastSessions(db)
        self.evals = Evals(db)
        self.reviews = Reviews(db)
        self.machine_records = MachineRecords(db)
        self.notices = Notices(db)
        self.moved = MovedFolders(db)
        self.overview = Overview(db)
        self.rebuild = Rebuild(db)
        self.search = Search(db)
        self.words = Words(path.with_name("words.db"))

    @classmethod
    def open(cls, path: Path, *, journaled: bool = True) -> Store:
        """Open or create the database at `path` (mode 0600) and migrate it.

        A database that is being rebuilt is not `journaled`: it is not checked against a journal, nor written to one.

        Raises SkilldError if it was written by a newer skilld, is damaged or gone, or cannot be opened.
        """
        known = tail(journal_of(path)) if journaled else None  # read first: what is written meanwhile is in both
        if journaled and (why := corruption.missing_reason(path)):
            raise damage_error(why, "The database is gone")
        frozen = _is_frozen(path)
        try:
            if not frozen:
                _create_private(path)
            db = sqlite3.connect(
                f"{path.resolve().as_uri()}?immutable=1" if frozen else path,
                timeout=_LOCK_SECONDS,
                isolation_level=None,
                factory=Connection,
                cached_statements=_MAX_STATEMENTS,
                uri=frozen,
            )
        except (sqlite3.DatabaseError, OSError) as error:
            remedy = access_remedy(path, "u+rw") if path.is_file() and not os.access(path, os.R_OK | os.W_OK) else ""
            raise StoreError("Cannot open the database", f"{path}: {error}", remedy) from error
        try:
            db.row_factory = sqlite3.Row
            _check_journal(db, known)
            if frozen:
                migrate(db, path)  # does nothing, or raises that it cannot
                return cls(db, path)
            _set_journal_mode(db, "DELETE" if connection.is_remote(path) else "WAL")
            # FULL: with NORMAL, a power cut may take back the newest transactions of a WAL database.
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
            db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")  # the system's page cache holds the rest
            migrate(db, path)
            if journaled and journal.supports_journal(db):
                db.journal = recorder = journal.Recorder(db, journal_of(path))
                _redo_last_transaction(db, recorder, path, known)
                db.waiting = WaitingFile(db, path)
        except BaseException:
            db.close()
            raise
        return cls(db, path)

    @classmethod
    def empty(cls, path: Path) -> Store:
        """Return an in-memory database for readers if there is none at `path`: reading does not create one."""
        db = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
        db.row_factory = sqlite3.Row
        migrate(db, path)
        return cls(db, path)

    @classmethod
    def open_checked(cls, path: Path, *, journaled: bool = True) -> Store:
        """Open a database as `open` does, and read all of it; raises DamagedError if anything is wrong."""
        try:
            with ExitStack() as opened:
                store = cls.open(path, journaled=journaled)
                opened.callback(store.close)
                verdict = store._db.execute("PRAGMA integrity_check(1)").fetchone()[0]  # noqa: SLF001 - our own
                deque(store.transcripts.each(), maxlen=0)
                store.batches.waiting()
                store.proposals.in_states([*State])
                store.release_memory()  # the cache is full of what was read
                if verdict == "ok":
                    opened.pop_all()
                    return store
        except StoreError as error:
            if getattr(error.__cause__, "sqlite_errorcode", None) != sqlite3.SQLITE_ERROR:
                raise
            verdict = error.cause  # the schema is no longer ours
        except (sqlite3.Error, LookupError, TypeError, ValueError):
            verdict = "a row cannot be read"
        raise damage_error(str(verdict))

    def wait_at_most(self, seconds: float) -> None:
        """Wait no longer than this for another process's lock: for a command that a person can just type again."""
        self._db.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    def release_memory(self) -> None:
        """Release cached pages: the system's page cache holds them too."""
        self._db.execute("PRAGMA shrink_memory")

    @contextmanager
    def transaction(self, *, synced: bool = True) -> Iterator[None]:
        """Run the body in a transaction, or in the one that is already open.

        If it is not `synced`, a power cut may take it back, as long as no synced one followed.
        """
        if self._db.in_transaction:
            yield
            return
        with nullcontext() if synced else unsynced(self._db), transaction(self._db):
            yield

    def write_waiting_file(self) -> None:
        """Write the file for status lines again: it may be missing or older than the database."""
        if self._db.waiting is not None:
            self._db.waiting.changed = True
            self._db.waiting.write()

    @property
    def place(self) -> Place | None:
        """How far the database has come; None if it does not say."""
        return journal.place(self._db)

    def save_copy(self, *, rotate: bool = True) -> None:
        """Write a copy next to the database, to replace it if it is damaged, and restart the journal.

        The newest copy so far becomes the second; without `rotate` it is overwritten. Raises StoreError, OSError.
        """
        new = self.path.with_name(f"{self.path.name}.copy-new")
        self._db.execute(f"PRAGMA cache_size = -{_SMALL_CACHE_KIB}")  # the copy gets its own cache of this size
        try:
            back_up(self._db, new)
        finally:
            self._db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        corruption.install_copy(self.path, new, rotate=rotate)
        self.compact()

    def erase_free_space(self) -> None:
        """Rewrite the database and its copies without what was deleted or blanked. Raises StoreError, OSError."""
        self.search.clear()
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self.save_copy(rotate=False)
        older = corruption.existing_copies(self.path)[1:]
        for path in (*older, *self.path.parent.glob(f"{self.path.name}.before-*")):
            path.unlink(missing_ok=True)

    def compact(self) -> None:
        """Rewrite the journal unless it is ahead of the database. Raises StoreError."""
        known = journal_of(self.path)
        with transaction(self._db):  # every writer of the journal holds this lock
            there, here = tail(known), self.place
            if here is not None and (there is None or not journal.mismatch(here, there.place)):
                write(known, here, journal.journaled_rows(self._db))

    def close(self) -> None:
        """Close the database."""
        self.words.close()
        self._db.close()


def _set_journal_mode(db: Connection, mode: str) -> None:
    """Set SQLite's journal mode, which fails at once if another process is just doing so, without waiting for it."""
    try:
        db.execute(f"PRAGMA journal_mode = {mode}")
    except StoreError as error:
        if getattr(error.__cause__, "sqlite_errorcode", None) != sqlite3.SQLITE_BUSY:
            raise
        db.execute("BEGIN EXCLUSIVE")  # this waits
        db.execute("ROLLBACK")
        _set_journal_mode(db, mode)


def _check_journal(db: Connection, known: Tail | None) -> None:
    """Raise DamagedError if a database does not belong to its journal."""
    if known is not None and (why := journal.mismatch(journal.place(db), known.place)):
        raise damage_error(why)


def _redo_last_transaction(db: Connection, recorder: journal.Recorder, path: Path, known: Tail | None) -> None:
    """Redo the one transaction that a killed process wrote to the journal but did not commit."""
    here = journal.place(db)
    if known is None or here is None or known.place.number <= here.number:
        return
    with transaction(db):  # no other process is between journal and commit now
        there, here = read(journal_of(path)), journal.place(db)
        if there is None or here is None or there.tail.place.number <= here.number:
            return
        if why := journal.mismatch(here, there.tail.place):
            raise damage_error(why)
        journal.replay(db, there.last)
        journal.set_place(db, there.tail.place)
        recorder.clear()  # the journal already has these changes


def _is_frozen(path: Path) -> bool:
    """Whether a database lies in a folder that cannot be written, without the log of an open one: it can only be read.

    SQLite could not create the log's index there, without which it opens no database in this mode.
    """
    logs = (path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-journal"))
    return os.path.isfile(path) and not os.access(path.parent, os.W_OK) and not any(map(os.path.lexists, logs))  # noqa: PTH113


def _create_private(path: Path) -> None:
    """Create an empty database with mode 0600 if there is none.

    An existing one is not opened: closing any descriptor of it drops the locks of all of this process's connections
    (sqlite.org/howtocorrupt.html, 2.2), and another process then overwrites what one of them relies on.
    """
    with suppress(FileExistsError):
        path.touch(0o600, exist_ok=False)
