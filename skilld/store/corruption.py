"""A damaged database: what to do with its files, what can still be read, and the copies that replace it.

Nothing is deleted. SQLite keeps no checksums, so rows that can be read may be wrong: the caller checks what it took
over. Only for the holder of the daemon's lock.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from skilld.store.connection import damaged
from skilld.store.journal import Journal, Place, forget_deletable, journal_of, place, replay, tail

# Those that others refer to come first.
_TABLES = (
    *("meta", "files", "sessions", "turns", "skill_uses", "batches", "judged"),
    *("proposals", "decisions", "learnings", "usage", "notices", "tasks", "feedback", "mined", "past_sessions"),
    *("evals", "eval_runs", "elsewhere", "reviews"),
)
_GENERATIONS = 3  # of copies, each at least a day older than the one before
_JSON = {
    *("value", "cursor", "parser", "job", "kept", "operations", "evidence", "flags", "agents", "updates"),
    *("proposal_ids", "conflicts", "also", "linked", "tools", "skills", "cases", "asks", "record"),
}
_TROUBLE = (sqlite3.Error, UnicodeDecodeError)  # its messages may hold bytes of the file


@dataclass(frozen=True, slots=True)
class Summary:
    """How far a database has come. Rows of these two tables are never deleted."""

    place: Place | None  # none in one of an older skilld
    proposals: int
    decisions: int

    def knows_more(self, than: Summary) -> bool:
        """Whether something must have been lost from the other one since."""
        ours, theirs = self.place, than.place
        if ours is None or theirs is None:
            return self.proposals > than.proposals or self.decisions > than.decisions
        return ours.database != theirs.database or ours.number > theirs.number


def copy_of(path: Path, generation: int = 0) -> Path:
    """Return where a copy of a database is kept: the newest one, or an older `generation`."""
    return path.with_name(f"{path.name}.copy" + f"-{generation}" * bool(generation))


def copies(path: Path) -> list[Path]:
    """Return the copies that are there, the newest first."""
    return [copy for number in range(_GENERATIONS) if (copy := copy_of(path, number)).is_file()]


def rotate_in(path: Path, new: Path, *, rotate: bool) -> None:
    """Make a file the newest copy; with `rotate` the others become a generation older. Raises OSError."""
    if rotate:
        for number in reversed(range(1, _GENERATIONS)):
            if (younger := copy_of(path, number - 1)).exists():
                younger.replace(copy_of(path, number))
    new.replace(copy_of(path))


def missing_reason(path: Path) -> str | None:
    """Return why the database that was at `path` is gone; None if it is there, or there never was one."""
    # Before the look at the database: a first start, which may be going on, makes that one first.
    known = os.path.lexists(journal_of(path)) or bool(copies(path))
    try:
        facts = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return f"{path} is missing" if known else None
    except OSError:
        return None  # opening it says why
    if known and not stat.S_ISREG(facts.st_mode):
        return f"{path} is not a file"
    return f"{path} is empty" if known and not facts.st_size else None


def make_private(path: Path) -> None:
    """Close what is in a database's place to others where it is not that database: it will be moved aside.

    The database itself, open to others, is for the person to look at (skilld.paths.check_private).
    """
    known = tail(journal_of(path))
    if known is None and not copies(path):
        return
    found = summary(path)  # may leave files beside it, as open as it is
    if found is not None and (known is None or found.place == known.place):
        return
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            file = path.with_name(path.name + suffix)
            if not file.is_symlink():
                file.chmod(stat.S_IMODE(file.stat().st_mode) & 0o700)


def make_usable(path: Path) -> None:
    """Give ourselves back the right to read and write a database of ours."""
    with suppress(OSError):
        facts = path.lstat()
        if stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and facts.st_mode & 0o600 != 0o600:  # noqa: PLR2004
            path.chmod(0o600)


def summary(path: Path) -> Summary | None:
    """Return how far a database file has come; None if it cannot be read."""
    try:
        with closing(_read_only(path)) as db:
            (proposals,) = db.execute("SELECT count(*) FROM proposals").fetchone()
            (decisions,) = db.execute("SELECT count(*) FROM decisions").fetchone()
            return Summary(place(db), proposals, decisions)
    except _TROUBLE:
        return None


def is_sound(path: Path) -> bool:
    """Whether nothing is wrong with a database file itself."""
    try:
        with closing(_read_only(path)) as db:
            return bool(db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except _TROUBLE:
        return False


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)


def begun(path: Path) -> Path:
    """Return where a database is built; it becomes `rebuilt` when it is whole."""
    return path.with_name(f"{path.name}.rebuilding")


def rebuilt(path: Path) -> Path:
    """Return where a whole database waits that will take the place of a damaged one."""
    return path.with_name(f"{path.name}.rebuilt")


def last_write(path: Path) -> float:
    """Return when something was last written into a database (Unix seconds); 0 if there is none."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return max((file.stat().st_mtime for file in files if file.exists()), default=0.0)


