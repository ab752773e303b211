"""The one place where tests wait: for a condition, with a limit, and a message if it never holds."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Seconds, where a test is not about speed: machines are busy with other tests. What must not come to its own end
# meanwhile (a client that hangs, an answer that is late) has to take longer: NEVER.
LIMIT = 90.0
NEVER = 1000.0

_never = threading.Event()
_REST = 5  # times as long as a probe took until it is tried again: looking must not take the time of what is waited for
_MAX_REST = 0.5  # seconds


def wait_for(
    what: str,
    probe: Callable[[], T],
    limit: float = LIMIT,
    *,
    every: float = 0.05,
    context: Callable[[], str] | None = None,
) -> T:
    """Return the first true value of `probe`; fail after `limit` seconds with `what` and the text of `context`."""
    begun = time.monotonic()
    end = begun + limit
    while not (value := probe()):
        now = time.monotonic()
        if now > end:
            raise AssertionError(f"waited {limit:g} s for {what}" + (f"\n{context()}" if context else ""))
        _never.wait(max(every, min(_REST * (now - begun), _MAX_REST)))
        begun = time.monotonic()
    return value


def wait_in_time(
    what: str, probe: Callable[[], T], seconds: float, *, every: float = 0.05, context: Callable[[], str] | None = None
) -> T:
    """Wait as `wait_for` does, and fail where it took more than `seconds` of a machine that does nothing else.

    How busy this one is `probe` tells, with the programs it runs: by what factor it took longer than the processor
    time it needed.
    """
    begun, took, needed = time.monotonic(), 0.0, 0.0

    def measured() -> T:
        nonlocal took, needed
        at, before = time.monotonic(), _processor_time()
        value = probe()
        took, needed = took + time.monotonic() - at, needed + _processor_time() - before
        return value

    value = wait_for(what, measured, max(LIMIT, 3 * seconds), every=every, context=context)
    allowed = seconds * max(1.0, took / needed if needed else 1.0)
    waited = time.monotonic() - begun
    assert waited <= allowed, f"{what} came after {waited:.1f} s, allowed were {allowed:.1f}"
    return value


def _processor_time() -> float:
    """Return the seconds that this process and its ended children used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def pause(seconds: float) -> None:
    """Let time pass where the other side looks at time itself: the rhythm of a person's keys."""
    _never.wait(seconds)
