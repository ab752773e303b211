"""Extracts lasting instructions from windows of past sessions, and edits a skill with such instructions.

The question, the form of its answer and all checks are those of a batch (`skilld.pipeline.judge`), but there is no
skill yet. Each window's result is reported before the next question, so that the caller can store and charge it, and
end the job when the budget is spent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from skilld.classify.backends import Backend, make_backend
from skilld.classify.backends.completion import token_rates
from skilld.classify.partial_results import WindowResult, WindowUpdate
from skilld.classify.question_jobs import LookUpPrices
from skilld.classify.verify import Verdict, verify
from skilld.errors import RetryError, SkilldError
from skilld.jobs.limits import ProcessorTimeError, processor_time
from skilld.jobs.same_asks import find_lines
from skilld.pipeline.documents import TargetDocument, load_documents
from skilld.pipeline.judge import Judge
from skilld.protocol import PROCESSOR_SECONDS, ExtendSkill, ExtensionResult, ExtractUpdates, PriceResult, Result
from skilld.text import Redact
from skilld.types import Message, Outcome, SkillDoc, SkillRef, Update


def extract_updates(job: ExtractUpdates, redact: Redact, keep: Callable[[WindowResult], None]) -> Result:
    """Ask about each window of the job; a temporary failure ends it, and the rest may be asked later."""
    backend = make_backend(job.backend)
    result = Result(outcome=Outcome.NOTHING, model=backend.name)
    for window in job.windows:
        before = backend.usage
        answer = WindowResult(window=window.id, model=backend.name, usage=before)
        try:
            with processor_time(PROCESSOR_SECONDS):
                updates, left_out = _ask_window(backend, job.skill, window.messages, redact)
                answer = replace(answer, updates=updates, left_out=left_out)
        except ProcessorTimeError:  # the other windows are not affected
            answer = replace(answer, unusable="judging took more CPU time than a job is allowed")
        except SkilldError as error:
            failed = replace(result, detail=str(error), usage=backend.usage - before)
            if isinstance(error, RetryError):
                return replace(failed, outcome=Outcome.RETRY, retry_after=error.after)
            if error.remedy:  # a configuration problem: the next window would fail as well
                return replace(failed, outcome=Outcome.FAILED, remedy=error.remedy)
            answer = replace(answer, unusable=str(error))
        keep(replace(answer, usage=backend.usage - before))
    return result


def look_up_prices(job: LookUpPrices) -> PriceResult:
    """Return the token prices of the job's models, None for each unknown one."""
    return PriceResult(outcome=Outcome.NOTHING, rates={model: token_rates(model) for model in job.models})


def _ask_window(
    backend: Backend, skill: SkillDoc, messages: Sequence[Message], redact: Redact
) -> tuple[tuple[WindowUpdate, ...], int]:
    """Return the updates of a window, and the number of those left out."""
    judge = Judge(backend, list(messages), [TargetDocument(SkillRef(skill.name, ""), b"", skill)], "", redact)
    verdict = judge.verdict()
    own = [item.update for item in verdict.proposed if not item.by_assent]  # what was only agreed to has no quote
    return tuple(_window_update(update, messages) for update in own), _count_left_out(judge, verdict)


def _count_left_out(judge: Judge, verdict: Verdict) -> int:
    agreed = sum(item.by_assent for item in verdict.proposed)
    return len(judge.unusable) + len(verdict.faults) + len(verdict.dropped) + len(verdict.learned) + agreed


def _window_update(update: Update, messages: Sequence[Message]) -> WindowUpdate:
    key = next((message.turn_key for message in messages if message.turn == update.turn), None)
    return WindowUpdate(key or "", update.quote, update.change, update.kind, update.confidence)


# Editing an existing skill with what was said about it in past sessions. The job brings the redacted words, which have
# been confirmed in their transcripts.


def extend_skill(job: ExtendSkill, redact: Redact) -> ExtensionResult:
    """Return the edit that adds the job's updates to its skill, or why there is none."""
    backend = make_backend(job.backend)
    result = ExtensionResult(outcome=Outcome.NOTHING, model=backend.name)
    messages = list(job.messages)
    try:
        loaded, unfit = load_documents([job.skill])
        if not loaded:
            return replace(result, detail="; ".join(why for _, why in unfit))
        verdict = verify(job.updates, messages, [loaded[0].doc], min_confidence=0.0)
        checked = [item for item in verdict.proposed if not item.by_assent]
        said = find_lines([item.update for item in checked], loaded[0].doc.text, backend, redact)
        checked = [item for item in checked if item.update.change not in said]
        if not checked:
            known = [f"{job.skill.name} already says this: {line}" for line in dict.fromkeys(said.values())]
            why = "; ".join([*verdict.dropped, *verdict.faults, *known])
            return replace(result, detail=why, usage=backend.usage)
        composed = Judge(backend, messages, loaded, "", redact).edit(loaded[0], checked)
    except SkilldError as error:
        outcome = Outcome.RETRY if isinstance(error, RetryError) else Outcome.REFUSED
        return replace(result, outcome=outcome, detail=str(error), usage=backend.usage)
    return replace(
        result,
        outcome=Outcome.PROPOSED,
        operations=tuple(composed.operations),
        flags=tuple(composed.flags),
        said=tuple(item.update for item in composed.checked),
        usage=backend.usage,
    )
