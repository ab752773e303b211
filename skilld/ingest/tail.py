"""Reads the complete lines of a growing file: path and cursor in, chunks of lines and the next cursor out.

A path is not an identity: a cursor identifies its file by device, inode and a hash of its first bytes and of the last
ones read. If one of these changed, or the file shrank, it is another file and reading starts over; turn keys make the
repeats harmless. Knows nothing of agents, of the store, or of what the lines say.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path, PurePath
from typing import ClassVar

from skilld.agents.chunk import Chunk
from skilld.files import FileFacts
from skilld.types import RawLine, Span
from skilld.values import value_class

CHUNK_BYTES = 1 << 18  # fits into the processor's cache, so that searching its lines is fast
# Longer lines are read without their images; those still too long are skipped and counted. The longest line in 411 real
# sessions had 2.1 MB.
MAX_LINE = 8 << 20
_HEAD_BYTES = _LAST_BYTES = 1024
_IMAGE_PATTERN = re.compile(rb"[A-Za-z0-9+/=]{4096,}+")  # base64: nobody's words


@value_class
class Cursor:
    """How far a file was read: all complete lines before `offset`.

    `head` hashes its first `head_len` bytes and the last ones before `read_end`; these differ if the file was truncated
    and grew again.
    """

    dev: int
    ino: int
    head: str
    head_len: int
    offset: int
    read_end: int = 0


class UnreadableError(OSError):
    """The file exists, but may not be read (another owner, not a regular file)."""


@dataclass
class FileRead:
    """One read of a file: iterate over `parts` once, then use `cursor`, which says where to read on.

    `size` is the size before reading; with `mtime` it is the file's state. `restarted` says that the given cursor
    belonged to another file. `overlong` are the lines over MAX_LINE, whether skipped or read without their images.
    `more` says that complete lines may remain after the budget was used up. `note` tells what could not be read.
    """

    _fd: int
    size: int
    mtime: float
    restarted: bool
    identity: tuple[int, int]
    _end: int
    overlong: list[Span] = field(default_factory=list)
    more: bool = False
    note: str = ""

    @property
    def length(self) -> int:
        """The end of positions: the size in bytes."""
        return self.size

    def parts(self, budget: int = 4 << 20) -> Iterator[Chunk | RawLine]:
        """Yield complete lines up to `size`, at most about `budget` bytes.

        What was appended since the file was opened is left for the next read: a worker rereads no further than `size`.
        A chunk becomes invalid when the next one is yielded.
        """
        start = self._end
        for part in read_parts(self._fd, start, end=self.size):
            if isinstance(part, Chunk):
                self._end = part.offset + part.size
                yield part
            else:
                self._end = part.end
                self.overlong.append(Span(part.start, part.end))
                if isinstance(part, RawLine):
                    yield part
            if self._end - start >= budget:
                self.more = self._end < self.size
                return

    @property
    def cursor(self) -> Cursor:
        """Where to read on."""
        head_len = min(_HEAD_BYTES, self._end)
        return Cursor(*self.identity, _hash(self._fd, head_len, self._end), head_len, self._end, self._end)


def check_own(path: Path, facts: os.stat_result) -> None:
    """Raise UnreadableError unless these are the facts of a regular file that belongs to us."""
    if not stat.S_ISREG(facts.st_mode):
        raise UnreadableError(0, "not a regular file", str(path))
    if facts.st_uid != os.geteuid():
        raise UnreadableError(0, "belongs to another user", str(path))


@contextmanager
def open_file(path: Path, *, anyone: bool = False) -> Iterator[int]:
    """Open a file that belongs to us, or to `anyone`, for reading.

    Raises OSError if it is gone or cannot be read, UnreadableError if it must not be read.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not anyone:
            check_own(path, os.fstat(fd))
        yield fd
    finally:
        os.close(fd)


