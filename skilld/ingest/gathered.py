"""Transcripts that are more than a file of lines: an adapter says how to gather one session's records (`Gather`).

A document is written again at every message, a session may have a file for each event; so all records are gathered at
each look, and those that were read before are only hashed. Their position is their number. The last record may still
grow where it stands: it is given again each time. Knows nothing of agents or of what records say.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skilld.agents.base import CutError, Gather
from skilld.files import read_plain
from skilld.ingest import tail
from skilld.ingest.tail import MAX_LINE, UnreadableError, opened
from skilld.types import RawLine, Span

_MAX_FILE = 32 << 20  # bytes of one file that is read whole
_MAX_ALL = 256 << 20  # bytes of all records of one session
_PIECE = 1 << 18
_MAX_NAMES = 50_000
_START = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class GatheredCursor:
    """How far a session was read: all records before number `offset`, which hash to `digest`."""

    dev: int
    ino: int
    offset: int
    digest: str


@dataclass(frozen=True, slots=True)
class Folder:
    """The files around one transcript, as an adapter's `Gather` is given them: regular ones of our own, no links.

    `anyone` also takes those of others: `inspect` may look at another's.
    """

    place: Path
    anyone: bool = False

    def read(self, name: str) -> bytes | None:
        """Return what a file holds, None if it is not to be had, is not ours, or is too large."""
        try:
            data, facts = read_plain(self._within(name), _MAX_FILE, links=False)
        except (OSError, ValueError):
            return None
        return data if self.anyone or facts.st_uid == os.geteuid() else None

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield what a file holds. Raises OSError if it cannot be read."""
        with opened(self._within(name), anyone=self.anyone) as fd:
            while piece := os.read(fd, _PIECE):
                yield piece

    def names(self, folder: str) -> Sequence[str]:
        """Return the names in a folder, sorted; none if there is no folder."""
        try:
            with os.scandir(self._within(folder)) as entries:
                return sorted(entry.name for entry, _ in zip(entries, range(_MAX_NAMES), strict=False))
        except (OSError, ValueError):
            return ()

    def _within(self, name: str) -> Path:
        if os.path.isabs(name) or ".." in Path(name).parts or "\0" in name:  # noqa: PTH117 - a name out of a file
            raise UnreadableError(0, "a path in it leads outside its folder", str(self.place))
        return self.place / name


@dataclass
class GatheredLook:
    """What one look gives, as `tail.Look` gives it of a file."""

    size: int
    mtime: float
    restarted: bool
    identity: tuple[int, int]
    _records: Iterator[bytes]
    _digest: str
    _number: int
    length: int = 1 << 62
    note: str = ""
    more: bool = False
    overlong: list[Span] = field(default_factory=list)
    _kept: tuple[int, str] = (0, _START)

    def parts(self, budget: int = 16 << 20) -> Iterator[RawLine]:
        """Yield the records that are new, at most about `budget` bytes of them."""
        self._kept = self._number, self._digest
        given = 0
        try:
            for record in self._records:
                self._kept = self._number, self._digest
                self._digest = chained(self._digest, record)
                line = RawLine(self._number, self._number + 1, record)
                self._number += 1
                given += len(record)
                if len(record) > MAX_LINE:
                    self.overlong.append(Span(line.start, line.end))
                else:
                    yield line
                if given >= budget:
                    self._kept = self._number, self._digest
                    self.more = True
                    return
        except CutError:
            return

    @property
    def cursor(self) -> GatheredCursor:
        """Where the next look goes on: at the last record, which may still grow."""
        return GatheredCursor(*self.identity, *self._kept)


def chained(digest: str, record: bytes) -> str:
    """Return the hash of all records so far."""
    return hashlib.sha256(digest.encode() + record).hexdigest()


def records(path: Path, gather: Gather, *, anyone: bool = False) -> Iterator[bytes]:
    """Yield the records of one session. Raises OSError, and CutError as the adapter does."""
    total = 0
    for record in gather(path, Folder(path.parent, anyone)):
        total += len(record)
        if total > _MAX_ALL:
            raise UnreadableError(0, f"its session is larger than {_MAX_ALL >> 20} MiB", str(path))
        yield record


def look(path: Path, cursor: GatheredCursor | None, gather: Gather) -> GatheredLook:
    """Look at what is new behind `cursor` (None: from the start). Raises OSError if it cannot be read."""
    with tail.opened(path) as fd:
        facts = os.fstat(fd)
    found = records(path, gather)
    digest, number = _START, 0
    same = True
    try:
        while cursor is not None and number < cursor.offset:
            record = next(found, None)
            if record is None:
                same = False
                break
            digest, number = chained(digest, record), number + 1
    except CutError:  # less than before, for a moment: nothing is new
        digest, number = (cursor.digest, cursor.offset) if cursor is not None else (digest, number)
        found = iter(())
    if cursor is not None and digest != cursor.digest:
        same = False
    if not same:
        found, digest, number = records(path, gather), _START, 0
    identity = facts.st_dev, facts.st_ino
    return GatheredLook(facts.st_size, facts.st_mtime, not same, identity, found, digest, number)


def whole(path: Path, gather: Gather, *, anyone: bool = True) -> Iterator[RawLine | Span]:
    """Yield all records, a Span for each that is too long."""
    try:
        for number, record in enumerate(records(path, gather, anyone=anyone)):
            span = Span(number, number + 1)
            yield RawLine(number, number + 1, record) if len(record) <= MAX_LINE else span
    except CutError:
        return
