"""Complete lines of a growing file: path and cursor in, lines and the next cursor out.

A path is not an identity: a cursor knows its file by device, inode and the hash of its first bytes and of the last ones
read. Where one of these changed, or the file shrank, it is another file and reading starts over; turn keys make the
repeats harmless. Knows nothing of agents, of the store, or of what the lines say.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skilld.types import RawLine, Span

# Five times as fast as 1 MiB, which the allocator maps anew for every chunk (4,200 against 800 MB/s measured).
CHUNK = 1 << 18
# Longer lines are stepped over as a stream and counted. The longest line of 411 real sessions had 2.1 MB.
MAX_LINE = 8 << 20
_HEAD = _LAST = 1024


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a file was read: all complete lines before `offset`.

    `head` hashes its first `head_len` bytes and the last ones before `read_end`, which are others where a file was cut
    and has grown again.
    """

    dev: int
    ino: int
    head: str
    head_len: int
    offset: int
    read_end: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """What one look at a file gave.

    `overlong` are lines over MAX_LINE, stepped over. `restarted` says that the cursor belonged to another file.
    `more` says that complete lines may be left behind the budget.
    """

    lines: tuple[RawLine, ...]
    overlong: tuple[Span, ...]
    cursor: Cursor
    restarted: bool
    more: bool
    size: int
    mtime: float


class UnreadableError(OSError):
    """The file is there, but not one we may read (another owner, no regular file)."""


def read(path: Path, cursor: Cursor | None, *, budget: int = 4 << 20) -> Reading:
    """Return the complete lines behind `cursor` (None: from the start), at most about `budget` bytes of them.

    Raises OSError where the file is gone or cannot be read, UnreadableError where it must not be.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise UnreadableError(0, "not a regular file", str(path))
        if facts.st_uid != os.geteuid():
            raise UnreadableError(0, "belongs to another user", str(path))
        same = cursor is not None and _is_same(fd, facts, cursor)
        offset = cursor.offset if cursor is not None and same else 0
        lines: list[RawLine] = []
        overlong: list[Span] = []
        end = offset
        more = False
        for item in read_lines(fd, offset):
            if isinstance(item, RawLine):
                lines.append(item)
            else:
                overlong.append(item)
            end = item.end
            if end - offset >= budget:
                more = end < facts.st_size
                break
        head_len = min(_HEAD, end)
        position = Cursor(facts.st_dev, facts.st_ino, _hash(fd, head_len, end), head_len, end, end)
        restarted = cursor is not None and not same
        return Reading(tuple(lines), tuple(overlong), position, restarted, more, facts.st_size, facts.st_mtime)
    finally:
        os.close(fd)


def _is_same(fd: int, facts: os.stat_result, cursor: Cursor) -> bool:
    if (facts.st_dev, facts.st_ino) != (cursor.dev, cursor.ino) or facts.st_size < cursor.offset:
        return False
    return _hash(fd, cursor.head_len, cursor.read_end) == cursor.head


def _hash(fd: int, head_len: int, end: int) -> str:
    start = max(0, end - _LAST)
    return hashlib.sha256(os.pread(fd, head_len, 0) + os.pread(fd, end - start, start)).hexdigest()


def read_lines(fd: int, offset: int = 0, *, end: int | None = None) -> Iterator[RawLine | Span]:
    """Yield the complete lines of an open file from `offset` (to `end`, if given): RawLine, or Span where over-long.

    A last line without its newline is not complete and not yielded.
    """
    start = offset  # of the line being gathered
    pending = bytearray()
    skipping = False
    position = offset
    while end is None or position < end:
        chunk = os.pread(fd, CHUNK if end is None else min(CHUNK, end - position), position)
        if not chunk:
            return
        position += len(chunk)
        begin = 0
        while (newline := chunk.find(b"\n", begin)) >= 0:
            length = newline - begin
            line_end = start + len(pending) + length + 1 if not skipping else position - len(chunk) + newline + 1
            if skipping or len(pending) + length > MAX_LINE:
                yield Span(start, line_end)
            elif pending:
                pending += chunk[begin:newline]
                yield RawLine(start, line_end, bytes(pending))
            else:
                yield RawLine(start, line_end, chunk[begin:newline])
            pending.clear()
            skipping = False
            start = line_end
            begin = newline + 1
        if not skipping:
            pending += chunk[begin:]
            if len(pending) > MAX_LINE:
                pending.clear()
                skipping = True
