"""When to mine past sessions unasked: once a day at a quiet hour, where the person switched it on.

A machine that slept through the night does it once when nobody is at work, and never twice for two nights.
"""

from __future__ import annotations

from typing import Any

from skilld.daemon.engine import Engine
from skilld.store.meta import MINED_ON
from skilld.times import day, minute_of_day

_FROM = 3 * 60  # minute of the person's day
_QUIET = 1800.0  # seconds in which no transcript grew
_LONGEST = 3600.0


def job(engine: Engine, now: float) -> dict[str, Any] | None:
    """Return the job of the night where it is due (Unix time), None where it is not; it is given once a day."""
    store = engine.store
    if not engine.settings.mine.nightly or minute_of_day(now) < _FROM or store.meta.get(MINED_ON) == day(now):
        return None
    if store.meta.paused(now) or now - store.transcripts.newest_activity() < _QUIET:
        return None
    store.meta.set(MINED_ON, day(now))
    return {"kind": "mine", "seconds": _LONGEST}
