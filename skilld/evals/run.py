"""Runs an evaluation within the day's budget; each answer is stored and charged as it arrives. Run only on command."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from skilld.classify.backends import Spec
from skilld.classify.trial import Trial, TrialAnswer, TrialPair, TrialVerdict
from skilld.clock import day, rfc3339
from skilld.errors import SkilldError
from skilld.evals.checks import passes_code
from skilld.evals.plan import Plan, left
from skilld.evals.results import Outcome as Found
from skilld.evals.results import flagged, outcome
from skilld.mining.questions import Terms
from skilld.protocol import PROCESSOR_SECONDS, Job, PartialResult, Result
from skilld.store import Store
from skilld.store.evals import StoredRun
from skilld.text import counted
from skilld.types import Outcome, Usage
from skilld.worker.spawn import Worker

_AT_ONCE = 40  # pairs handed to one worker: its start takes seconds
_CALLS = 3  # of a pair
_WAITS = 4  # times in a row that a model may ask us to come back later
_WAIT = 20.0  # seconds, doubled with every time, where it does not say how long
_MAX_WAIT_SECONDS = 300.0


@dataclass
class RunSummary:
    """What came of it: what it cost, why it stopped early, and how many pairs the judge told nothing of."""

    usage: Usage = field(default_factory=Usage)
    stopped: str = ""
    unjudged: set[int] = field(default_factory=set)


class EvalRun:
    """One evaluation, gone on with where it stopped. `progress` is told how many pairs are in."""

    def __init__(self, store: Store, plan: Plan, terms: Terms, judge: Spec, progress: Callable[[int], None]) -> None:
        self._store, self._plan, self._terms, self._judge = store, plan, terms, judge
        self._progress = progress
        self._id = plan.id
        self.ran = RunSummary()

    def run(self) -> Found:
        """Run what is missing until all is in, the budget is spent or the model gives up; returns what it came to.

        Raises SkilldError if the model cannot be asked at all. An interruption loses nothing that was answered.
        """
        with self._store.transaction():
            self._store.evals.add(self._plan.stored(rfc3339(time.time())))
        waits = 0
        while self._left() and not self._spent():
            before = len(self._left())
            result = self._work()
            if self.ran.stopped:
                break
            if result.outcome is Outcome.NOTHING:
                continue
            if result.outcome is Outcome.FAILED:
                raise SkilldError("Could not ask the model", result.detail, result.remedy)
            waits = 1 if len(self._left()) < before else waits + 1
            if waits > _WAITS:
                self.ran.stopped = f"the model did not answer: {result.detail}"
                break
            self._terms.wait(min(result.retry_after or _WAIT * 2 ** (waits - 1), _MAX_WAIT_SECONDS))
        if self.ran.unjudged and not self.ran.stopped:
            self.ran.stopped = f"the judge gave no usable answer for {counted(len(self.ran.unjudged), 'pair')}"
        return self._found()

    def _left(self) -> list[TrialPair]:
        runs = self._store.evals.runs(self._id)
        return [one for one in left(self._plan, runs) if one.number not in self.ran.unjudged]

    def _work(self) -> Result:
        pairs = self._left()[:_AT_ONCE]
        sides = self._plan.sides
        work = Trial(self._terms.spec, self._judge, sides.ours, sides.theirs, self._plan.trial_cases(), tuple(pairs))
        job = Job(work, self._terms.umask, processor_seconds=PROCESSOR_SECONDS * len(pairs))

        def keep(told: PartialResult) -> None:
            if isinstance(told, TrialAnswer | TrialVerdict):
                self._keep(told)
                self._progress(self._plan.pairs - len(self._left()))
                if self._left() and self._spent():
                    worker.kill()

        with Worker(self._terms.environment) as worker:
            result = worker.do(job, self._terms.seconds * _CALLS * len(pairs), keep)
        self._book(self._terms.spec.model, result.usage)
        return result

    def _keep(self, told: TrialAnswer | TrialVerdict) -> None:
        place = told.pair % len(self._plan.cases)
        statements, judged = self._plan.cases[place].case.statements, self._plan.trial_cases()[place].statements
        with self._store.transaction():
            self._book(told.model, told.usage)
            if isinstance(told, TrialAnswer):
                passed = None if judged else passes_code(statements, told.answer)
                self._store.evals.save_run(self._id, told.pair, StoredRun(told.answer, passed), ours=told.ours)
                return
            if told.unusable:
                self.ran.unjudged.add(told.pair)
                return
            runs = self._store.evals.runs(self._id)
            for ours, holds in ((True, told.ours), (False, told.theirs)):
                answer = runs[told.pair, ours].answer
                run = StoredRun(answer, holds and passes_code(statements, answer))
                self._store.evals.save_run(self._id, told.pair, run, ours=ours)

    def _found(self) -> Found:
        """Return what it came to; a proposal that did worse carries that from now on."""
        stored = self._store.evals.get(self._id) or self._plan.stored("")
        found = outcome(stored, self._store.evals.runs(self._id))
        with self._store.transaction():
            proposal = self._store.proposals.get(found.proposal) if found.proposal else None
            if proposal is not None and found.word is not None:
                self._store.proposals.save_edit(flagged(proposal, found))
        return found

    def _book(self, model: str, usage: Usage) -> None:
        self.ran.usage += usage
        self._store.usage.add(day(time.time()), model, self._plan.skill, usage)

    def _spent(self) -> bool:
        why = self._terms.spent_reason(self._store)
        self.ran.stopped = why or self.ran.stopped
        return bool(why)
