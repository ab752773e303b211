"""The kinds of transcripts behind the same methods: files of lines, databases, and records that an adapter gathers.

Takes an adapter's AgentInfo and a path; gives positions, records as `RawLine`, and cursors for the store. The daemon
follows transcripts with it, `inspect` and the worker read whole ones; none of them knows the kind.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from pathlib import Path, PurePath
from typing import Any, ClassVar

from skilld.agents.base import AgentInfo, Gather, Query
from skilld.agents.chunk import Chunk
from skilld.files import FileFacts
from skilld.ingest import rows, session_records, tail
from skilld.ingest.rows import RowCursor
from skilld.ingest.session_records import GatheredCursor
from skilld.types import RawLine, Span
from skilld.values import value_class

Cursor = tail.Cursor | RowCursor | GatheredCursor
TranscriptRead = tail.FileRead | rows.RowRead | session_records.GatheredRead
"""One read of a transcript: iterate over `parts` once, then use the rest (`tail.FileRead` says what it is)."""
_WAL_SUFFIX = "-wal"


@value_class
class _FileSource:
    """Files whose records do not change; `owner` returns the transcript that another file belongs to."""

    owner: Callable[[PurePath], PurePath] | None = None
    rereads: ClassVar = False  # whether records change in place

    def transcript(self, changed: Path) -> Path:
        """Return the file that stands for the session."""
        return Path(self.owner(changed)) if self.owner else changed

    def facts(self, place: Path | os.DirEntry[str]) -> FileFacts:
        """Return the file's identity, size and time, which stay the same as long as nothing is new."""
        found = place.stat(follow_symlinks=False)
        return FileFacts(found.st_dev, found.st_ino, found.st_size, found.st_mtime)

    def session(self, record: RawLine) -> None:
        """Return None: only the adapter knows."""


@value_class
class LineSource(_FileSource):
    """A file to which lines are appended."""

    def end(self, path: Path, facts: FileFacts) -> int:
        """Return the size in bytes."""
        del path
        return facts.st_size

    def cursor(self, stored: Mapping[str, Any] | None, baseline: int) -> tail.Cursor | None:
        """Return the stored cursor; without one, reading starts at the top, where many formats describe the session."""
        del baseline
        return tail.Cursor(**stored) if stored else None

    def read_new(self, path: Path, cursor: Cursor | None) -> AbstractContextManager[TranscriptRead]:
        """Open the file for the new complete lines."""
        return tail.read_new(path, cursor if isinstance(cursor, tail.Cursor) else None)

    def read_all(self, path: Path, *, end: int | None = None) -> Iterator[RawLine | Span]:
        """Yield all complete lines up to byte `end`, a Span for each overlong one."""
        fd = os.open(self.transcript(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            yield from tail.read_lines(fd, end=end)
        finally:
            os.close(fd)

    def read_session(self, path: Path, session: str, start: int, end: int) -> Iterator[Chunk | RawLine | Span]:
        """Yield all complete lines up to byte `end`, those before `start` in chunks; only from a file of our own."""
        del session
        with tail.open_file(path) as fd:
            reached = 0
            for part in tail.read_parts(fd, end=start):
                reached = part.offset + part.size if isinstance(part, Chunk) else part.end
                yield part
            yield from tail.read_lines(fd, reached, end=end)

    def read_range(self, path: Path, session: str, start: int, end: int) -> Iterator[Chunk | RawLine | Span]:
        """Yield the complete lines from `start`, where one begins."""
        del session
        with tail.open_file(path) as fd:
            yield from tail.read_parts(fd, start, end=end)


@value_class
class RowSource:
    """A SQLite database."""

    queries: tuple[Query, ...]
    rereads: ClassVar = True

    def transcript(self, changed: Path) -> Path:
        """Return the database, also for its write-ahead log, which changes first."""
        return changed.with_name(changed.name.removesuffix(_WAL_SUFFIX))

    def facts(self, place: Path | os.DirEntry[str]) -> FileFacts:
        """Return the facts of the database and its write-ahead log together."""
        return rows.facts(Path(place))

    def end(self, path: Path, facts: FileFacts) -> int:
        """Return the position after the newest record; if it cannot be read now, one from the file's time."""
        try:
            return rows.newest_position(path, self.queries)
        except OSError:
            return int(facts.st_mtime * 1000) + 1

    def cursor(self, stored: Mapping[str, Any] | None, baseline: int) -> RowCursor | None:
        """Return the stored cursor, or one that starts some days before the baseline."""
        if stored:
            return RowCursor(**stored)
        return RowCursor(0, 0, max(0, baseline - rows.LOOK_BACK_MS)) if baseline else None

    def read_new(self, path: Path, cursor: Cursor | None) -> AbstractContextManager[TranscriptRead]:
        """Read the new records; the database is closed before they are parsed."""
        return nullcontext(rows.read_new(path, cursor if isinstance(cursor, RowCursor) else None, self.queries))

    def session(self, record: RawLine) -> str | None:
        """Return the value of a column `session` in the record."""
        fields = json.loads(record.data)
        found = (row["session"] for rows_ in fields.values() for row in rows_ if "session" in row)
        return next((name for name in found if isinstance(name, str)), None)

    def read_all(self, path: Path, *, end: int | None = None) -> Iterator[RawLine | Span]:
        """Yield all records."""
        del end
        return rows.read_all(path, self.queries)

    def read_session(self, path: Path, session: str, start: int, end: int) -> Iterator[RawLine | Span]:
        """Yield all records of a session; only from a database of our own."""
        del start, end
        return rows.read_all(path, self.queries, session)

    read_range = read_session


@value_class
class GatheredSource(_FileSource):
    """Sessions whose records an adapter gathers."""

    gather: Gather = field(kw_only=True)

    def end(self, path: Path, facts: FileFacts) -> int:
        """Return the number of records; 0 if they cannot be read now."""
        del facts
        try:
            return sum(1 for _ in session_records.read_all(path, self.gather, anyone=False))
        except OSError:
            return 0

    def cursor(self, stored: Mapping[str, Any] | None, baseline: int) -> GatheredCursor | None:
        """Return the stored cursor."""
        del baseline
        return GatheredCursor(**stored) if stored else None

    def read_new(self, path: Path, cursor: Cursor | None) -> AbstractContextManager[TranscriptRead]:
        """Gather the new records."""
        known = cursor if isinstance(cursor, GatheredCursor) else None
        return nullcontext(session_records.read_new(path, known, self.gather))

    def read_all(self, path: Path, *, end: int | None = None) -> Iterator[RawLine | Span]:
        """Yield all records; `path` may be another file of the session."""
        del end
        return session_records.read_all(self.transcript(path), self.gather)

    def read_session(self, path: Path, session: str, start: int, end: int) -> Iterator[RawLine | Span]:
        """Yield the records up to number `end`; only from files of our own."""
        del session, start
        found = session_records.read_all(path, self.gather, anyone=False)
        return (item for item in found if item.start < end)

    def read_range(self, path: Path, session: str, start: int, end: int) -> Iterator[RawLine | Span]:
        """Yield the records of `read_session` from number `start`."""
        return (item for item in self.read_session(path, session, start, end) if item.start >= start)


Source = LineSource | RowSource | GatheredSource
"""How one kind of transcript is read. Methods that access the disk raise OSError."""


def source_of(info: AgentInfo) -> Source:
    """Return how the transcripts of an agent are read."""
    if info.gather:
        return GatheredSource(info.owner, gather=info.gather)
    return RowSource(info.queries) if info.queries else LineSource(info.owner)
