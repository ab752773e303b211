"""A clock for time limits: the time is up once the program has got far enough."""

from __future__ import annotations

from collections.abc import Callable


class LateClock:
    """Stands in for the module `time`: it stands still until `happened()`, and is far on at the second look after it.

    What the program printed until then has been read by that second look.
    """

    def __init__(self, happened: Callable[[], bool]) -> None:
        self._happened = happened
        self._has_happened = False

    def monotonic(self) -> float:
        """Return the time in seconds."""
        before, self._has_happened = self._has_happened, self._happened()
        return 1e9 if before else 0.0
