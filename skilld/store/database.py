"""The store as a whole: opens the database, groups its tables, runs transactions, makes copies."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skilld.files import in_shell
from skilld.store import connection, corruption, journal
from skilld.store.batches import Batches
from skilld.store.budget import UsageLog
from skilld.store.connection import Connection, StoreError, Table, WaitingFile, damaged, transaction
from skilld.store.elsewhere import Elsewhere
from skilld.store.evals import Evals
from skilld.store.journal import Place, Tail, journal_of, read, tail, write
from skilld.store.learnings import Learnings
from skilld.store.meta import Meta, Mining, Notices
from skilld.store.overview import Overview
from skilld.store.past import Past
from skilld.store.proposals import Proposals
from skilld.store.reviews import Reviews
from skilld.store.schema import back_up, migrate
from skilld.store.tasks import Records
from skilld.store.transcripts import Transcripts
from skilld.store.words import Words
from skilld.types import State

if TYPE_CHECKING:
    from skilld.store.search import Search


_KEY = "rebuilding"
_MAX_IDS = 1000


@dataclass(frozen=True, slots=True)
class RebuildState:
    """How far it has come.

    What was said at `since` (Unix seconds) or later is to be read again; `tries` counts the looks into git. What
    was not `damaged` only lacked a proposal that git holds; one that is `consistent` reads on where it stopped.
    """

    since: float
    reread: bool = False
    tries: int = 0
    damaged: bool = True
    consistent: bool = False


class Rebuild(Table):
    """The one row that says so, absent where all is well."""

    @property
    def state(self) -> RebuildState | None:
        """How far it has come; None if nothing is being rebuilt."""
        value = self._first("SELECT value FROM meta WHERE key = ?", _KEY)
        return None if value is None else RebuildState(**json.loads(value))

    def note(self, state: RebuildState) -> None:
        """Keep how far it has come."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, json.dumps(asdict(state))))

    def end(self) -> None:
        """Note that it is done."""
        self._db.execute("DELETE FROM meta WHERE key = ?", (_KEY,))

    def sessions_with_skills(self) -> list[tuple[str, str]]:
        """Return (agent, session id) of the newest sessions that used a skill."""
        rows = self._db.execute(
            "SELECT agent, session_id FROM skill_uses GROUP BY agent, session_id ORDER BY max(rowid) DESC LIMIT ?",
            (_MAX_IDS,),
        )
        return [(row["agent"], row["session_id"]) for row in rows]

    def agent_of(self, session_id: str) -> str:
        """Return the agent of a session; empty if it is not known."""
        return self._first("SELECT agent FROM sessions WHERE session_id = ?", session_id) or ""


