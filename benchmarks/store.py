"""The store: how long recording a turn takes, and how many bytes it leaves.

As the daemon does it, session, turn and the file's new position are one transaction: once with one turn each, as when
somebody types, and once with a hundred, as when catching up. Yardstick: the bare row in a table without any index, by
the same SQLite, with the same durability and in transactions of the same size.
"""

from __future__ import annotations

import sqlite3
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.desk import AGENT
from benchmarks.kit.figures import Figure, Scale
from benchmarks.kit.timing import seconds, side_by_side
from skilld.ingest.tail import Cursor
from skilld.store import Store
from skilld.types import How, Span, Turn

_AT = "2026-01-05T10:00:00.000Z"
_TURN = 20_000  # bytes of a transcript from one turn to the next
_SESSION = 20  # turns


def measure(scale: Scale) -> dict[str, Figure]:
    """Return microseconds and bytes per turn."""
    rounds, turns = scale.pick((20, 500), (7, 100))
    with children.scratch() as folder:
        ours, bare = _Ours(folder), _Bare(folder)
        typed, typed_bare = side_by_side(rounds, lambda: ours.record(turns, 1), lambda: bare.record(turns, 1))
        read, read_bare = side_by_side(rounds, lambda: ours.record(turns, 100), lambda: bare.record(turns, 100))
        size, bare_size = ours.size() / ours.turns, bare.size() / bare.turns
    row = "the bare row, without an index"
    return {
        "one_by_one": Figure(1e6 * typed, "us per turn", row, 1e6 * typed_bare, "one turn in a transaction"),
        "by_hundreds": Figure(1e6 * read, "us per turn", row, 1e6 * read_bare, "100 turns in a transaction"),
        "size": Figure(size, "bytes per turn", row, bare_size, f"{ours.turns} turns in sessions of {_SESSION}"),
    }


@dataclass(frozen=True, slots=True)
class _Place:
    session: str
    number: int


def _places(start: int, count: int) -> Iterator[_Place]:
    for number in range(start, start + count):
        yield _Place(str(uuid.UUID(int=number // _SESSION)), number % _SESSION)


class _Recording(ABC):
    turns = 0

    def record(self, count: int, each: int) -> float:
        """Record `count` turns, `each` in a transaction; returns the seconds of one."""
        groups = [list(_places(self.turns + start, each)) for start in range(0, count, each)]
        self.turns += count
        return seconds(lambda: self._record(groups)) / count

    def _record(self, groups: list[list[_Place]]) -> None:
        for group in groups:
            self._group(group)

    @abstractmethod
    def _group(self, group: list[_Place]) -> None:
        """Record some in one transaction."""


class _Ours(_Recording):
    def __init__(self, folder: Path) -> None:
        self._store = Store.open(folder / "ours.db")
        self._path = folder

    def _group(self, group: list[_Place]) -> None:
        rows = self._store.transcripts
        with self._store.transaction():
            for place in group:
                path = str(self._path / f"{place.session}.jsonl")
                file = rows.file(path) or rows.add_file(AGENT, path, self._path.stat(), baseline=0)
                rows.record_activity(AGENT, place.session, cwd="/home/pat/project", activity=1.0)
                start = place.number * _TURN
                span = Span(start, start + 600)
                turn = Turn(f"{AGENT}:{uuid.uuid4()}", AGENT, place.session, "", _AT, How.TYPED, span)
                rows.add_turn(turn, file.id, counts=True, lasting=False)
            cursor = Cursor(1, file.id, "0" * 64, 1024, span.end)
            rows.save_reading(
                file.id, cursor=cursor, parser={"calls": {}}, size=span.end, mtime=1.0, malformed=0, overlong=0
            )

    def size(self) -> int:
        return _size(self._store.path)


class _Bare(_Recording):
    def __init__(self, folder: Path) -> None:
        self._file = folder / "bare.db"
        self._db = sqlite3.connect(self._file, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(
            "CREATE TABLE turns (key TEXT, agent TEXT, session TEXT, seq INTEGER, start INTEGER, stop INTEGER, at TEXT)"
        )

    def _group(self, group: list[_Place]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        for place in group:
            start = place.number * _TURN
            row = (f"{AGENT}:{uuid.uuid4()}", AGENT, place.session, place.number, start, start + 600, _AT)
            self._db.execute("INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self._db.execute("COMMIT")

    def size(self) -> int:
        return _size(self._file)


def _size(path: Path) -> int:
    """Return the bytes of a database whose log has been taken in."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return path.stat().st_size