@value_class
class FileSource:
    """Sessions in files whose records do not change; `owner` returns the transcript that another file belongs to."""

    owner: Callable[[PurePath], PurePath] | None = None
    rereads: ClassVar = False

    def transcript(self, changed: Path) -> Path:
        """Return the file that stands for the session."""
        return Path(self.owner(changed)) if self.owner else changed

    def facts(self, place: Path | os.DirEntry[str]) -> FileFacts:
        """Return the file's identity, size and time, which stay the same as long as nothing is new."""
        found = place.stat(follow_symlinks=False)
        return FileFacts(found.st_dev, found.st_ino, found.st_size, found.st_mtime)

    def session(self, record: RawLine) -> None:
        """Return None: only the adapter knows."""


@contextmanager
def read_new(path: Path, cursor: Cursor | None) -> Iterator[FileRead]:
    """Open a file to read what is new after `cursor` (None: from the start); raises as `open_file` does."""
    with open_file(path) as fd:
        facts = os.fstat(fd)
        same = cursor is not None and _is_same_file(fd, facts, cursor)
        start = cursor.offset if cursor is not None and same else 0
        restarted = cursor is not None and not same
        yield FileRead(fd, facts.st_size, facts.st_mtime, restarted, (facts.st_dev, facts.st_ino), start)


def _is_same_file(fd: int, facts: os.stat_result, cursor: Cursor) -> bool:
    if (facts.st_dev, facts.st_ino) != (cursor.dev, cursor.ino) or facts.st_size < cursor.offset:
        return False
    return _hash(fd, cursor.head_len, cursor.read_end) == cursor.head


def _hash(fd: int, head_len: int, end: int) -> str:
    start = max(0, end - _LAST_BYTES)
    return hashlib.sha256(os.pread(fd, head_len, 0) + os.pread(fd, end - start, start)).hexdigest()


def read_lines(fd: int, offset: int = 0, *, end: int | None = None) -> Iterator[RawLine | Span]:
    """Yield the complete lines of an open file from `offset` (to `end`, if given): RawLine, or Span if overlong.

    A last line without a newline is incomplete and not yielded.
    """
    for part in read_parts(fd, offset, end=end):
        if isinstance(part, Chunk):
            yield from part.raw_lines()
        else:
            yield part


def read_parts(fd: int, offset: int = 0, *, end: int | None = None) -> Iterator[Chunk | RawLine | Span]:
    """Yield the complete lines of an open file in chunks; an overlong one separately, as `read_lines` does."""
    stop = os.fstat(fd).st_size if end is None else end
    with FileIO(fd, closefd=False) as file:
        usual = min(CHUNK_BYTES, MAX_LINE + 1, max(1, stop - offset))
        data, position = bytearray(usual), offset
        while position < stop:
            got = _fill_buffer(file, data, position, stop)
            if size := data.rfind(b"\n", 0, got) + 1:
                yield Chunk(data, size, position)
                position += size
                if len(data) > usual:
                    data = bytearray(usual)
            elif got < len(data):
                return  # the last line is not complete
            elif len(data) <= MAX_LINE:
                data = bytearray(min(4 * len(data), MAX_LINE + 1, stop - position + 1))
            else:
                data = bytearray(usual)
                long = _read_overlong(file, data, position, stop)
                if long is None:
                    return
                yield long
                position = long.end


def _fill_buffer(file: FileIO, data: bytearray, position: int, stop: int) -> int:
    file.seek(position)
    with memoryview(data) as view, view[: stop - position] as part:
        return file.readinto(part)


def _read_overlong(file: FileIO, data: bytearray, start: int, stop: int) -> RawLine | Span | None:
    """Return a line of any length at `start` without its images, or its Span if still too long; None if incomplete."""
    kept: bytearray | None = bytearray()
    checked = 0
    position = start
    while got := _fill_buffer(file, data, position, stop):
        newline = data.find(b"\n", 0, got)
        position += got if newline < 0 else newline + 1
        if kept is not None:
            kept += data[: got if newline < 0 else newline]
            if len(kept) - checked > len(data) or newline >= 0:
                if _IMAGE_PATTERN.search(kept):  # without images it would be copied for nothing, up to 16 MB
                    kept[:] = _IMAGE_PATTERN.sub(b"", kept)
                checked = len(kept)
                kept = kept if checked <= MAX_LINE else None
        if newline >= 0:
            return Span(start, position) if kept is None else RawLine(start, position, bytes(kept))
    return None
