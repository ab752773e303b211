"""The daemon's timers: APScheduler, supervised by monotonic time.

APScheduler uses the wall clock: if it is set back by a day, it is silent for a day. Its defaults drop a job that is a
second late, and after a suspend everything is late. tests/faults/test_f13_clock.py tests both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from skilld.clock import local_day, minute_of_day
from skilld.daemon.engine import Engine
from skilld.protocol import MEND_RULES, MINE_SESSIONS, SYNC_MACHINES, SYNC_TEAMS, VerbJob
from skilld.store.meta import CORRECTIONS_READ, LAST_OFFERED, MINED_ON, RULES_CHECKED_ON, SYNCED_AT

_MAX_MISSED_TICKS = 3  # of the shortest period: a busy machine does not cause such a silence


class Schedule:
    """Calls `tick` with a name periodically, on another thread."""

    def __init__(self, tick: Callable[[str], None], periods: Mapping[str, float]) -> None:
        self._tick = tick
        self._last = time.monotonic()
        self._wall = time.time() - self._last
        self.patience = _MAX_MISSED_TICKS * min(periods.values())
        self._scheduler = BackgroundScheduler(
            executors={"default": DebugExecutor()},  # on the scheduler's own thread, because a tick is only posted
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

    def wake_if_silent(self) -> float | None:
        """Run all jobs at once if there was no tick for `patience` seconds.

        Returns by how many seconds the wall clock was set back, None if ticks came as expected.
        """
        if time.monotonic() - self._last < self.patience:
            return None
        self._last = time.monotonic()
        before, self._wall = self._wall, time.time() - self._last
        for job in self._scheduler.get_jobs():
            job.modify(next_run_time=datetime.now(UTC))
        return max(0.0, before - self._wall)

    def stop(self) -> None:
        """Stop; one more tick may still arrive."""
        self._scheduler.shutdown(wait=False)


# Work at night: checking which rules are not followed, and mining past sessions if the settings enable it. At any time,
# at most once an hour: syncing with teams and machines that the person joined.
#
# A machine that was off at night does the work once when nobody is active, not once for each night. Rules are also
# checked by day after corrections were read, so that repeats are proposed on the same day, and after a proposal was
# accepted, for other agents of the project that do not see it.

_NIGHT_START_MINUTE = 3 * 60  # of the person's day
_QUIET_SECONDS = 1800.0  # without a change in any transcript
MAX_VERB_SECONDS = 3600.0
_SYNC_SECONDS = 3600.0


def due_verb(engine: Engine, now: float) -> VerbJob | None:
    """Return the work that is due at a Unix time: night work once a day, a sync once an hour."""
    store = engine.store
    if store.meta.paused(now) or store.rebuild.state is not None:
        return None
    is_night = minute_of_day(now) >= _NIGHT_START_MINUTE and now - store.transcripts.newest_activity() >= _QUIET_SECONDS
    if is_night and store.meta.get(RULES_CHECKED_ON) != local_day(now) and _has_rules(engine):
        return _start_mending(engine, now)
    if (heard := due_after_corrections(engine, now)) is not None:
        return heard
    if store.proposals.newest_accepted() > store.meta.get(LAST_OFFERED, 0):
        return _start_mending(engine, now)
    if is_night and engine.settings.mine.nightly and store.meta.get(MINED_ON) != local_day(now):
        store.meta.set(MINED_ON, local_day(now))
        return MINE_SESSIONS
    return due_sync(engine, now)


def due_sync(engine: Engine, now: float) -> VerbJob | None:
    """Return the sync that is due, without reading the store if the person joined nothing."""
    settings = engine.settings
    joined = {"team": bool(settings.team.repositories), "machines": bool(settings.machines.remote)}
    if not any(joined.values()):
        return None
    known = engine.store.meta.get(SYNCED_AT, {})
    for name, work in (("team", SYNC_TEAMS), ("machines", SYNC_MACHINES)):
        last = known.get(name, -_SYNC_SECONDS)
        if joined[name] and not last <= now < last + _SYNC_SECONDS:  # the clock may have been set back
            engine.store.meta.set(SYNCED_AT, known | {name: now})
            return work
    return None


def due_after_corrections(engine: Engine, now: float) -> VerbJob | None:
    """Return the check of rules that is due after corrections were read, once all transcripts have been surveyed."""
    until = now - engine.settings.batch.idle_minutes * 60
    is_due = engine.store.meta.get(CORRECTIONS_READ) and not engine.store.past.next_unread(until)
    return _start_mending(engine, now) if is_due and not engine.store.meta.paused(now) and _has_rules(engine) else None


def _has_rules(engine: Engine) -> bool:
    """Whether there is any rule to check: otherwise starting a process is in vain."""
    return engine.store.past.has_rules() or engine.store.proposals.newest_accepted() > 0


def _start_mending(engine: Engine, now: float) -> VerbJob:
    engine.store.meta.delete(CORRECTIONS_READ)
    engine.store.meta.set(LAST_OFFERED, engine.store.proposals.newest_accepted())
    engine.store.meta.set(RULES_CHECKED_ON, local_day(now))
    return MEND_RULES
