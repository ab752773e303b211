"""Runs evaluation cases with and without an edit, and reports each answer and each verdict as it arrives.

The caller stores each report before the job continues, so that nothing is paid for twice. The judge sees both answers
of a pair in random order, without knowing which is which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from skilld.classify.backends import make_backend
from skilld.classify.backends.model import Model
from skilld.classify.json_answer import BadReplyError
from skilld.classify.trial import MAX_ANSWER, Trial, TrialAnswer, TrialCase, TrialPair, TrialVerdict
from skilld.classify.trial_prompt import ask_case, ask_judge
from skilld.errors import RetryError, SkilldError
from skilld.jobs.limits import processor_time
from skilld.protocol import PROCESSOR_SECONDS, Result
from skilld.text import Redact, truncate
from skilld.types import Outcome, Usage

KeepResult = Callable[[TrialAnswer | TrialVerdict], None]


def run_trial(job: Trial, redact: Redact, keep: KeepResult) -> Result:
    """Run the job's pairs that lack an answer, and have each judged; a temporary failure ends the job."""
    backend = make_backend(job.backend)
    judge = backend if job.judge == job.backend else make_backend(job.judge)
    result = Result(outcome=Outcome.NOTHING, model=backend.name)
    if not isinstance(backend, Model) or not isinstance(judge, Model):
        return replace(result, outcome=Outcome.FAILED, detail="the offline rules cannot write or judge answers")
    bench = _TrialRunner(job, backend, judge, redact, keep)
    for pair in job.pairs:
        spent, judged = backend.usage, judge.usage
        try:
            with processor_time(PROCESSOR_SECONDS):
                bench.run(pair)
        except SkilldError as error:
            used = backend.usage - spent if judge is backend else backend.usage - spent + judge.usage - judged
            failed = replace(result, detail=str(error), usage=used - bench.told)
            if isinstance(error, RetryError):
                return replace(failed, outcome=Outcome.RETRY, retry_after=error.after)
            return replace(failed, outcome=Outcome.FAILED, remedy=error.remedy)
    return result


@dataclass
class _TrialRunner:
    """Runs one pair at a time; `told` is the usage of the current pair that has been reported."""

    job: Trial
    backend: Model
    judge: Model
    redact: Redact
    keep: KeepResult
    told: Usage = field(default_factory=Usage)

    def run(self, pair: TrialPair) -> None:
        """Get the missing answers of a pair, and have them judged where code cannot."""
        self.told = Usage()
        case = self.job.cases[pair.case]
        given = {True: pair.ours, False: pair.theirs}
        for ours in (pair.with_first, not pair.with_first):
            if given[ours] is None:
                given[ours] = self._answer(pair, case, ours=ours)
        if case.statements:
            self._judge(pair, case, {ours: answer or "" for ours, answer in given.items()})

    def _answer(self, pair: TrialPair, case: TrialCase, *, ours: bool) -> str:
        before, skill = self.backend.usage, self.job.ours if ours else self.job.theirs
        try:
            text = self.backend.write(ask_case(self.redact(case.request), self.redact(skill)))
        except BadReplyError:  # empty or cut off: it counts as an empty answer
            text = ""
        answer = truncate(self.redact(text), MAX_ANSWER)
        self._report(TrialAnswer(pair.number, ours, answer, self.backend.name, self.backend.usage - before))
        return answer

    def _judge(self, pair: TrialPair, case: TrialCase, given: dict[bool, str]) -> None:
        """Ask about the answers that are not empty; an empty one meets no statement."""
        before = self.judge.usage
        asked = [ours for ours in (pair.with_first, not pair.with_first) if given[ours].strip()]
        holds, unusable = {True: False, False: False}, ""
        if asked:
            statements = [self.redact(one) for one in case.statements]
            question = ask_judge(self.redact(case.request), statements, [given[ours] for ours in asked])
            try:
                said = self.judge.answer(question)
                holds |= dict(zip(asked, said, strict=True))
            except BadReplyError as error:
                unusable = error.cause
        used = self.judge.usage - before
        self._report(TrialVerdict(pair.number, holds[True], holds[False], self.judge.name, used, unusable))

    def _report(self, what: TrialAnswer | TrialVerdict) -> None:
        self.told += what.usage
        self.keep(what)
