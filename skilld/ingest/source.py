"""The kinds of transcripts, behind one protocol: files of lines, databases of rows, and what an adapter gathers.

In: an adapter's data record and a path. Out: positions, records as `RawLine`, cursors that the store keeps. The daemon
follows by it, `inspect` and the worker read whole transcripts by it; none of them knows which kind it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Protocol

from skilld.agents.base import AgentInfo, Gather, Query
from skilld.agents.chunk import Chunk
from skilld.files import FileFacts
from skilld.ingest import gathered, rows, tail
from skilld.ingest.gathered import GatheredCursor
from skilld.ingest.rows import RowCursor
from skilld.types import RawLine, Span

Cursor = tail.Cursor | RowCursor | GatheredCursor
_LOG = "-wal"


class TranscriptRead(Protocol):
    """What one look at a transcript gives: iterate over `parts` once, then ask for the rest."""

    @property
    def size(self) -> int:
        """With `mtime`, what it was when it was looked at."""

    @property
    def mtime(self) -> float:
        """See `size`."""

    @property
    def length(self) -> int:
        """Where positions end."""

    @property
    def restarted(self) -> bool:
        """Whether the given cursor belonged to another transcript."""

    @property
    def note(self) -> str:
        """What the person should know of what could not be read."""

    @property
    def more(self) -> bool:
        """Whether complete records may be left."""

    @property
    def overlong(self) -> Sequence[Span]:
        """Records too long to be read whole."""

    @property
    def cursor(self) -> Cursor:
        """Where the next look goes on."""

    def parts(self) -> Iterable[Chunk | RawLine]:
        """Return what is complete."""


class Source(Protocol):
    """How one kind of transcript is read. All that touch the disk raise OSError."""

    @property
    def rereads(self) -> bool:
        """Whether a record that waits for its outcome is read again: it changes where it stands."""

    def transcript(self, changed: Path) -> Path:
        """Return the transcript that a file which has changed belongs to."""

    def facts(self, place: Path | os.DirEntry[str]) -> FileFacts:
        """Return identity, size and time: what stays the same as long as nothing is new."""

    def end(self, path: Path, facts: FileFacts) -> int:
        """Return the position behind all that is there now."""

    def cursor(self, stored: Mapping[str, Any] | None, baseline: int) -> Cursor | None:
        """Return a stored cursor, or the one to begin with where what stood before `baseline` does not count."""

    def look(self, path: Path, cursor: Cursor | None) -> AbstractContextManager[TranscriptRead]:
        """Look at what is new behind `cursor`."""

    def session(self, record: RawLine) -> str | None:
        """Return the session that a record belongs to, where that can be told without an adapter."""

    def whole(self, path: Path, *, end: int | None = None) -> Iterator[RawLine | Span]:
        """Yield all records up to byte `end`, a Span for each that is too long."""

    def again(self, path: Path, session: str, start: int, end: int) -> Iterator[Chunk | RawLine | Span]:
        """Yield all records up to byte `end`, of one session where that can be told; those before `start` in chunks.

        Links and other users' files are refused, as by `look`.
        """

    def part(self, path: Path, session: str, start: int, end: int) -> Iterator[Chunk | RawLine | Span]:
        """Yield what `again` does of the records from byte `start` on, without reading those before it."""


@dataclass(frozen=True, slots=True)
class _Files:
    """Files whose records stay where they stand; `owner` names the transcript that another file belongs to."""

    owner: Callable[[PurePath], PurePath] | None = None

    @property
    def rereads(self) -> bool:
        """Whether records change where they stand: these do not."""
        return False

    def transcript(self, changed: Path) -> Path:
        """Return the file by whose name the transcript is known."""
        return Path(self.owner(changed)) if self.owner else changed

    def facts(self, place: Path | os.DirEntry[str]) -> FileFacts:
        """Return what stat says of that file."""
        found = place.stat(follow_symlinks=False)
        return FileFacts(found.st_dev, found.st_ino, found.st_size, found.st_mtime)

    def session(self, record: RawLine) -> None:
        """Return nothing: only their adapter knows."""


@dataclass(frozen=True, slots=True)
class Lines(_Files):
    """A file to which lines are appended."""

    def end(self, path: Path, facts: FileFacts) -> int:
        """Return the size in bytes."""
        del path
        return facts.st_size

    def cursor(self, stored: Mapping[str, Any] | None, baseline: int) -> tail.Cursor | None:
        """Return the stored cursor; reading begins at the start, where many formats say whose session it is."""
        del baseline
        return tail.Cursor(**stored) if stored else None

    def look(self, path: Path, cursor: Cursor | None) -> AbstractContextManager[TranscriptRead]:
        """Open the file for the new complete lines."""
        return tail.look(path, cursor if isinstance(cursor, tail.Cursor) else None)

    def whole(self, path: Path, *, end: int | None = None) -> Iterator[RawLine | Span]:
        """Yield all complete lines."""
        fd = os.open(self.transcript(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            yield from tail.read_lines(fd, end=end)
        finally:
            os.close(fd)

    def again(self, path: Path, session: str, start: int, end: int) -> Iterator[Chunk | RawLine | Span]:
        """Yield all complete lines."""
        del session
        with tail.opened(path) as fd:
            reached = 0
            for part in tail.read_parts(fd, end=start):
                reached = part.offset + part.size if isinstance(part, Chunk) else part.end
                yield part
            yield from tail.read_lines(fd, reached, end=end)

    def part(self, path: Path, session: str, start: int, end: int) -> Iterator[Chunk | RawLine | Span]:
        """Yield the complete lines from `start`, where one begins."""
        del session
        with tail.opened(path) as fd:
            yield from tail.read_parts(fd, start, end=end)


@dataclass(frozen=True, slots=True)
class Rows:
    """A SQLite database."""

    queries: tuple[Query, ...]

    @property
    def rereads(self) -> bool:
        """Whether records change where they stand: they do."""
        return True

    def transcript(self, changed: Path) -> Path:
        """Return the database: of a change its write-ahead log is the first to tell."""
        return changed.with_name(changed.name.removesuffix(_LOG))

    def facts(self, place: Path | os.DirEntry[str]) -> FileFacts:
        """Return size and time of the database and its write-ahead log together."""
        return rows.facts(Path(place))

    def end(self, path: Path, facts: FileFacts) -> int:
        """Return the position behind the newest record; by its time where it cannot be read now."""
        try:
            return rows.newest(path, self.queries)
        except OSError:
            return int(facts.st_mtime * 1000) + 1

    def cursor(self, stored: Mapping[str, Any] | None, baseline: int) -> RowCursor | None:
        """Return the stored cursor, or one that begins some days before the baseline."""
        if stored:
            return RowCursor(**stored)
        return RowCursor(0, 0, max(0, baseline - rows.LOOK_BACK)) if baseline else None

    def look(self, path: Path, cursor: Cursor | None) -> AbstractContextManager[TranscriptRead]:
        """Read the new records; the database is closed before anything is made of them."""
        return nullcontext(rows.read(path, cursor if isinstance(cursor, RowCursor) else None, self.queries))

    def session(self, record: RawLine) -> str | None:
        """Return what a column `session` of the record says."""
        fields = json.loads(record.data)
        found = (row["session"] for rows_ in fields.values() for row in rows_ if "session" in row)
        return next((name for name in found if isinstance(name, str)), None)

    def whole(self, path: Path, *, end: int | None = None) -> Iterator[RawLine | Span]:
        """Yield all records."""
        del end
        return rows.whole(path, self.queries)

    def again(self, path: Path, session: str, start: int, end: int) -> Iterator[RawLine | Span]:
        """Yield all records of a session; only ever of a database of one's own."""
        del start, end
        return rows.whole(path, self.queries, session)

    def part(self, path: Path, session: str, start: int, end: int) -> Iterator[RawLine | Span]:
        """Yield all records of a session, as `again` does."""
        return self.again(path, session, start, end)


