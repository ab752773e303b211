"""The journal beside the database: what cannot be read again anywhere else, kept where the database cannot lose it.

One line is one transaction: a checksum, then JSON. The first line names the database, those after it hold every row of
the last compaction, and from there on each line is numbered. A line is on the disk before its transaction is committed,
so the database is behind the journal by one line at most, where a process was killed between the two; further behind,
it has lost something. Lines are written under the database's write lock only. docs/decisions/0033-journal.md says why.
"""

from __future__ import annotations

import errno
import json
import os
import time
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilld.files import write_whole
from skilld.store.connection import StoreError

Row = tuple[str, dict[str, Any]]  # a table, and its row as column -> value

_BLOCK = 1 << 16  # bytes
_ROWS = 200  # in one line of a compaction
_SUM = 9  # characters: a CRC-32 in hexadecimal and a blank


@dataclass(frozen=True, slots=True)
class Place:
    """How far a database or a journal has come: the database's identity and the number of its last transaction."""

    database: str
    number: int


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a journal: how far it has come, and the Unix time of its last line."""

    place: Place
    at: float


@dataclass(frozen=True, slots=True)
class Journal:
    """All of a journal. `whole` says that no line of it is missing or spoilt, but for a torn last one."""

    tail: Tail
    rows: tuple[Row, ...]
    last: tuple[Row, ...]
    whole: bool


def journal_of(database: Path) -> Path:
    """Return where the journal of a database is. Its name begins otherwise: `rm skilld.db*` spares it."""
    return database.with_suffix(".journal")


def tail(path: Path) -> Tail | None:
    """Return the end of a journal, by its first and its last lines; None where there is no journal that can be read."""
    try:
        with path.open("rb") as file:
            head = _parsed(file.readline())
            size = file.seek(0, os.SEEK_END)
            block = _BLOCK
            while True:
                file.seek(max(0, size - block))
                lines = file.read().split(b"\n")
                if len(lines) > 2 or block >= size:  # noqa: PLR2004 - one whole line and what follows it
                    break
                block *= 2
    except OSError:
        return None
    last = _parsed(lines[-2] + b"\n") if len(lines) > 1 else None
    if head is None or "id" not in head:
        return None
    if last is None or "n" not in last:  # spoilt: what comes before it has to do
        found = read(path)
        return None if found is None else found.tail
    return Tail(Place(head["id"], last["n"]), last["at"])


def read(path: Path) -> Journal | None:
    """Return what can be read of a journal; None where that is nothing.

    A line that repeats a number takes the place of the earlier one, and of what followed it: that was never committed.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError:
        return None
    parsed = [_parsed(line + b"\n") for line in lines]
    if not parsed or (head := parsed[0]) is None or "id" not in head:
        return None
    base: list[Row] = []
    entries: list[tuple[int, float, list[Row]]] = []
    for item in parsed[1:]:
        if item is None:
            continue
        rows = [(table, row) for table, row in item["rows"]]
        if "n" not in item:
            base += rows
            continue
        while entries and entries[-1][0] >= item["n"]:
            entries.pop()
        entries.append((item["n"], item["at"], rows))
    number, at, last = entries[-1] if entries else (head["n"], head["at"], [])
    numbers = [entry[0] for entry in entries]
    whole = None not in parsed and numbers == [*range(head["n"], head["n"] + len(numbers))] and bool(numbers)
    rows = [*base, *(row for entry in entries for row in entry[2])]
    return Journal(Tail(Place(head["id"], number), at), tuple(rows), tuple(last), whole)


def append(path: Path, place: Place, rows: Sequence[Row]) -> int:
    """Add one transaction, on the disk when this returns; returns how long the journal was before, for `take_back`.

    Raises StoreError where there is no room, or it cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            size = _without_torn_line(descriptor)
            _write(descriptor, _line({"n": place.number, "at": time.time(), "rows": rows}), size)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unwritable(path, error) from error
    return size


def take_back(path: Path, size: int) -> None:
    """Take back the last line, whose transaction could not be committed."""
    with suppress(OSError):  # else the next line repeats its number
        os.truncate(path, size)


def write(path: Path, place: Place, rows: Iterable[Row]) -> None:
    """Write a journal anew: every row there is. Raises StoreError."""
    every = list(rows)
    at = time.time()
    lines = [_line({"id": place.database, "n": place.number, "at": at})]
    lines += [_line({"rows": every[start : start + _ROWS]}) for start in range(0, len(every), _ROWS)]
    lines.append(_line({"n": place.number, "at": at, "rows": []}))
    try:
        write_whole(path, b"".join(lines), 0o600)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise _unwritable(path, error) from error


def _line(item: dict[str, Any]) -> bytes:
    text = json.dumps(item, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return what a line holds; None where it is torn or spoilt."""
    text = line[_SUM:-1]
    if not line.endswith(b"\n") or line[:_SUM] != b"%08x " % zlib.crc32(text):
        return None
    item: dict[str, Any] = json.loads(text)
    return item


def _without_torn_line(descriptor: int) -> int:
    """Cut off a last line without an end, which a killed process left; returns the length."""
    size = end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - _BLOCK)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)
    return end


def _write(descriptor: int, data: bytes, at: int) -> None:
    try:
        done = 0
        while done < len(data):
            done += os.pwrite(descriptor, data[done:], at + done)
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, at)
        raise


def _unwritable(path: Path, error: OSError) -> StoreError:
    remedy = "Free some space, then do this again: nothing is lost." if error.errno == errno.ENOSPC else ""
    cause = f"{path}: {error.strerror}"
    return StoreError("The database could not be used", cause, remedy or "See what stands in the way: skilld doctor")
