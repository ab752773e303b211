"""How often a batch is tried, and when again: by what went wrong with it. Pure.

Tries are for failures of the work. A transcript that is away, or a worker that was killed with its machine, says
nothing of the batch: such is waited for as long as a day, and uses up no try.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace

from skilld.protocol import BatchResult
from skilld.store.batches import StoredBatch, Tries
from skilld.types import Cause

DAY = 86400.0
_BACK_OFF = 30.0  # seconds, doubled with every try
_BACK_OFF_MOST = 3600.0
_ASKED_MOST = 86400.0  # a server may ask for any wait
_SOON = 5.0
_AWAY_MOST = 900.0  # seconds between two looks for a transcript
_CRASHES = 3  # for each try of the settings: a worker that ends by itself may be the batch's doing
_KILLS = 50  # and a day: who kills all day may be the kernel, for want of memory
_FROM_OUTSIDE = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}


@dataclass(frozen=True, slots=True)
class Again:
    """Try again in so many seconds, or not at all: None. `tries` is what went wrong by now, `since` since when."""

    wait: float | None
    tries: Tries
    since: float


def again(batch: StoredBatch, result: BatchResult, attempts: int, now: float) -> Again:
    """Return whether a batch is tried again after a result that asks for it, by the settings' number of tries."""
    tries = batch.tries
    cause = result.cause.what if result.cause else None
    since = batch.obstacle.since if batch.obstacle and batch.obstacle.cause == cause and batch.obstacle.since else now
    # A clock that was set back makes it no longer.
    away = min(max(now - since, 0.0), DAY)
    if cause == Cause.TRANSCRIPT:
        return Again(None if away >= DAY else min(max(away, _SOON), _AWAY_MOST), tries, since)
    if cause == Cause.PROCESS and result.exit in {None, *_FROM_OUTSIDE}:
        tries = replace(tries, kills=tries.kills + 1)
        given_up = tries.kills >= _KILLS and away >= DAY
        return Again(None if given_up else min(_back_off(tries.kills), _AWAY_MOST), tries, since)
    if cause == Cause.PROCESS:
        tries = replace(tries, crashes=tries.crashes + 1)
        given_up = tries.crashes >= _CRASHES * attempts
        return Again(None if given_up else _back_off(tries.crashes), tries, since)
    tries = replace(tries, failures=tries.failures + 1)
    asked = min(result.retry_after or 0.0, _ASKED_MOST)
    return Again(None if tries.failures >= attempts else max(asked, _back_off(tries.failures)), tries, since)


def _back_off(number: int) -> float:
    return float(min(_BACK_OFF * 2 ** min(number - 1, 16), _BACK_OFF_MOST))
