"""Which transcripts to survey next for their rules, when there is nothing else to do.

Each is read once when its session rests, old ones too, the newest first: a hundred every five minutes, since starting a
worker and finding the next among all there are cost more than reading. A model is asked about new sessions only, and
while less than half of the day's budget is spent: batches come first.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from skilld.agents import VARIABLES
from skilld.classify.backends import OFFLINE, Spec
from skilld.clock import day
from skilld.daemon import judges
from skilld.ingest.discover import Host
from skilld.protocol import Result, SurveyRequest, SurveyResult, SurveysResult, SurveyTranscripts
from skilld.settings import Settings
from skilld.store import Store
from skilld.store.budget import spent_limit
from skilld.store.meta import CORRECTIONS_READ
from skilld.types import Outcome, Usage

_PAUSE = 300.0  # seconds
_FIRST = 60.0  # seconds after a start, when there is enough to do
_TOGETHER = 100  # found at a time
_IN_ONE_JOB = 20


class SurveySchedule:
    """The transcripts that were found last and not read yet, and the job that a worker has, if any."""

    def __init__(self, store: Store, around: Host) -> None:
        self._store = store
        self._around = around
        self._not_before = time.time() + _FIRST
        self._found: list[tuple[str, str, int, float, bool]] = []
        self._alone = 0  # how many are read one by one, since a job with them failed
        self._given: tuple[SurveyRequest, ...] = ()

    @property
    def busy(self) -> bool:
        """Whether a worker has such a job."""
        return bool(self._given)

    def job(self, settings: Settings, now: float) -> SurveyTranscripts | None:
        """Return the next job at a Unix time; none of a session that is at work still."""
        if not self._found and self._not_before - _PAUSE <= now < self._not_before:  # else the clock was set back
            return None
        if self._store.meta.paused(now) or self._store.rebuild.state is not None:
            return None
        if not self._found:
            self._not_before = now + _PAUSE
            self._found = self._store.past.next_unread(now - settings.batch.idle_minutes * 60, _TOGETHER)
        self._given = tuple(self._next(settings, now))
        return SurveyTranscripts(self._given) if self._given else None

    def _next(self, settings: Settings, now: float) -> Iterator[SurveyRequest]:
        """Yield some of those found; after one that a model is asked about none, since what that costs counts."""
        around = self._around
        variables = {name: around.environment[name] for name in VARIABLES if name in around.environment}
        roots = {name: tuple(map(str, folders)) for name, folders in around.roots.items()}
        for agent, path, size, mtime, is_live in self._found[: 1 if self._alone else _IN_ONE_JOB]:
            spec = self._spec(settings, agent, now) if is_live else Spec(OFFLINE)
            yield SurveyRequest(agent, path, str(around.home), size, mtime, is_live, spec, variables, roots)
            if spec.model != OFFLINE:
                return

    def _spec(self, settings: Settings, agent: str, now: float) -> Spec:
        """Return who may be asked now."""
        spec = judges.choice(self._store, settings, self._around.environment, agent, now).spec
        today = self._store.usage.on(day(now))
        double = Usage(2 * today.calls, 2 * today.tokens_in, 2 * today.tokens_out, 2 * today.usd)
        busy = judges.limited(self._store, spec.model, now) or spent_limit(double, settings.budget)
        return Spec(OFFLINE) if busy else spec

    def record(self, result: Result, now: float) -> None:
        """Take in how the job has ended: a transcript with which it failed alone shows nothing."""
        given, self._given = self._given, ()
        if isinstance(result, SurveysResult):
            shown = result.shown
        else:  # all else waits for the next time
            shown = (SurveyResult(outcome=Outcome.FAILED),) if len(given) == 1 else ()
            self._found, self._alone = [], max(self._alone, len(given))
        self._found, self._alone = self._found[len(shown) :], max(0, self._alone - len(shown))
        with self._store.transaction():
            for survey, of in zip(given, shown, strict=False):  # those that were not come to are still to be read
                if of.model:
                    self._store.usage.add(day(now), of.model, "", of.usage)
                self._store.past.save(survey.path, survey.size, survey.mtime, of.sessions)
            if any(one.said for of in shown for one in of.sessions):
                self._store.meta.set(CORRECTIONS_READ, True)  # noqa: FBT003 - a value
