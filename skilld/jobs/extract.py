"""Runs past sessions past the classifier: windows of messages in, lasting instructions out, one plan line each.

The question, its answer's form and all checks are those of a batch (`skilld.pipeline.judge`); only no skill is there
yet. A window's outcome is told before the next is asked about, so that whoever started the job keeps and books it, and
ends the job where the budget is spent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from skilld.classify.backends import Backend, make
from skilld.classify.backends.completion import prices
from skilld.classify.partial_results import WindowResult, WindowUpdate
from skilld.classify.verify import Verdict, verify
from skilld.errors import RetryError, SkilldError
from skilld.jobs.limits import ProcessorTimeError, processor_time
from skilld.pipeline.documents import TargetDocument, load_skills
from skilld.pipeline.judge import Judge, Redact
from skilld.protocol import PROCESSOR_SECONDS, Distil, Extend, ExtensionResult, Price, PriceResult, Result
from skilld.types import Message, Outcome, SkillDoc, SkillRef, Update


def distil(job: Distil, redact: Redact, keep: Callable[[WindowResult], None]) -> Result:
    """Ask about each window of the job; a passing trouble ends it, and what is left may be asked again later."""
    backend = make(job.backend)
    result = Result(outcome=Outcome.NOTHING, model=backend.name)
    for window in job.windows:
        before = backend.usage
        told = WindowResult(window=window.id, model=backend.name, usage=before)
        try:
            with processor_time(PROCESSOR_SECONDS):
                updates, left_out = _about(backend, job.skill, window.messages, redact)
                told = replace(told, updates=updates, left_out=left_out)
        except ProcessorTimeError:  # it costs the other windows nothing
            told = replace(told, unusable="judging took more CPU time than a job is allowed")
        except SkilldError as error:
            failed = replace(result, detail=str(error), usage=backend.usage - before)
            if isinstance(error, RetryError):
                return replace(failed, outcome=Outcome.RETRY, retry_after=error.after)
            if error.remedy:  # it is the set-up: the next window would fare no better
                return replace(failed, outcome=Outcome.FAILED, remedy=error.remedy)
            told = replace(told, unusable=str(error))
        keep(replace(told, usage=backend.usage - before))
    return result


def price(job: Price) -> PriceResult:
    """Return what the tokens of the job's models cost, None for each whose price is not known."""
    return PriceResult(outcome=Outcome.NOTHING, rates={model: prices(model) for model in job.models})


def _about(
    backend: Backend, skill: SkillDoc, messages: Sequence[Message], redact: Redact
) -> tuple[tuple[WindowUpdate, ...], int]:
    """Return what a window came to, and how much was left out."""
    judge = Judge(backend, list(messages), [TargetDocument(SkillRef(skill.name, ""), b"", skill)], "", redact)
    verdict = judge.verdict()
    return tuple(_said(update, messages) for update in _wanted(verdict)), _left_out(judge, verdict)


def _wanted(verdict: Verdict) -> list[Update]:
    """Return what the person said in words of their own: what they only agreed to has no words to rest on."""
    return [item.update for item in verdict.proposed if not item.by_assent]


def _left_out(judge: Judge, verdict: Verdict) -> int:
    agreed = sum(item.by_assent for item in verdict.proposed)
    return len(judge.unusable) + len(verdict.faults) + len(verdict.dropped) + len(verdict.learned) + agreed


def _said(update: Update, messages: Sequence[Message]) -> WindowUpdate:
    key = next((message.turn_key for message in messages if message.turn == update.turn), None)
    return WindowUpdate(key or "", update.quote, update.change, update.kind, update.confidence)


# One skill that is there, and what was said about it in past sessions: an edit like that of a batch.
#
# The words come with the job, redacted: they were read from several transcripts, and confirmed there, before.


def extend(job: Extend, redact: Redact) -> ExtensionResult:
    """Return the edit that makes the job's skill say its updates, or why there is none."""
    backend = make(job.backend)
    result = ExtensionResult(outcome=Outcome.NOTHING, model=backend.name)
    messages = list(job.messages)
    try:
        loaded, unfit = load_skills([job.skill])
        if not loaded:
            return replace(result, detail="; ".join(why for _, why in unfit))
        verdict = verify(job.updates, messages, [loaded[0].doc], sure=0.0)
        checked = [item for item in verdict.proposed if not item.by_assent]
        if not checked:
            return replace(result, detail="; ".join([*verdict.dropped, *verdict.faults]))
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
