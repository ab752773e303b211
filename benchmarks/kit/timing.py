"""Clocks and statistics: how long something takes, beside how long something else takes under the same load."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def seconds(work: Callable[[], object]) -> float:
    """Return how long `work` takes once, by the wall clock."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def side_by_side(rounds: int, *works: Callable[[], float]) -> list[float]:
    """Run all `works` in turn, `rounds` times, and return the median of what each gave.

    Taking turns puts a passing load of the machine on all of them.
    """
    given: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for numbers, work in zip(given, works, strict=True):
            numbers.append(work())
    return [statistics.median(numbers) for numbers in given]


def percentile(numbers: Sequence[float], share: float) -> float:
    """Return the smallest of `numbers` that a share of them (0 to 1) does not exceed: the nearest rank."""
    ordered = sorted(numbers)
    return ordered[max(0, -(-len(ordered) * round(share * 1000) // 1000) - 1)]