def begin(path: Path, copy: Path | None) -> Path:
    """Start a new database from a copy, or from nothing; returns where. Raises DamagedError if the copy is."""
    new = begun(path)
    for suffix in ("-wal", "-shm", ""):
        new.with_name(new.name + suffix).unlink(missing_ok=True)
    if copy is not None:
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))  # VACUUM fills an empty one
        try:
            with closing(_read_only(copy)) as db:
                db.execute("VACUUM INTO ?", (str(new),))
        except _TROUBLE as error:
            raise damaged(str(error)) from error
    return new


def replace(path: Path, mark: str) -> Path:
    """Move a damaged database aside and the rebuilt one into its place; returns where the damaged one is.

    Its log goes first: next to another database SQLite would take it for that one's.
    """
    names = (
        f"{path.name}.damaged-{mark}" + f"-{number}" * (number > 1) for number in count(1)
    )  # twice within a second
    aside = next(there for name in names if not os.path.lexists(there := path.with_name(name)))
    for suffix in ("-wal", "-shm", ""):
        old = path.with_name(path.name + suffix)
        if os.path.lexists(old):
            old.replace(aside.with_name(aside.name + suffix))
    rebuilt(path).replace(path)
    return aside


def salvage(old_file: Path, into: Path) -> int:
    """Take over every row that can be read of a damaged database into one of the newest schema; returns how many."""
    taken = 0
    if not old_file.is_file() or not os.access(old_file, os.R_OK):
        return taken
    with closing(_read_only(old_file)) as old, closing(sqlite3.connect(into, isolation_level=None)) as new:
        new.execute("PRAGMA foreign_keys = ON")
        new.execute("BEGIN IMMEDIATE")
        for table in _TABLES:
            known = _columns(old, table)
            columns = [column for column in _columns(new, table) if column in known]
            marks = ", ".join("?" * len(columns))
            for row in _rows(old, table, columns):
                try:
                    new.execute(f"INSERT OR REPLACE INTO {table} ({_names(columns)}) VALUES ({marks})", row)  # noqa: S608 - fixed names
                    taken += 1
                except _TROUBLE:  # a row that breaks the schema's rules is none
                    continue
        new.execute("COMMIT")
    return taken


def lay_over(journal: Journal, into: Path, *, newest: bool) -> int:
    """Lay a journal over a database, in whose schema its rows are; returns how many could be taken over.

    The `newest` of what there is decides also what was deleted, if it is whole.
    """
    with closing(sqlite3.connect(into, isolation_level=None)) as new:
        new.execute("PRAGMA foreign_keys = ON")
        new.execute("BEGIN IMMEDIATE")
        if newest and journal.whole:
            forget_deletable(new)
        taken = replay(new, journal.rows)
        new.execute("COMMIT")
    return taken


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    try:
        return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    except _TROUBLE:
        return []


def _names(columns: list[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _rows(db: sqlite3.Connection, table: str, columns: list[str]) -> Iterator[tuple[object, ...]]:
    """Yield the rows from the first one up to the damage, then from the last one back to it."""
    if not columns:
        return
    for order in ("ASC", "DESC"):
        try:
            for row in db.execute(f"SELECT {_names(columns)} FROM {table} NOT INDEXED ORDER BY rowid {order}"):  # noqa: S608 - fixed names
                if all(_is_json(value) for column, value in zip(columns, row, strict=True) if column in _JSON):
                    yield row
        except _TROUBLE:
            continue
        return


def _is_json(value: object) -> bool:
    try:
        json.loads(value) if isinstance(value, str) else None
    except ValueError:
        return False
    return True
