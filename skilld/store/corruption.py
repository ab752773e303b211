"""Handling a damaged database: its files, the rows that can still be read, and the copies that replace it.

Nothing is deleted. SQLite keeps no checksums, so readable rows may still be wrong: the caller checks what was salvaged.
Only for the holder of the daemon's lock.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

from skilld.store.connection import damage_error
from skilld.store.journal import Journal, Place, delete_removable, journal_of, place, replay, tail
from skilld.values import value_class

# Tables that others refer to come first.
_TABLES = (
    *("meta", "files", "sessions", "turns", "skill_uses", "batches", "judged"),
    *("proposals", "decisions", "learnings", "usage", "notices", "tasks", "feedback", "mined", "past_sessions"),
    *("evals", "eval_runs", "elsewhere", "reviews"),
)
_MAX_COPIES = 3  # each at least a day older than the one before
_JSON_COLUMNS = {
    *("value", "cursor", "parser", "job", "kept", "operations", "evidence", "flags", "agents", "updates"),
    *("proposal_ids", "conflicts", "also", "linked", "tools", "skills", "cases", "asks", "record"),
}
_READ_ERRORS = (sqlite3.Error, UnicodeDecodeError)  # their messages may contain bytes of the file


@value_class
class Summary:
    """How far a database has come. Rows of the two counted tables are never deleted."""

    place: Place | None  # None if an older skilld wrote it
    proposals: int
    decisions: int

    def is_ahead_of(self, than: Summary) -> bool:
        """Whether the other database must have lost something."""
        ours, theirs = self.place, than.place
        if ours is None or theirs is None:
            return self.proposals > than.proposals or self.decisions > than.decisions
        return ours.database != theirs.database or ours.number > theirs.number


def copy_path(path: Path, generation: int = 0) -> Path:
    """Return the path of the newest copy of a database, or of an older `generation`."""
    return path.with_name(f"{path.name}.copy" + f"-{generation}" * bool(generation))


def existing_copies(path: Path) -> list[Path]:
    """Return the copies that exist, newest first."""
    return [copy for number in range(_MAX_COPIES) if (copy := copy_path(path, number)).is_file()]


def install_copy(path: Path, new: Path, *, rotate: bool) -> None:
    """Make a file the newest copy; with `rotate`, the others become one generation older. Raises OSError."""
    if rotate:
        for number in reversed(range(1, _MAX_COPIES)):
            if (younger := copy_path(path, number - 1)).exists():
                younger.replace(copy_path(path, number))
    new.replace(copy_path(path))


def missing_reason(path: Path) -> str | None:
    """Return why the database at `path` is gone; None if it is there, or never was."""
    # Checked before the database: a first start, which may be running now, creates the database first.
    known = os.path.lexists(journal_of(path)) or bool(existing_copies(path))
    try:
        facts = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return f"{path} is missing" if known else None
    except OSError:
        return None  # opening it gives the reason
    if known and not stat.S_ISREG(facts.st_mode):
        return f"{path} is not a file"
    return f"{path} is empty" if known and not facts.st_size else None


def is_replaced(path: Path) -> bool:
    """Whether what is at a database's path is not that database, as its journal or its copies show."""
    known = tail(journal_of(path))
    if known is None and not existing_copies(path):
        return False
    found = summary(path)  # may leave files next to it, with the same permissions
    return found is None or (known is not None and found.place != known.place)


def restrict_access(path: Path) -> None:
    """Deny others access to what is at a database's path if it is not that database: it will be moved aside.

    If the database itself is open to others, the person is told (skilld.paths.check_private).
    """
    if not is_replaced(path):
        return
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            file = path.with_name(path.name + suffix)
            if not file.is_symlink():
                file.chmod(stat.S_IMODE(file.stat().st_mode) & 0o700)


def restore_access(path: Path) -> None:
    """Let the owner of a database, if it is us, read and write it again."""
    with suppress(OSError):
        facts = path.lstat()
        if stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and facts.st_mode & 0o600 != 0o600:  # noqa: PLR2004
            path.chmod(0o600)


