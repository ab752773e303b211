"""Transcripts that are not a file of lines: the adapter gathers one session's records (`Gather`).

A document may be rewritten at every message, or a session have a file for each event; so all records are gathered each
time, and those read before are only hashed. A record's position is its number. The last record may still grow, so it
is returned again each time. Knows nothing of agents or of what records say.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilld.agents.base import Gather, TruncatedFileError
from skilld.files import FileFacts, read_regular
from skilld.ingest.tail import MAX_LINE, FileSource, UnreadableError, open_file
from skilld.types import RawLine, Span
from skilld.values import value_class

_MAX_FILE_BYTES = 32 << 20  # of one file that is read whole
_MAX_SESSION_BYTES = 256 << 20  # of all records of one session
_PIECE_BYTES = 1 << 18
_MAX_NAMES = 50_000
_EMPTY_DIGEST = hashlib.sha256(b"").hexdigest()
_OTHER_KIND = {"dev": 0, "ino": 0, "offset": 0, "digest": ""}


@value_class
class GatheredCursor:
    """How far a session was read: all records before number `offset`, whose hash is `digest`."""

    dev: int
    ino: int
    offset: int
    digest: str


@value_class
class SessionFolder:
    """The files around one transcript, for an adapter's `Gather`: regular ones of our own, no links.

    `anyone` allows files of other users, for `inspect`.
    """

    place: Path
    anyone: bool = False

    def read(self, name: str) -> bytes | None:
        """Return the contents of a file; None if it cannot be read, is not ours, or is too large."""
        try:
            data, facts = read_regular(self._path_of(name), _MAX_FILE_BYTES, links=False)
        except (OSError, ValueError):
            return None
        return data if self.anyone or facts.st_uid == os.geteuid() else None

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the contents of a file. Raises OSError if it cannot be read."""
        with open_file(self._path_of(name), anyone=self.anyone) as fd:
            while piece := os.read(fd, _PIECE_BYTES):
                yield piece

    def names(self, folder: str) -> Sequence[str]:
        """Return the sorted names in a folder; none if there is no folder."""
        try:
            with os.scandir(self._path_of(folder)) as entries:
                return sorted(entry.name for entry, _ in zip(entries, range(_MAX_NAMES), strict=False))
        except (OSError, ValueError):
            return ()

    def _path_of(self, name: str) -> Path:
        if os.path.isabs(name) or ".." in Path(name).parts or "\0" in name:  # noqa: PTH117 - a name read from a file
            raise UnreadableError(0, "a path in it leads outside its folder", str(self.place))
        return self.place / name


@dataclass
class GatheredRead:
    """The new records of one session, like `tail.FileRead` for a file."""

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
    _kept: tuple[int, str] = (0, _EMPTY_DIGEST)

    def parts(self, budget: int = 16 << 20) -> Iterator[RawLine]:
        """Yield the new records, at most about `budget` bytes of them."""
        self._kept = self._number, self._digest
        given = 0
        try:
            for record in self._records:
                self._kept = self._number, self._digest
                self._digest = chain_digest(self._digest, record)
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
        except TruncatedFileError:
            return

    @property
    def cursor(self) -> GatheredCursor:
        """Where to read on: at the last record, which may still grow."""
        return GatheredCursor(*self.identity, *self._kept)


def chain_digest(digest: str, record: bytes) -> str:
    """Return the hash of all records, given that of the earlier ones."""
    return hashlib.sha256(digest.encode() + record).hexdigest()


@value_class
class GatheredSource(FileSource):
    """How such a session is read; `ingest.source` says what the methods are for."""

    gather: Gather = field(kw_only=True)

    def records(self, path: Path, *, anyone: bool = False) -> Iterator[bytes]:
        """Yield the records of one session. Raises OSError, and TruncatedFileError as the adapter does."""
        total = 0
        for record in self.gather(path, SessionFolder(path.parent, anyone)):
            total += len(record)
            if total > _MAX_SESSION_BYTES:
                raise UnreadableError(0, f"its session is larger than {_MAX_SESSION_BYTES >> 20} MiB", str(path))
            yield record

    def end(self, path: Path, facts: FileFacts) -> int:
        """Return the number of records; 0 if they cannot be read now."""
        del facts
        try:
            return sum(1 for _ in self._numbered(path))
        except OSError:
            return 0

    def cursor(self, stored: Mapping[str, Any] | None, baseline: int) -> GatheredCursor | None:
        """Return the stored cursor; one of a file that was read by lines makes reading start over."""
        del baseline
        return GatheredCursor(**(stored if "digest" in stored else _OTHER_KIND)) if stored else None

    @contextmanager
    def read_new(self, path: Path, cursor: object) -> Iterator[GatheredRead]:
        """Gather the records after `cursor`; all of them if those before it are not the same any more."""
        with open_file(path) as fd:
            facts = os.fstat(fd)
        known = cursor if isinstance(cursor, GatheredCursor) else None
        found = self.records(path)
        digest, number = _EMPTY_DIGEST, 0
        same = True
        try:
            while known is not None and number < known.offset:
                record = next(found, None)
                if record is None:
                    same = False
                    break
                digest, number = chain_digest(digest, record), number + 1
        except TruncatedFileError:  # shorter than before, because it is being rewritten: nothing is new
            digest, number = (known.digest, known.offset) if known is not None else (digest, number)
            found = iter(())
        if known is not None and digest != known.digest:
            same = False
        if not same:
            found, digest, number = self.records(path), _EMPTY_DIGEST, 0
        identity = facts.st_dev, facts.st_ino
        yield GatheredRead(facts.st_size, facts.st_mtime, not same, identity, found, digest, number)

    def read_all(self, path: Path, *, end: int | None = None) -> Iterator[RawLine | Span]:
        """Yield all records, a Span for each overlong one; `path` may be another file of the session."""
        del end
        return self._numbered(self.transcript(path), anyone=True)

    def read_session(self, path: Path, session: str, start: int, end: int) -> Iterator[RawLine | Span]:
        """Yield the records up to number `end`; only from files of our own."""
        del session, start
        return (item for item in self._numbered(path) if item.start < end)

    def read_range(self, path: Path, session: str, start: int, end: int) -> Iterator[RawLine | Span]:
        """Yield the records of `read_session` from number `start`."""
        return (item for item in self.read_session(path, session, start, end) if item.start >= start)

    def _numbered(self, path: Path, *, anyone: bool = False) -> Iterator[RawLine | Span]:
        try:
            for number, record in enumerate(self.records(path, anyone=anyone)):
                span = Span(number, number + 1)
                yield RawLine(number, number + 1, record) if len(record) <= MAX_LINE else span
        except TruncatedFileError:
            return
