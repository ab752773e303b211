"""Progress of long work: one line, redrawn in place on a terminal. Without a terminal nothing is shown."""

from __future__ import annotations

import sys
import time
from typing import Self

_REDRAW_SECONDS = 0.2  # seconds between two drawings
_LINE_WIDTH = 78
_MIN_RATE_SECONDS = 3.0  # before that a rate means little


def progress_line(step: str, done: int, total: int, passed: float) -> str:
    """Return the progress line after `passed` seconds: what is done, at what rate, and the time left."""
    line = f"{step}: {done} of {total}"
    if not done or passed < _MIN_RATE_SECONDS:
        return line
    rate = done / passed
    shown = f"{rate:.0f} a second" if rate >= 1 else f"{rate * 60:.1f} a minute"
    return f"{line}, {shown}, {_format_duration((total - done) / rate)} left"


def _format_duration(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"about {seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


class Progress:
    """The progress line of one long task, or of several in turn; as a context, it is erased at the end."""

    def __init__(self, what: str = "") -> None:
        self._what = what
        self._shown = sys.stderr.isatty()
        self._start = time.monotonic()
        self._drawn = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    @property
    def due(self) -> bool:
        """Whether it is time to redraw; if not, callers need not count."""
        return self._shown and time.monotonic() - self._drawn >= _REDRAW_SECONDS

    def __call__(self, what: str, done: int, total: int) -> None:
        """Redraw the line for task `what`, if it is time to."""
        if what != self._what:
            self.clear()
            self._what, self._start, self._drawn = what, time.monotonic(), 0.0
        if self.due:
            self.show(done, total)

    def show(self, done: int, total: int) -> None:
        """Redraw the line now."""
        if self._shown:
            self._drawn = time.monotonic()
            line = progress_line(self._what, done, total, self._drawn - self._start)
            sys.stderr.write(f"\r{line[:_LINE_WIDTH]:{_LINE_WIDTH}}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Erase the line."""
        if self._shown and self._drawn:
            sys.stderr.write("\r" + " " * _LINE_WIDTH + "\r")
            sys.stderr.flush()