def summary(path: Path) -> Summary | None:
    """Return the summary of a database file; None if it cannot be read."""
    try:
        with closing(_read_only(path)) as db:
            (proposals,) = db.execute("SELECT count(*) FROM proposals").fetchone()
            (decisions,) = db.execute("SELECT count(*) FROM decisions").fetchone()
            return Summary(place(db), proposals, decisions)
    except _READ_ERRORS:
        return None


def is_sound(path: Path) -> bool:
    """Whether a database file passes SQLite's integrity check."""
    try:
        with closing(_read_only(path)) as db:
            return bool(db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except _READ_ERRORS:
        return False


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)


def rebuilding_path(path: Path) -> Path:
    """Return where a database is being rebuilt, until it is complete and moves to `rebuilt_path`."""
    return path.with_name(f"{path.name}.rebuilding")


def rebuilt_path(path: Path) -> Path:
    """Return the path of the complete database that will replace a damaged one."""
    return path.with_name(f"{path.name}.rebuilt")


def last_write_time(path: Path) -> float:
    """Return when a database was last written to (Unix seconds); 0 if there is none."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return max((file.stat().st_mtime for file in files if file.exists()), default=0.0)


def start_rebuild(path: Path, copy: Path | None) -> Path:
    """Start a new database from a copy or from nothing; return its path. Raises DamagedError if the copy is damaged."""
    new = rebuilding_path(path)
    for suffix in ("-wal", "-shm", ""):
        new.with_name(new.name + suffix).unlink(missing_ok=True)
    if copy is not None:
        # VACUUM INTO accepts an empty file.
        new.touch(0o600, exist_ok=False)
        try:
            with closing(_read_only(copy)) as db:
                db.execute("VACUUM INTO ?", (str(new),))
        except _READ_ERRORS as error:
            raise damage_error(str(error)) from error
    return new


def swap_in_rebuilt(path: Path, mark: str) -> None:
    """Move a damaged database aside and the rebuilt one into its place.

    Its write-ahead log is moved first: SQLite would apply it to the new database.
    """
    # The number is for damage twice within a second.
    names = (f"{path.name}.damaged-{mark}" + f"-{number}" * (number > 1) for number in count(1))
    aside = next(there for name in names if not os.path.lexists(there := path.with_name(name)))
    for suffix in ("-wal", "-shm", ""):
        old = path.with_name(path.name + suffix)
        if os.path.lexists(old):
            old.replace(aside.with_name(aside.name + suffix))
    rebuilt_path(path).replace(path)


def salvage(old_file: Path, into: Path) -> int:
    """Copy every readable row of a damaged database into one of the newest schema; return how many."""
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
                    new.execute(f"INSERT OR REPLACE INTO {table} ({_quoted_names(columns)}) VALUES ({marks})", row)  # noqa: S608 - fixed names
                    taken += 1
                except _READ_ERRORS:  # a row that breaks the schema's rules is dropped
                    continue
        new.execute("COMMIT")
    return taken


def apply_journal(journal: Journal, into: Path, *, newest: bool) -> int:
    """Apply a journal to a database of the same schema; return how many rows could be applied.

    If it is the `newest` source and complete, rows that it does not have are deleted.
    """
    with closing(sqlite3.connect(into, isolation_level=None)) as new:
        new.execute("PRAGMA foreign_keys = ON")
        new.execute("BEGIN IMMEDIATE")
        if newest and journal.whole:
            delete_removable(new)
        taken = replay(new, journal.rows)
        new.execute("COMMIT")
    return taken


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    try:
        return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    except _READ_ERRORS:
        return []


def _quoted_names(columns: list[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _rows(db: sqlite3.Connection, table: str, columns: list[str]) -> Iterator[tuple[object, ...]]:
    """Yield the rows from the first one up to the damage, then from the last one back to it."""
    if not columns:
        return
    for order in ("ASC", "DESC"):
        try:
            for row in db.execute(f"SELECT {_quoted_names(columns)} FROM {table} NOT INDEXED ORDER BY rowid {order}"):  # noqa: S608 - fixed names
                if all(_is_json(value) for column, value in zip(columns, row, strict=True) if column in _JSON_COLUMNS):
                    yield row
        except _READ_ERRORS:
            continue
        return


def _is_json(value: object) -> bool:
    try:
        json.loads(value) if isinstance(value, str) else None
    except ValueError:
        return False
    return True
