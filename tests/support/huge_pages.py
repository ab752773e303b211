"""Puts the memory of a process into huge pages, so that forking it copies few entries of page tables.

The warm server is forked for each verb, and half of what a fork costs beyond the verb's own work comes from its 4 kB
pages: 27,000 entries to copy, and to drop again. MADV_COLLAPSE (Linux 6.1) moves them into pages of 2 MB, whatever else
the machine does. Where that does not exist, nothing happens.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path

_COLLAPSE = 25  # madvise(2)
_HUGE = 2 << 20  # bytes


def collapse() -> None:
    """Move all private memory that does not belong to a file."""
    libc = ctypes.CDLL(None)
    with suppress(OSError, AttributeError):
        for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
            place, rights, _, _, inode, *name = line.split()
            start, end = (int(number, 16) for number in place.split("-"))
            first, last = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
            if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]) and first < last:
                libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), _COLLAPSE)