@dataclass(frozen=True, slots=True)
class Sessions(_Files):
    """Sessions whose records an adapter gathers."""

    gather: Gather = field(kw_only=True)

    def end(self, path: Path, facts: FileFacts) -> int:
        """Return the number of records; none if they cannot be read now."""
        del facts
        try:
            return sum(1 for _ in gathered.whole(path, self.gather, anyone=False))
        except OSError:
            return 0

    def cursor(self, stored: Mapping[str, Any] | None, baseline: int) -> GatheredCursor | None:
        """Return the stored cursor."""
        del baseline
        return GatheredCursor(**stored) if stored else None

    def look(self, path: Path, cursor: Cursor | None) -> AbstractContextManager[TranscriptRead]:
        """Gather what is new."""
        known = cursor if isinstance(cursor, GatheredCursor) else None
        return nullcontext(gathered.look(path, known, self.gather))

    def whole(self, path: Path, *, end: int | None = None) -> Iterator[RawLine | Span]:
        """Yield all records, also where another file of the session is named."""
        del end
        return gathered.whole(self.transcript(path), self.gather)

    def again(self, path: Path, session: str, start: int, end: int) -> Iterator[RawLine | Span]:
        """Yield the records up to number `end`; only ever of files of one's own."""
        del session, start
        found = gathered.whole(path, self.gather, anyone=False)
        return (item for item in found if item.start < end)

    def part(self, path: Path, session: str, start: int, end: int) -> Iterator[RawLine | Span]:
        """Yield what `again` does from number `start` on."""
        return (item for item in self.again(path, session, start, end) if item.start >= start)


def source_of(info: AgentInfo) -> Source:
    """Return how the transcripts of an agent are read."""
    if info.gather:
        return Sessions(info.owner, gather=info.gather)
    return Rows(info.queries) if info.queries else Lines(info.owner)
