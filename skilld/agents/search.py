"""The quickest search for some bytes in many: that of stringzilla where much is to be looked through, else Python's.

Both answer alike (tests/unit/test_search.py). The library is loaded at the first large buffer: it takes 1.2 MB, which a
daemon that only follows a few lines does without.
"""

from __future__ import annotations

from collections.abc import Callable

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
