"""How far long work has come: one line on a terminal, drawn again and again. Elsewhere nothing is shown."""

from __future__ import annotations

import sys
import time

_EVERY = 0.2  # seconds between two drawings
_WIDTH = 78
_ENOUGH = 3.0  # seconds after which a rate means something


def account(what: str, done: int, total: int, passed: float) -> str:
    """Return the line after `passed` seconds: how much is done, how fast it goes, how long it may still take."""
    line = f"{what}: {done} of {total}"
    if not done or passed < _ENOUGH:
        return line
    rate = done / passed
    shown = f"{rate:.0f} a second" if rate >= 1 else f"{rate * 60:.1f} a minute"
    return f"{line}, {shown}, {_duration((total - done) / rate)} left"


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"about {seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


class Progress:
    """One piece of long work."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = sys.stderr.isatty()
        self._start = time.monotonic()
        self._drawn = 0.0

    @property
    def due(self) -> bool:
        """Whether it is time to draw: what it costs to count can be spared otherwise."""
        return self._shown and time.monotonic() - self._drawn >= _EVERY

    def show(self, done: int, total: int) -> None:
        """Draw the line."""
        if self._shown:
            self._drawn = time.monotonic()
            line = account(self._what, done, total, self._drawn - self._start)
            sys.stderr.write(f"\r{line[:_WIDTH]:{_WIDTH}}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away, for other lines or for good."""
        if self._shown and self._drawn:
            sys.stderr.write("\r" + " " * _WIDTH + "\r")
            sys.stderr.flush()
