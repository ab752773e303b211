"""Transcripts as files: where each is, and how far it was read."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld.files import FileFacts

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A transcript and how far it was read. `cursor` and `parser` are JSON objects, None where it never was."""

    id: int
    agent: str
    path: str
    cursor: dict[str, Any] | None
    parser: dict[str, Any] | None
    baseline: int
    since: str | None
    size: int
    mtime: float


class Files:
    """The table of files."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add_file(self, agent: str, path: str, facts: FileFacts | os.stat_result, *, baseline: int) -> StoredFile:
        """Start to follow a file; bytes before `baseline` were there before skilld."""
        self._db.execute(
            """INSERT OR IGNORE INTO files (agent, path, dev, ino, baseline, size, mtime)
               VALUES (?, ?, ?, ?, ?, ?, ?)""",
            (agent, path, facts.st_dev, facts.st_ino, baseline, facts.st_size, facts.st_mtime),
        )
        found = self.file(path)
        if found is None:
            raise sqlite3.IntegrityError(path)
        return found

    def file(self, path: str) -> StoredFile | None:
        """Return the file known under `path`."""
        row = self._db.execute("SELECT * FROM files WHERE path = ?", (path,)).fetchone()
        return None if row is None else _file(row)

    def same_file(self, facts: FileFacts | os.stat_result) -> list[StoredFile]:
        """Return the files known with this device and inode: perhaps this one under an older name."""
        rows = self._db.execute("SELECT * FROM files WHERE dev = ? AND ino = ?", (facts.st_dev, facts.st_ino))
        return [_file(row) for row in rows]

    def files(self, agent: str | None = None) -> list[StoredFile]:
        """Return all files (of one agent)."""
        return [file for file in self.each() if agent in {None, file.agent}]

    def each(self) -> Iterator[StoredFile]:
        """Yield all files, one by one: of many thousands the list alone would take 20 MB."""
        return map(_file, self._db.execute("SELECT * FROM files ORDER BY id"))

    def positions(self) -> Iterator[tuple[str, int, int, float]]:
        """Yield of each file path, how far it was read, size and time of the newest growth; one by one, for memory."""
        yield from self._db.execute(
            "SELECT path, coalesce(json_extract(cursor, '$.offset'), baseline), size, mtime FROM files"
        )

    def with_ids(self, ids: Iterable[int]) -> list[StoredFile]:
        """Return the files with these ids."""
        rows = (self._db.execute("SELECT * FROM files WHERE id = ?", (number,)).fetchone() for number in ids)
        return [_file(row) for row in rows if row is not None]

    def unread_before(self, agent: str, folder: Path) -> list[StoredFile]:
        """Return the files that were there before skilld and were never read: those in `folder` first, newest first."""
        rows = self._db.execute(
            "SELECT * FROM files WHERE agent = ? AND cursor IS NULL AND baseline > 0 ORDER BY mtime DESC", (agent,)
        )
        return sorted(map(_file, rows), key=lambda file: Path(file.path).parent != folder)

    def save_reading(
        self,
        file_id: int,
        *,
        cursor: DataclassInstance,
        parser: Mapping[str, Any],
        size: int,
        mtime: float,
        turns: int = 0,
        malformed: int = 0,
        overlong: int = 0,
    ) -> None:
        """Record how far a file was read, and what was new in it; `cursor` is a dataclass.

        Call it with the turns in one transaction.
        """
        self._db.execute(
            """UPDATE files SET cursor = ?, parser = ?, size = ?, mtime = ?, turns = turns + ?,
               malformed = malformed + ?, overlong = overlong + ? WHERE id = ?""",
            (json.dumps(_fields(cursor)), json.dumps(parser), size, mtime, turns, malformed, overlong, file_id),
        )

    def reread(self, file_id: int, *, since: str) -> None:
        """Have a file read again from its start, counting what was said at `since` or later (backfill)."""
        self._db.execute(
            "UPDATE files SET cursor = NULL, parser = NULL, baseline = 0, since = ?, size = -1 WHERE id = ?",
            (since, file_id),
        )

    def to_read_again(self) -> int:
        """Return how many files are still to be read from their start."""
        (number,) = self._db.execute("SELECT count(*) FROM files WHERE size < 0").fetchone()
        return int(number)

    def drop_baseline(self, file_id: int, *, since: str | None) -> None:
        """Record that a file is not what it was when skilld came: what is said in it at `since` or later counts."""
        self._db.execute("UPDATE files SET baseline = 0, since = ? WHERE id = ?", (since, file_id))

    def rename(self, file_id: int, path: str) -> None:
        """Record that a file has moved."""
        self._db.execute("UPDATE files SET path = ? WHERE id = ?", (path, file_id))


def _fields(record: DataclassInstance) -> dict[str, Any]:
    """Return a flat dataclass as a dict; dataclasses.asdict copies each value, which takes 30 us."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def _file(row: sqlite3.Row) -> StoredFile:
    return StoredFile(
        id=row["id"],
        agent=row["agent"],
        path=row["path"],
        cursor=json.loads(row["cursor"]) if row["cursor"] else None,
        parser=json.loads(row["parser"]) if row["parser"] else None,
        baseline=row["baseline"],
        since=row["since"],
        size=row["size"],
        mtime=row["mtime"],
    )
