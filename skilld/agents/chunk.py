"""Many complete lines of a file in one buffer: where each line is, and whether it contains given bytes.

Most bytes of a transcript matter to nobody; looking for a few words in the whole buffer, without cutting it into
objects, is what makes reading quick. Knows nothing of agents or records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from skilld.types import RawLine

# The quickest search for some bytes in many: that of stringzilla where much is to be looked through, else Python's.
# Both answer alike (tests/unit/test_search.py). The library is loaded at the first large buffer: it takes 1.2 MB, which
# a daemon that only follows a few lines does without.

# Whoever reads that much at once is catching up.
_LARGE = 1 << 16

Find = Callable[[bytearray, bytes, int, int], int]


def finder(size: int) -> Find:
    """Return how to look through a buffer of `size` bytes: (buffer, needle, start, stop) -> the first index, or -1."""
    return _loaded or (_load() if size >= _LARGE else bytearray.find)


def _load() -> Find:
    global _loaded  # noqa: PLW0603 - the program loads a library once
    try:
        import stringzilla
    except ImportError:  # on a machine for which nobody built it
        _loaded = bytearray.find
    else:
        _loaded = stringzilla.find
    return _loaded


_loaded: Find | None = None


@dataclass(slots=True)
class Chunk:
    """Whole lines: the first `size` bytes of `data`, which stand at `offset` in the file and end with a newline.

    `data` is used again for the next chunk: keep no view of it. `passed_over` counts the lines that were not parsed.
    `find` returns the first index of a needle in a part of `data`, -1 where it is not.
    """

    data: bytearray
    size: int
    offset: int
    passed_over: int = 0
    find: Callable[[bytes, int, int], int] = field(init=False)

    def __post_init__(self) -> None:
        """Choose how it is searched."""
        self.find = partial(finder(self.size), self.data)

    def lines(self) -> Iterator[tuple[int, int]]:
        """Yield where each line starts and stops (before its newline), as indices of `data`."""
        find, start, size = self.data.find, 0, self.size
        while start < size:
            stop = find(b"\n", start, size)
            yield start, stop
            start = stop + 1

    def line(self, start: int) -> RawLine:
        """Return the line that begins at an index of `data`."""
        return self.raw(start, self.data.index(b"\n", start))

    def raw(self, start: int, stop: int) -> RawLine:
        """Return one of the lines as an object of its own."""
        return RawLine(self.offset + start, self.offset + stop + 1, bytes(self.data[start:stop]))

    def lines_with(self, needle: bytes) -> Iterator[RawLine]:
        """Yield the lines in which a needle stands that is not empty, as objects."""
        stop = -1
        while (at := self.find(needle, stop + 1, self.size)) >= 0:
            start, stop = self.data.rfind(b"\n", 0, at) + 1, self.data.index(b"\n", at)
            yield self.raw(start, stop)

    def raw_lines(self) -> Iterator[RawLine]:
        """Yield all lines as objects."""
        return (self.raw(start, stop) for start, stop in self.lines())
