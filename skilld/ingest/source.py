"""The kinds of transcripts behind the same methods: files of lines, databases, and records that an adapter gathers.

Takes an adapter's AgentInfo and a path; gives positions, records as `RawLine`, and cursors for the store. The daemon
follows transcripts with it, `inspect` and the worker read whole ones; none of them knows the kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from skilld.agents.base import AgentInfo
from skilld.agents.chunk import Chunk
from skilld.files import FileFacts
from skilld.ingest import tail
from skilld.ingest.rows import RowCursor, RowRead, RowSource
from skilld.ingest.session_records import GatheredCursor, GatheredRead, GatheredSource
from skilld.types import RawLine, Span
from skilld.values import value_class

Cursor = tail.Cursor | RowCursor | GatheredCursor
TranscriptRead = tail.FileRead | RowRead | GatheredRead
"""One read of a transcript: iterate over `parts` once, then use the rest (`tail.FileRead` says what it is)."""


@value_class
class LineSource(tail.FileSource):
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
        fd = os.open(self.transcript(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # also behind a link
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


Source = LineSource | RowSource | GatheredSource
"""How one kind of transcript is read: the same methods, which raise OSError if the disk does.

`transcript` returns the file of a session that a changed one belongs to, `facts` what changes when something is new in
it, `end` and `cursor` where reading starts, `read_new` what is new after a cursor. `read_all` reads a whole transcript,
`read_session` and `read_range` those records of one session up to or between positions. `session` tells a record's
session if the source knows it, `rereads` whether records change in place.
"""


def source_of(info: AgentInfo, path: Path) -> Source:
    """Return how a transcript of an agent is read."""
    if info.gather and info.is_gathered(path.name):
        return GatheredSource(info.owner, gather=info.gather)
    return RowSource(info.queries) if info.queries else LineSource(info.owner)
