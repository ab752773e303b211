"""The one place where tests wait: for a condition, with a limit, and with words for what did not come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Seconds, where a test is not about speed: machines are busy with other tests.
LIMIT = 90.0

_never = threading.Event()


def wait_for(
    what: str, probe: Callable[[], T], limit: float, *, every: float = 0.05, context: Callable[[], str] | None = None
) -> T:
    """Return the first true value of `probe`; fail after `limit` seconds with `what` and the text of `context`."""
    end = time.monotonic() + limit
    while not (value := probe()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {limit:g} s for {what}" + (f"\n{context()}" if context else ""))
        _never.wait(every)
    return value


def pause(seconds: float) -> None:
    """Let time pass where time itself is what the other side looks at: the rhythm of a person's keys."""
    _never.wait(seconds)