_CACHE, _SMALL_CACHE = 512, 64  # KiB: twice as much is no faster
_STATEMENTS = 32  # prepared ones that are kept: 128, the default, take 0.5 MB more and are no faster
_LOCK_SECONDS = 60.0  # seconds that another process's lock is waited for: on a slow disk a commit takes seconds


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
        self.records = Records(db)
        self.usage = UsageLog(db)
        self.mining = Mining(db)
        self.past = Past(db)
        self.evals = Evals(db)
        self.reviews = Reviews(db)
        self.elsewhere = Elsewhere(db)
        self.notices = Notices(db)
        self.overview = Overview(db)
        self.rebuild = Rebuild(db)
        self.words = Words(path.with_name("words.db"))

    @property
    def search(self) -> Search:
        """The full-text index: what it compares words with is imported only where somebody searches."""
        from skilld.store.search import Search

        return Search(self._db)

    @classmethod
    def open(cls, path: Path, *, journaled: bool = True) -> Store:
        """Open or create the database at `path` (mode 0600) and bring it up to date.

        One that is being rebuilt is not `journaled`: it is compared with no journal, and what is done to it is in none.

        Raises SkilldError if it was written by a newer skilld, is damaged or gone, or cannot be opened.
        """
        known = tail(journal_of(path)) if journaled else None  # first of all: what is written meanwhile is in both
        if journaled and (why := corruption.missing_reason(path)):
            raise damaged(why, "The database is gone")
        try:
            _make_private(path)
            db = sqlite3.connect(
                path, timeout=_LOCK_SECONDS, isolation_level=None, factory=Connection, cached_statements=_STATEMENTS
            )
        except (sqlite3.DatabaseError, OSError) as error:
            remedy = f"chmod u+rw {in_shell(path)}" if path.is_file() and not os.access(path, os.R_OK | os.W_OK) else ""
            raise StoreError("Cannot open the database", f"{path}: {error}", remedy) from error
        try:
            db.row_factory = sqlite3.Row
            _compare(db, known)
            db.execute(f"PRAGMA journal_mode = {'DELETE' if connection.is_remote(path) else 'WAL'}")
            # FULL: with NORMAL the newest transactions of a WAL database may be lost with the power.
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
            db.execute(f"PRAGMA cache_size = -{_CACHE}")  # the system's own cache holds the rest
            migrate(db, path)
            if journaled and journal.is_ready(db):
                db.journal = recorder = journal.Recorder(db, journal_of(path))
                _redo(db, recorder, path, known)
                db.waiting = WaitingFile(db, path)
        except BaseException:
            db.close()
            raise
        return cls(db, path)

    @classmethod
    def empty(cls, path: Path) -> Store:
        """Return a database in memory in place of one at `path` that was never made: whoever only reads makes none."""
        db = sqlite3.connect(":memory:", isolation_level=None, factory=Connection)
        db.row_factory = sqlite3.Row
        migrate(db, path)
        return cls(db, path)

    @classmethod
    def open_sound(cls, path: Path, *, journaled: bool = True) -> Store:
        """Open a database as `open` does, and look all through it; raises DamagedError if anything is odd."""
        try:
            with ExitStack() as opened:
                store = cls.open(path, journaled=journaled)
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
        except (sqlite3.Error, LookupError, TypeError, ValueError):
            verdict = "a row cannot be read"
        raise damaged(str(verdict))

    def shrink(self) -> None:
        """Forget the pages that were read: the system's own cache holds them too."""
        self._db.execute("PRAGMA shrink_memory")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything inside happen together or not at all; one inside another is part of it."""
        if self._db.in_transaction:
            yield
            return
        with transaction(self._db):
            yield

    def tell_waiting(self) -> None:
        """Write the file for status lines again: it may be gone, or older than the database."""
        if self._db.waiting is not None:
            self._db.waiting.changed = True
            self._db.waiting.write()

    @property
    def place(self) -> Place | None:
        """How far it has come; None if it does not say."""
        return journal.place(self._db)

    def keep_copy(self, *, rotate: bool = True) -> None:
        """Put a copy next to it, and have the journal begin again: what a damaged one is replaced by.

        The newest copy so far becomes the second; without `rotate` its place is taken. Raises StoreError, OSError.
        """
        new = self.path.with_name(f"{self.path.name}.copy-new")
        self._db.execute(f"PRAGMA cache_size = -{_SMALL_CACHE}")  # the copy gets as much once more
        try:
            back_up(self._db, new)
        finally:
            self._db.execute(f"PRAGMA cache_size = -{_CACHE}")
        corruption.rotate_in(self.path, new, rotate=rotate)
        self.compact()

    def compact(self) -> None:
        """Write the journal again, where it does not know more than the database. Raises StoreError."""
        known = journal_of(self.path)
        with transaction(self._db):  # whoever writes a line has this lock
            there, here = tail(known), self.place
            if here is not None and (there is None or not journal.mismatch(here, there.place)):
                write(known, here, journal.everything(self._db))

    def close(self) -> None:
        """Close the database."""
        self.words.close()
        self._db.close()


def _compare(db: Connection, known: Tail | None) -> None:
    """Raise DamagedError if a database cannot be the one that its journal tells of."""
    if known is not None and (why := journal.mismatch(journal.place(db), known.place)):
        raise damaged(why)


def _redo(db: Connection, recorder: journal.Recorder, path: Path, known: Tail | None) -> None:
    """Carry out the one transaction that a killed process wrote down and could not commit."""
    here = journal.place(db)
    if known is None or here is None or known.place.number <= here.number:
        return
    with transaction(db):  # nobody else is between the two now
        there, here = read(journal_of(path)), journal.place(db)
        if there is None or here is None or there.tail.place.number <= here.number:
            return
        if why := journal.mismatch(here, there.tail.place):
            raise damaged(why)
        journal.replay(db, there.last)
        journal.set_place(db, there.tail.place)
        recorder.done()  # what it noted of this is in the journal


def _make_private(path: Path) -> None:
    """Create an empty database that is ours alone where there is none.

    One that is there is not opened: closing any descriptor of it drops the locks of all of this process's connections
    (sqlite.org/howtocorrupt.html, 2.2), and another process then overwrites what one of them relies on.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
