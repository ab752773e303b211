"""Chooses the transcripts to survey for rules when there is nothing else to do.

Each is read once when its session is idle, old ones too, the newest first: a hundred every five minutes, because
starting a worker and finding the next ones cost more than reading. A model is asked only about new sessions, and only
while less than half of the daily budget is spent and no batch waits: batches come first. A session that was read by its
words alone because of that, or because a command needed it at once, is read again when a model can be asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from skilld.agents import context_variables
from skilld.classify.backends import OFFLINE, Spec
from skilld.daemon import judges
from skilld.ingest.discover import Host
from skilld.protocol import Result, SurveyRequest, SurveyResult, SurveysResult, SurveyTranscripts
from skilld.settings import Settings
from skilld.store import Store
from skilld.store.budget import Account
from skilld.store.meta import CORRECTIONS_READ
from skilld.types import Outcome

_PAUSE_SECONDS = 300.0
_FIRST_DELAY_SECONDS = 60.0  # after the start, which has enough to do
_MAX_FOUND = 100
_MAX_PER_JOB = 20


class SurveySchedule:
    """The transcripts to survey next, and the current job, if any."""

    def __init__(self, store: Store, host: Host, delay: float = _FIRST_DELAY_SECONDS) -> None:
        self._store = store
        self._host = host
        self._not_before = time.time() + delay
        self._found: list[tuple[str, str, int, float, bool]] = []
        self._alone = 0  # the number to be read one by one, because a job with them failed
        self._given: tuple[SurveyRequest, ...] = ()
        self._ask_later = False  # about the given ones

    @property
    def busy(self) -> bool:
        """Whether a worker has a survey job."""
        return bool(self._given)

    @property
    def waiting(self) -> int:
        """Return the number of transcripts that were found and not yet surveyed."""
        return len(self._found)

    def job(self, settings: Settings, now: float) -> SurveyTranscripts | None:
        """Return the next job at a Unix time, without sessions that are still active."""
        # Before that range the clock was set back.
        if not self._found and self._not_before - _PAUSE_SECONDS <= now < self._not_before:
            return None
        if self._store.meta.paused(now) or self._store.rebuild.state is not None:
            return None
        if not self._found:
            self._not_before = now + _PAUSE_SECONDS
            until, can_ask = now - settings.batch.idle_minutes * 60, not self._must_wait(settings, now)
            self._found = self._store.past.next_unread(until, _MAX_FOUND, unasked=can_ask)
        self._ask_later = self._must_wait(settings, now)
        self._given = tuple(self._next_requests(settings, now))
        return SurveyTranscripts(self._given) if self._given else None

    def _next_requests(self, settings: Settings, now: float) -> Iterator[SurveyRequest]:
        """Yield some of the transcripts; only one if it asks a model, because its cost must be counted first."""
        host = self._host
        variables = {name: host.environment[name] for name in context_variables() if name in host.environment}
        roots = {name: tuple(map(str, folders)) for name, folders in host.roots.items()}
        for agent, path, size, mtime, is_live in self._found[: 1 if self._alone else _MAX_PER_JOB]:
            spec = self._backend_spec(settings, agent, now) if is_live and not self._ask_later else Spec(OFFLINE)
            yield SurveyRequest(agent, path, str(host.home), size, mtime, is_live, spec, variables, roots)
            if spec.model != OFFLINE:
                return

    def _backend_spec(self, settings: Settings, agent: str, now: float) -> Spec:
        spec = judges.choose_judge(self._store, settings, self._host.environment, agent, now).spec
        return Spec(OFFLINE) if judges.current_limit(self._store, spec.model, now) else spec

    def _must_wait(self, settings: Settings, now: float) -> bool:
        """Whether no model is to be asked now: half of the budget is spent, or a batch waits for its judge."""
        spent = self.account(lambda: settings, lambda: now).spent_limit() is not None
        return spent or self._store.batches.counts()["pending"] > 0

    def account(self, settings: Callable[[], Settings], now: Callable[[], float] = time.time) -> Account:
        """Return the account for the questions of surveys: half of the day's budget, by the settings in force."""
        return Account(self._store, lambda: settings().budget, "", share=2, now=now)

    def record(self, result: Result) -> None:
        """Record the result of the job; a transcript with which it failed alone counts as surveyed."""
        given, self._given = self._given, ()
        if isinstance(result, SurveysResult):
            shown = result.shown
        else:  # the others wait for the next time
            shown = (SurveyResult(outcome=Outcome.FAILED),) if len(given) == 1 else ()
            self._found, self._alone = [], max(self._alone, len(given))
        self._found, self._alone = self._found[len(shown) :], max(0, self._alone - len(shown))
        with self._store.transaction():
            for survey, of in zip(given, shown, strict=False):  # the job may have surveyed only some
                later = self._ask_later and survey.is_live
                self._store.past.save(survey.path, survey.size, survey.mtime, of.sessions, ask_later=later)
            if any(one.said for of in shown for one in of.sessions):
                self._store.meta.set(CORRECTIONS_READ, True)  # noqa: FBT003 - a value
