"""What a part of the soak has done and found, how to do it again, and dice that fall the same way for the same case."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

MOST_FINDINGS = 20
_LONGEST = 2000  # characters of what was found


@dataclass
class Part:
    """Counts of what was done, and a text for each thing that went wrong. Several threads may write."""

    name: str
    seconds: float = 0.0
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
        return self.passed / self.seconds

    @property
    def passed(self) -> float:
        """How many seconds have passed."""
        return time.monotonic() - self._start

    def count(self, what: str, number: int = 1) -> None:
        """Add to a count."""
        with self._lock:
            self.reached[what] += number

    @contextmanager
    def finding(self, case: str) -> Iterator[None]:
        """Make a finding of whatever is raised inside, with the command that does the case again."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever is raised is a finding
            what = f"{type(error).__name__}: {' '.join(str(error).split())}"[:_LONGEST]
            with self._lock:
                self.findings.append(f"{what}\n    again: make soak ARGS=\"--only {self.name} --again '{case}'\"")


def as_text(part: Part) -> str:
    """Return a line of what was reached by now, and a paragraph for each finding."""
    counts = ", ".join(f"{value:,} {what}" for what, value in part.reached.items())
    lines = [f"{part.name:6} {part.passed:6.1f} s  {counts}; {len(part.findings)} findings", *part.findings]
    return "".join(f"{line}\n" for line in lines)


def as_json(part: Part) -> dict[str, Any]:
    """Return the same as a document."""
    return {"seconds": round(part.passed, 1), "reached": dict(part.reached), "findings": part.findings}


def dice_for(case: object) -> random.Random:
    """Return dice that fall the same way whenever the case is the same."""
    return random.Random(str(case))  # noqa: S311 - no secrets


def must(holds: bool, what: str) -> None:  # noqa: FBT001 - reads like the statement
    """Raise AssertionError with `what` where something does not hold; unlike the statement, also under -O."""
    if not holds:
        raise AssertionError(what)
