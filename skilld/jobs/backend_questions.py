"""Short questions to a back-end: whether it answers, and closed questions about numbered things."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from skilld.classify.backends import make_backend
from skilld.classify.backends.model import Model
from skilld.classify.closed_questions import drafts, skill_fit, spare_parts, tasks, titles
from skilld.classify.question_jobs import (
    FindRedundancy,
    GroupRequests,
    MatchSkills,
    NumberedQuestion,
    TestBackend,
    Title,
    TitleSkills,
    WordSkills,
)
from skilld.errors import RetryError, SkilldError
from skilld.protocol import ChoiceResult, Result
from skilld.types import Message, Outcome

# The shortest question of the kind that batches ask; it contains nothing of the person's.
_QUESTION = (Message("thanks", turn=1, turn_key="doctor"),)


def test_backend(job: TestBackend) -> Result:
    """Return `nothing` if the answer could be read, or else what went wrong and its remedy."""
    backend = make_backend(job.backend)
    outcome, detail, remedy = Outcome.NOTHING, "", ""
    try:
        backend.detect(_QUESTION, ())
    except SkilldError as error:
        outcome = Outcome.RETRY if isinstance(error, RetryError) else Outcome.FAILED
        detail, remedy = str(error), error.remedy
    return Result(outcome=outcome, detail=detail, remedy=remedy, usage=backend.usage)


def choose(job: NumberedQuestion, redact: Callable[[str], str]) -> ChoiceResult:
    """Ask a closed question about numbered things; offline chooses none."""
    backend = make_backend(job.backend)
    result = ChoiceResult(outcome=Outcome.NOTHING, model=backend.name)
    if not isinstance(backend, Model):
        return result
    try:
        chosen = _ask(backend, job, redact)
    except SkilldError as error:
        return replace(result, outcome=Outcome.FAILED, detail=str(error), usage=backend.usage)
    return replace(result, usage=backend.usage, **chosen)


def _ask(backend: Model, job: NumberedQuestion, redact: Callable[[str], str]) -> dict[str, Any]:
    """Return the fields of the result. Raises SkilldError."""
    match job:
        case FindRedundancy():
            named = backend.answer(spare_parts([*zip(job.numbers, map(redact, job.parts), strict=True)]))
            return {
                "same": {str(number): other for number, other, text in named if not text},
                "text": {str(number): text for number, _, text in named if text},
            }
        case MatchSkills():
            return {"numbers": (tuple(backend.answer(skill_fit(redact(job.text), [*map(redact, job.skills)]))),)}
        case GroupRequests():
            return {"numbers": tuple(map(tuple, backend.answer(tasks([*map(redact, job.requests)]))))}
        case WordSkills():
            return {"drafts": tuple(backend.answer(drafts([*map(redact, job.drafts)], job.lines)))}
        case TitleSkills():
            suggested = backend.answer(titles([*map(redact, job.texts)]))
            return {"titles": tuple(suggested.get(number, Title()) for number, _ in enumerate(job.texts, 1))}
    raise TypeError
