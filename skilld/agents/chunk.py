"""Many complete lines of a file in one buffer, which can be searched without splitting it.

Most bytes of a transcript are irrelevant; searching the whole buffer for a few words, without creating objects, makes
reading fast. Knows nothing of agents or records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from skilld.types import RawLine

# The fastest search for bytes: stringzilla's in large buffers, otherwise Python's. Both give the same results
# (tests/unit/test_prefilter.py). The library is loaded at the first large buffer: it takes 1.2 MB, which a daemon that
# only follows a few lines does not need.

_LARGE_BYTES = 1 << 16  # only a reader that is catching up reads this much at once

Find = Callable[[bytearray, bytes, int, int], int]


def finder(size: int) -> Find:
    """Return the search function for a buffer of `size` bytes: (buffer, needle, start, stop) -> first index, or -1."""
    return _fast_find or (_load_finder() if size >= _LARGE_BYTES else bytearray.find)


def _load_finder() -> Find:
    global _fast_find  # noqa: PLW0603 - the program loads a library once
    try:
        import stringzilla
    except ImportError:  # not built for this platform
        _fast_find = bytearray.find
    else:
        _fast_find = stringzilla.find
    return _fast_find


_fast_find: Find | None = None


@dataclass(slots=True)
class Chunk:
    """Complete lines: the first `size` bytes of `data`, which are at `offset` in the file and end with a newline.

    `data` is reused for the next chunk: keep no view of it. `passed_over` counts the lines that were not parsed. `find`
    returns the first index of a needle in a part of `data`, or -1.
    """

    data: bytearray
    size: int
    offset: int
    passed_over: int = 0
    find: Callable[[bytes, int, int], int] = field(init=False)

    def __post_init__(self) -> None:
        """Choose the search function."""
        self.find = partial(finder(self.size), self.data)

    def lines(self) -> Iterator[tuple[int, int]]:
        """Yield start and end (before the newline) of each line, as indices of `data`."""
        find, start, size = self.data.find, 0, self.size
        while start < size:
            stop = find(b"\n", start, size)
            yield start, stop
            start = stop + 1

    def line(self, start: int) -> RawLine:
        """Return the line that starts at an index of `data`."""
        return self.raw(start, self.data.index(b"\n", start))

    def raw(self, start: int, stop: int) -> RawLine:
        """Return one of the lines as an object."""
        return RawLine(self.offset + start, self.offset + stop + 1, bytes(self.data[start:stop]))

    def lines_with(self, needle: bytes) -> Iterator[RawLine]:
        """Yield the lines that contain a needle, which must not be empty, as objects."""
        stop = -1
        while (at := self.find(needle, stop + 1, self.size)) >= 0:
            start, stop = self.data.rfind(b"\n", 0, at) + 1, self.data.index(b"\n", at)
            yield self.raw(start, stop)

    def raw_lines(self) -> Iterator[RawLine]:
        """Yield all lines as objects."""
        return (self.raw(start, stop) for start, stop in self.lines())
