"""What a part of the soak hands back: how far it came, and what it found wrong."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

MOST_FINDINGS = 20


@dataclass
class Part:
    """Counts of what was done, and a line for each thing that went wrong. Several threads may write."""

    seconds: float
    reached: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _start: float = field(default_factory=time.monotonic)

    @property
    def goes_on(self) -> bool:
        """Whether there is time left, and not so much found already that more would help nobody."""
        return time.monotonic() - self._start < self.seconds and len(self.findings) < MOST_FINDINGS

    @property
    def share(self) -> float:
        """How much of the time has passed, 0 to 1."""
        return (time.monotonic() - self._start) / self.seconds

    def count(self, what: str, number: int = 1) -> None:
        """Add to a count."""
        with self._lock:
            self.reached[what] += number

    def find(self, where: str, error: BaseException) -> None:
        """Note what went wrong; `where` says how to do it again."""
        with self._lock:
            self.findings.append(f"{where}: {type(error).__name__}: {' '.join(str(error).split())[:500]}")


def dice_for(case: object) -> random.Random:
    """Return dice that fall the same way whenever the case is the same."""
    return random.Random(str(case))  # noqa: S311 - no secrets


def must(holds: bool, what: str) -> None:  # noqa: FBT001 - reads like the statement
    """Raise AssertionError with `what` where something does not hold; unlike the statement, also under -O."""
    if not holds:
        raise AssertionError(what)
