"""Plans an evaluation, and runs it within the day's budget. Run only on command.

The plan's id covers all that decides the outcome: both texts, the cases, the models, the wording of the questions and
the number of pairs. Each answer is stored and charged as it arrives. So no evaluation is paid for twice, and an
interrupted one continues where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from skilld.classify import trial_prompt
from skilld.classify.backends import Spec
from skilld.classify.trial import Trial, TrialAnswer, TrialCase, TrialPair, TrialVerdict
from skilld.clock import rfc3339
from skilld.errors import SkilldError
from skilld.evals.checks import judged_statements, passes_code
from skilld.evals.results import EvalOutcome, eval_outcome, with_flag
from skilld.evals.stored_cases import CaseToRun
from skilld.mining.questions import Terms
from skilld.protocol import PROCESSOR_SECONDS, Job, PartialResult, Result
from skilld.store import Store
from skilld.store.evals import StoredCase, StoredEval, StoredRun
from skilld.text import pluralize
from skilld.types import Outcome, Usage
from skilld.values import value_class
from skilld.worker.spawn import Worker

_CHARACTERS_PER_TOKEN = 4  # roughly, in any language
_ANSWER_TOKENS = 600
_VERDICT_TOKENS = 40  # for one answer and one statement
Runs = Mapping[tuple[int, bool], StoredRun]


@value_class
class ComparedTexts:
    """The two texts of a skill that are compared: with the edit of a proposal, and without it.

    `proposal` is empty if the whole skill is compared with none; `without` says that the edit was taken out.
    """

    ours: str
    theirs: str
    proposal: str = ""
    without: bool = False


@value_class
class Plan:
    """What to run: the skill, its cases and the models."""

    skill: str
    path: str
    sides: ComparedTexts
    cases: tuple[CaseToRun, ...]
    pairs: int
    model: str
    judge: str

    @property
    def id(self) -> str:
        """A hash of everything that decides the outcome."""
        texts = [self.path, self.sides.ours, self.sides.theirs, self.sides.proposal, self.model, self.judge]
        contents = [one.case.content for one in self.cases]
        whole = json.dumps([trial_prompt.VERSION, self.pairs, texts, contents])
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    def stored(self, at: str) -> StoredEval:
        """Return the row for the store, begun at a time (RFC 3339)."""
        cases = tuple(StoredCase(one.file, one.case.id) for one in self.cases)
        named = (self.skill, self.path, self.sides.proposal, self.sides.without, self.model, self.judge)
        return StoredEval(self.id, *named, self.pairs, cases, at)

    def trial_cases(self) -> tuple[TrialCase, ...]:
        """Return the cases as a worker receives them."""
        return tuple(TrialCase(one.case.prompt, tuple(judged_statements(one.case.statements))) for one in self.cases)


def pending_pairs(plan: Plan, runs: Runs) -> list[TrialPair]:
    """Return the pairs that lack an answer or a verdict, with the answers they have.

    The plan's id decides which side of a pair comes first: random, but the same after an interruption.
    """
    found = []
    for number in range(plan.pairs):
        ours, theirs = (runs.get((number, side)) for side in (True, False))
        if ours is None or theirs is None or ours.passed is None or theirs.passed is None:
            dealt = hashlib.sha256(f"{plan.id} {number}".encode()).digest()[0] % 2 == 0
            answers = (one.answer if one is not None else None for one in (ours, theirs))
            found.append(TrialPair(number, number % len(plan.cases), dealt, *answers))
    return found


@value_class
class Estimate:
    """The approximate cost of running pairs."""

    pairs: int
    runs: int
    judged: int
    tokens_in: int
    tokens_out: int

    @property
    def calls(self) -> int:
        """Questions to models."""
        return self.runs + self.judged

    @property
    def tokens(self) -> int:
        """Tokens in both directions."""
        return self.tokens_in + self.tokens_out

    def describe(self, model: str) -> str:
        """Return the estimate as a text."""
        judge = f" and {pluralize(self.judged, 'question')} to the judge" if self.judged else ""
        calls = f"{pluralize(self.calls, 'call')} to {model}"
        return f"{pluralize(self.runs, 'run')}{judge}, {calls}, about {self.tokens:,} tokens"


def estimate(plan: Plan, pairs: Sequence[TrialPair]) -> Estimate:
    """Estimate the cost of running these pairs, from the length of the questions."""
    cases = plan.trial_cases()
    runs = judged = read = written = 0
    for pair in pairs:
        case = cases[pair.case]
        for answer, skill in ((pair.ours, plan.sides.ours), (pair.theirs, plan.sides.theirs)):
            if answer is None:
                runs += 1
                read += len(case.request) + len(skill) + _PROMPT_SIZES[0]
                written += _ANSWER_TOKENS
        if case.statements:
            judged += 1
            asked = len(case.request) + sum(map(len, case.statements)) + _PROMPT_SIZES[1]
            read += asked + 2 * _ANSWER_TOKENS * _CHARACTERS_PER_TOKEN
            written += 2 * _VERDICT_TOKENS * len(case.statements)
    return Estimate(len(pairs), runs, judged, read // _CHARACTERS_PER_TOKEN, written)


def _prompt_sizes() -> tuple[int, int]:
    """Return the number of characters of both questions without their content."""
    asked, judged = trial_prompt.ask_case("", ""), trial_prompt.ask_judge("", [""], ["", ""]).request
    return len(asked.system) + len(asked.user), len(judged.system) + len(judged.user)


_PROMPT_SIZES = _prompt_sizes()


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
