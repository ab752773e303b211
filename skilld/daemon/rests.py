"""Lets a transcript that changes all the time be looked at now and then: a hint too soon is put off, never lost.

A database is asked anew at every look, and its client writes many times a second while an answer comes in.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

_EARLY = 0.01  # seconds by which a timer may go off before its time


class Rests:
    """Knows when each transcript was looked at; `again` is told, from another thread, when one put off is due."""

    def __init__(self, again: Callable[[Path], None], seconds: float = 1.0) -> None:
        self._again = again
        self._seconds = seconds
        self._looked: dict[Path, float] = {}
        self._put_off: set[Path] = set()

    def is_over(self, path: Path) -> bool:
        """Whether a transcript may be looked at now; where not, it will be said again when it may."""
        now = time.monotonic()
        left = self._looked.get(path, -self._seconds) + self._seconds - now
        if left <= _EARLY:
            self._put_off.discard(path)
            self._looked[path] = now
            return True
        if path not in self._put_off:
            self._put_off.add(path)
            timer = threading.Timer(left, self._again, [path])
            timer.daemon = True
            timer.start()
        return False
