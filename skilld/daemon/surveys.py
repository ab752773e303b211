"""Which transcript to survey next for its rules: one at a time, when there is nothing else to do.

Each is read once when its session rests, old ones too, the newest first. A model is asked about new sessions only, and
while less than half of the day's budget is spent: batches come first.
"""

from __future__ import annotations

import time

from skilld.agents import VARIABLES
from skilld.classify.backends import OFFLINE, Spec
from skilld.clock import day
from skilld.daemon import judges
from skilld.ingest.discover import Host
from skilld.protocol import Result, Survey, SurveyResult
from skilld.settings import Settings
from skilld.store import Store
from skilld.store.budget import spent_limit
from skilld.store.meta import HEARD
from skilld.types import Usage

_EVERY = 5.0  # seconds between two
# Of 30,000 files to find the next takes 10 to 40 ms: every five seconds that was most of what the idle daemon did.
_TOGETHER = 50
_SHARE = 1e-4  # of a core
_MAX_LENGTH = 600.0  # seconds


class Surveys:
    """The job of that kind that a worker has, if any."""

    def __init__(self, store: Store, around: Host) -> None:
        self._store = store
        self._around = around
        self._not_before = self._find_again = 0.0
        self._found: list[tuple[str, str, int, float, bool]] = []
        self._given: Survey | None = None

    @property
    def busy(self) -> bool:
        """Whether a worker has such a job."""
        return self._given is not None

    def job(self, settings: Settings, now: float) -> Survey | None:
        """Return the next job at a Unix time; none of a session that is at work still."""
        if not self._not_before - _EVERY <= now < self._not_before:  # a clock that was set back holds nothing up
            self._not_before = now + _EVERY
            found = None if self._store.meta.paused(now) else self._next(now, settings.batch.idle_minutes * 60)
            if found is not None:
                agent, path, size, mtime, is_live = found
                around = self._around
                variables = {name: around.environment[name] for name in VARIABLES if name in around.environment}
                roots = {name: tuple(map(str, folders)) for name, folders in around.roots.items()}
                spec = self._spec(settings, agent, now) if is_live else Spec(OFFLINE)
                self._given = Survey(agent, path, str(around.home), size, mtime, is_live, spec, variables, roots)
                return self._given
        return None

    def _next(self, now: float, rest: float) -> tuple[str, str, int, float, bool] | None:
        """Return the next transcript: of those that were found together, since finding them looks at all there are."""
        if not self._found and not self._find_again - _MAX_LENGTH <= now < self._find_again:
            begun = time.thread_time()
            self._found = self._store.past.next(now - rest, _TOGETHER)[::-1]
            self._find_again = now + min(_MAX_LENGTH, (time.thread_time() - begun) / _SHARE)
        while self._found:
            found = self._found.pop()
            if self._store.past.is_as_it_was(found[1], found[2], found[3]):
                return found
        return None

    def _spec(self, settings: Settings, agent: str, now: float) -> Spec:
        """Return who may be asked now."""
        spec = judges.choice(self._store, settings, self._around.environment, agent, now).spec
        today = self._store.usage.on(day(now))
        double = Usage(2 * today.calls, 2 * today.tokens_in, 2 * today.tokens_out, 2 * today.usd)
        busy = judges.limited(self._store, spec.model, now) or spent_limit(double, settings.budget)
        return Spec(OFFLINE) if busy else spec

    def record(self, result: Result, now: float) -> None:
        """Take in how the job has ended: one that failed shows nothing, and is not tried again."""
        given, self._given = self._given, None
        if given is not None:
            sessions = result.sessions if isinstance(result, SurveyResult) else ()
            with self._store.transaction():
                if result.model:
                    self._store.usage.add(day(now), result.model, "", result.usage)
                self._store.past.keep(given.path, given.size, given.mtime, sessions)
                if any(one.said for one in sessions):
                    self._store.meta.set(HEARD, True)  # noqa: FBT003 - a value
