"""The daemon's timers: APScheduler, watched over by monotonic time.

APScheduler goes by the wall clock: set back by a day, it is silent for a day. Its defaults drop a job that is a second
late, and after a suspend everything is late. Both are held by tests/faults/test_f13_clock.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from skilld.clock import day, minute_of_day
from skilld.daemon.engine import Engine
from skilld.store.meta import CORRECTIONS_READ, LAST_OFFERED, MINED_ON, RULES_CHECKED_ON, SYNCED_AT
from skilld.verb_jobs import MendRules, MineSessions, SyncMachines, SyncTeams, VerbJob

_MISSED = 3  # ticks of the quickest sort: so long a silence is none of the machine's being busy


class Schedule:
    """Calls `tick` with a name every so many seconds, on another thread."""

    def __init__(self, tick: Callable[[str], None], periods: Mapping[str, float]) -> None:
        self._tick = tick
        self._last = time.monotonic()
        self._wall = time.time() - self._last
        self.patience = _MISSED * min(periods.values())
        self._scheduler = BackgroundScheduler(
            executors={"default": DebugExecutor()},  # on the schedule's own thread, since a tick is only posted
            job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1},
            timezone="UTC",
        )
        for name, seconds in periods.items():
            self._scheduler.add_job(self._beat, "interval", (name,), seconds=seconds, id=name)
        self._scheduler.start()

    def _beat(self, name: str) -> None:
        self._last = time.monotonic()
        self._wall = time.time() - self._last
        self._tick(name)

    def wake(self) -> float | None:
        """Have everything come at once where nothing came for `patience` seconds.

        Returns by how many seconds the wall clock was set back meanwhile, None where ticks came as they should.
        """
        if time.monotonic() - self._last < self.patience:
            return None
        self._last = time.monotonic()
        before, self._wall = self._wall, time.time() - self._last
        for job in self._scheduler.get_jobs():
            job.modify(next_run_time=datetime.now(UTC))
        return max(0.0, before - self._wall)

    def stop(self) -> None:
        """Stop; a tick that is on its way may still come."""
        self._scheduler.shutdown(wait=False)


# The work of the night: to look which rules are not kept, and to mine past sessions where the person switched it on.
# By day and night: to sync, once an hour at most, with a team or with machines that the person joined.
#
# A machine that slept through the night does it once when nobody is at work, and never twice for two nights. Rules are
# looked at by day, too, when corrections were read: what was said again just now is proposed on the same day. So
# is what was accepted, for another agent of the project that does not see it.

_FROM = 3 * 60  # minute of the person's day
_QUIET = 1800.0  # seconds in which no transcript grew
MAX_SECONDS = 3600.0
_SYNC = 3600.0


def due(engine: Engine, now: float) -> VerbJob | None:
    """Return the work that is due (Unix time): that of the night is said once a day, a sync once an hour."""
    store = engine.store
    if store.meta.paused(now) or store.rebuild.state is not None:
        return None
    is_night = minute_of_day(now) >= _FROM and now - store.transcripts.newest_activity() >= _QUIET
    if is_night and store.meta.get(RULES_CHECKED_ON) != day(now) and store.past.has_sessions():
        return _mend(engine, now)
    if (heard := heard_since(engine, now)) is not None:
        return heard
    if store.proposals.newest_accepted() > store.meta.get(LAST_OFFERED, 0):
        return _mend(engine, now)
    if is_night and engine.settings.mine.nightly and store.meta.get(MINED_ON) != day(now):
        store.meta.set(MINED_ON, day(now))
        return MineSessions()
    return sync(engine, now)


def sync(engine: Engine, now: float) -> SyncTeams | SyncMachines | None:
    """Return the sync that is due; without a question to the store where the person joined nothing."""
    settings = engine.settings
    joined = {"team": bool(settings.team.repositories), "machines": bool(settings.machines.remote)}
    if not any(joined.values()):
        return None
    known = engine.store.meta.get(SYNCED_AT, {})
    for name, work in (("team", SyncTeams()), ("machines", SyncMachines())):
        last = known.get(name, -_SYNC)
        if joined[name] and not last <= now < last + _SYNC:  # a clock that was set back holds nothing up
            engine.store.meta.set(SYNCED_AT, known | {name: now})
            return work
    return None


def heard_since(engine: Engine, now: float) -> MendRules | None:
    """Return the look at rules that is due because corrections were read, once all that may be read was."""
    until = now - engine.settings.batch.idle_minutes * 60
    is_due = engine.store.meta.get(CORRECTIONS_READ) and not engine.store.past.next_unread(until)
    return _mend(engine, now) if is_due and not engine.store.meta.paused(now) else None


def _mend(engine: Engine, now: float) -> MendRules:
    engine.store.meta.delete(CORRECTIONS_READ)
    engine.store.meta.set(LAST_OFFERED, engine.store.proposals.newest_accepted())
    engine.store.meta.set(RULES_CHECKED_ON, day(now))
    return MendRules()
