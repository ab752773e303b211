"""Runs an evaluation within the day's budget; each answer is stored and charged as it arrives. Run only on command."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from skilld.classify.backends import Spec
from skilld.classify.trial import Trial, TrialAnswer, TrialPair, TrialVerdict
from skilld.clock import rfc3339
from skilld.errors import SkilldError
from skilld.evals.checks import passes_code
from skilld.evals.plan import Plan, pending_pairs
from skilld.evals.results import EvalOutcome, eval_outcome, with_flag
from skilld.mining.questions import Terms
from skilld.protocol import PROCESSOR_SECONDS, Job, PartialResult, Result
from skilld.store import Store
from skilld.store.evals import StoredRun
from skilld.text import pluralize
from skilld.types import Outcome, Usage
from skilld.worker.spawn import Worker

_MAX_PAIRS_PER_JOB = 40  # many, since starting a worker takes seconds
_CALLS_PER_PAIR = 3
_MAX_WAITS = 4  # in a row, when a model asks to retry later
_WAIT_SECONDS = 20.0  # doubled each time, if the model does not say how long
_MAX_WAIT_SECONDS = 300.0


@dataclass
class RunSummary:
    """What a run used, why it stopped early, and the pairs for which the judge gave no usable answer."""

    usage: Usage = field(default_factory=Usage)
    stopped: str = ""
    unjudged: set[int] = field(default_factory=set)


class EvalRun:
    """Runs one evaluation, continuing where it stopped. `progress` receives the number of finished pairs."""

    def __init__(self, store: Store, plan: Plan, terms: Terms, judge: Spec, progress: Callable[[int], None]) -> None:
        self._store, self._plan, self._terms, self._judge = store, plan, terms, judge
        self._progress = progress
        self._id = plan.id
        self.summary = RunSummary()

    def run(self) -> EvalOutcome:
        """Run the missing pairs until all are in, the budget is spent or the model gives up; return the outcome.

        Raises SkilldError if the model cannot be asked at all. An interruption loses no answer.
        """
        with self._store.transaction():
            self._store.evals.add(self._plan.stored(rfc3339(time.time())))
        waits = 0
        while self._pending() and not self._is_budget_spent():
            before = len(self._pending())
            result = self._run_job()
            if result.outcome is Outcome.NOTHING:
                continue
            if self._is_budget_spent():
                break
            if result.outcome is Outcome.FAILED:
                raise SkilldError("Could not ask the model", result.detail, result.remedy)
            waits = 1 if len(self._pending()) < before else waits + 1
            if waits > _MAX_WAITS:
                self.summary.stopped = f"the model did not answer: {result.detail}"
                break
            self._terms.wait(min(result.retry_after or _WAIT_SECONDS * 2 ** (waits - 1), _MAX_WAIT_SECONDS))
        if self.summary.unjudged and not self.summary.stopped:
            self.summary.stopped = (
                f"the judge gave no usable answer for {pluralize(len(self.summary.unjudged), 'pair')}"
            )
        return self._finish()

    def _pending(self) -> list[TrialPair]:
        runs = self._store.evals.runs(self._id)
        return [one for one in pending_pairs(self._plan, runs) if one.number not in self.summary.unjudged]

    def _run_job(self) -> Result:
        pairs = self._pending()[:_MAX_PAIRS_PER_JOB]
        sides = self._plan.sides
        work = Trial(self._terms.spec, self._judge, sides.ours, sides.theirs, self._plan.trial_cases(), tuple(pairs))
        job = Job(work, self._terms.umask, processor_seconds=PROCESSOR_SECONDS * len(pairs))

        def keep(told: PartialResult) -> None:
            if isinstance(told, TrialAnswer | TrialVerdict):
                self._store_answer(told)
                self._progress(self._plan.pairs - len(self._pending()))

        charge = self._terms.account(self._store, self._plan.skill).charge
        with Worker(self._terms.environment) as worker:
            result = worker.do(job, self._terms.seconds * _CALLS_PER_PAIR * len(pairs), keep, charge=charge)
        self.summary.usage += result.usage
        return result

    def _store_answer(self, told: TrialAnswer | TrialVerdict) -> None:
        place = told.pair % len(self._plan.cases)
        statements, judged = self._plan.cases[place].case.statements, self._plan.trial_cases()[place].statements
        with self._store.transaction():
            self.summary.usage += told.usage
            if isinstance(told, TrialAnswer):
                passed = None if judged else passes_code(statements, told.answer)
                self._store.evals.save_run(self._id, told.pair, StoredRun(told.answer, passed), ours=told.ours)
                return
            if told.unusable:
                self.summary.unjudged.add(told.pair)
                return
            runs = self._store.evals.runs(self._id)
            for ours, holds in ((True, told.ours), (False, told.theirs)):
                answer = runs[told.pair, ours].answer
                run = StoredRun(answer, holds and passes_code(statements, answer))
                self._store.evals.save_run(self._id, told.pair, run, ours=ours)

    def _finish(self) -> EvalOutcome:
        """Return the outcome, and flag a proposal that did worse."""
        stored = self._store.evals.get(self._id) or self._plan.stored("")
        found = eval_outcome(stored, self._store.evals.runs(self._id))
        with self._store.transaction():
            proposal = self._store.proposals.get(found.plan.proposal) if found.plan.proposal else None
            if proposal is not None and found.verdict is not None:
                self._store.proposals.save_edit(with_flag(proposal, found))
        return found

    def _is_budget_spent(self) -> bool:
        why = self._terms.spent_reason(self._store)
        self.summary.stopped = why or self.summary.stopped
        return bool(why)
