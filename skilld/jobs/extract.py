"""Past sessions before the classifier: windows of messages in, one plan line for each with what was said to last.

The question, its answer's form and all checks are those of a batch (`skilld.pipeline.judge`); only no skill is there
yet. A window's outcome is told before the next is asked about, so that whoever started the job keeps and books it, and
ends the job where the budget is spent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from skilld.classify.backends import Backend, Spec, make
from skilld.classify.backends.completion import prices
from skilld.classify.verify import Verdict, verify
from skilld.errors import RetryError, SkilldError
from skilld.jobs.limits import USUAL_SECONDS, ProcessorTimeError, processor_time
from skilld.pipeline.documents import Loaded, load_skills
from skilld.pipeline.judge import Judge, Redact
from skilld.types import How, Kind, Message, Outcome, SkillDoc, SkillRef, Update, Usage

Keep = Callable[[dict[str, Any]], None]


def distil(job: Mapping[str, Any], redact: Redact, keep: Keep) -> dict[str, Any]:
    """Ask about each window of the job; a passing trouble ends it, and what is left may be asked again later."""
    backend = make(Spec(**job["backend"]))
    result = {"outcome": Outcome.NOTHING.value, "detail": "", "model": backend.name}
    for window in job["windows"]:
        before = backend.usage
        try:
            with processor_time(job.get("processor_seconds", USUAL_SECONDS)):
                told = _about(backend, job["skill"], messages_of(window["messages"]), redact)
        except ProcessorTimeError:  # it costs the other windows nothing
            told = {"unusable": "judging it used more processor time than one job may"}
        except SkilldError as error:
            spent = asdict(backend.usage - before)
            if isinstance(error, RetryError):
                wait = {"retry_after": error.after, "usage": spent}
                return result | {"outcome": Outcome.RETRY.value, "detail": str(error)} | wait
            if error.remedy:  # it is the set-up: the next window would fare no better
                failed = {"outcome": Outcome.FAILED.value, "remedy": error.remedy, "usage": spent}
                return result | failed | {"detail": str(error)}
            told = {"unusable": str(error)}
        keep(told | {"window": window["id"], "model": backend.name, "usage": asdict(backend.usage - before)})
    return result | {"usage": asdict(Usage())}


def price(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the tokens of the job's models cost, None for each whose price is not known."""
    found = {model: prices(model) for model in job["models"]}
    told = {model: asdict(rates) if rates else None for model, rates in found.items()}
    return {"outcome": Outcome.NOTHING.value, "detail": "", "rates": told}


def messages_of(items: list[dict[str, Any]]) -> list[Message]:
    """Return messages from a job's JSON."""
    return [Message(**{**item, "how": How(item["how"]) if item["how"] else None}) for item in items]


def _about(backend: Backend, skill: Mapping[str, Any], messages: list[Message], redact: Redact) -> dict[str, Any]:
    stand_in = Loaded(SkillRef(skill["name"], ""), b"", SkillDoc(**skill))
    judge = Judge(backend, messages, [stand_in], "", redact)
    verdict = judge.verdict()
    return {"updates": [_said(update, messages) for update in _wanted(verdict)], "left_out": _why(judge, verdict)}


def _wanted(verdict: Verdict) -> list[Update]:
    """Return what the person said in words of their own: what they only agreed to has no words to rest on."""
    return [item.update for item in verdict.proposed if not item.by_assent]


def _why(judge: Judge, verdict: Verdict) -> int:
    agreed = sum(item.by_assent for item in verdict.proposed)
    return len(judge.unusable) + len(verdict.faults) + len(verdict.dropped) + len(verdict.learned) + agreed


def _said(update: Update, messages: list[Message]) -> dict[str, Any]:
    key = next((message.turn_key for message in messages if message.turn == update.turn), None)
    return {
        "turn": key or "",
        "quote": update.quote,
        "change": update.change,
        "kind": update.kind.value,
        "confidence": update.confidence,
    }


# One skill that is there, and what was said about it in past sessions: an edit like that of a batch.
#
# The words come with the job, redacted: they were read from several transcripts, and confirmed there, before.


def extend(job: Mapping[str, Any], redact: Redact) -> dict[str, Any]:
    """Return the edit that makes the job's skill say its updates, or why there is none."""
    backend = make(Spec(**job["backend"]))
    result: dict[str, Any] = {"outcome": Outcome.NOTHING.value, "detail": "", "model": backend.name, "operations": []}
    try:
        loaded, unfit = load_skills([SkillRef(job["skill"], job["path"])])
        if not loaded:
            return result | {"detail": "; ".join(why for _, why in unfit)}
        messages = messages_of(job["messages"])
        updates = [
            Update(1, "", item["change"], "", Kind(item["kind"]), item["turn"], item["quote"], item["confidence"])
            for item in job["updates"]
        ]
        verdict = verify(updates, messages, [loaded[0].doc], sure=0.0)
        checked = [item for item in verdict.proposed if not item.by_assent]
        if not checked:
            return result | {"detail": "; ".join([*verdict.dropped, *verdict.faults])}
        composed = Judge(backend, messages, loaded, "", redact).edit(loaded[0], checked)
    except SkilldError as error:
        outcome = Outcome.RETRY if isinstance(error, RetryError) else Outcome.REFUSED
        return result | {"outcome": outcome.value, "detail": str(error), "usage": asdict(backend.usage)}
    return result | {
        "outcome": Outcome.PROPOSED.value,
        "operations": [asdict(operation) for operation in composed.operations],
        "flags": list(composed.flags),
        "changes": [item.update.change for item in composed.checked],
        "turns": [item.update.turn for item in composed.checked],
        "usage": asdict(backend.usage),
    }
