"""Small questions to a back-end: does it answer, names for new skills, what a file can do without."""

from __future__ import annotations

from collections.abc import Callable

from skilld.classify.backends import make
from skilld.classify.backends.model import Model
from skilld.classify.partial_results import SkillTitle, TitleResult
from skilld.errors import RetryError, SkilldError
from skilld.protocol import Ask, Entitle, Fit, FitResult, Result, Spare, SpareResult
from skilld.types import Message, Outcome

# The shortest of the kind that batches ask; nothing of the person's is in it.
_QUESTION = (Message("thanks", turn=1, turn_key="doctor"),)


def ask(job: Ask) -> Result:
    """Return the job's result: `nothing` where the answer could be read, else what went wrong and its remedy."""
    backend = make(job.backend)
    outcome, detail, remedy = Outcome.NOTHING, "", ""
    try:
        backend.detect(_QUESTION, ())
    except SkilldError as error:
        outcome = Outcome.RETRY if isinstance(error, RetryError) else Outcome.FAILED
        detail, remedy = str(error), error.remedy
    return Result(outcome=outcome, detail=detail, remedy=remedy, usage=backend.usage)


def title(job: Entitle, redact: Callable[[str], str], keep: Callable[[TitleResult], None]) -> Result:
    """Ask for the names of the job's skills, in one question; offline has none to give.

    Whoever started the job keeps and books the answer when it is told, so that nothing that was paid for is lost; what
    of it may stand is decided there.
    """
    backend = make(job.backend)
    if not isinstance(backend, Model):
        return Result(outcome=Outcome.NOTHING, model=backend.name)
    try:
        titles = backend.entitle([redact(text) for text in job.texts])
    except SkilldError as error:
        return Result(outcome=Outcome.FAILED, detail=str(error), model=backend.name, usage=backend.usage)
    told = tuple(SkillTitle(number, one.name, one.description, one.title) for number, one in titles.items())
    keep(TitleResult(told, backend.name, backend.usage))
    return Result(outcome=Outcome.NOTHING, model=backend.name)


def spare(job: Spare, redact: Callable[[str], str]) -> SpareResult:
    """Ask which parts of the job's file are said twice, and for shorter texts of others; offline has no opinion."""
    backend = make(job.backend)
    if not isinstance(backend, Model):
        return SpareResult(outcome=Outcome.NOTHING, model=backend.name)
    try:
        named = backend.spare([*zip(job.numbers, map(redact, job.parts), strict=True)])
    except SkilldError as error:
        return SpareResult(outcome=Outcome.FAILED, detail=str(error), model=backend.name, usage=backend.usage)
    same = {str(number): other for number, other, text in named if not text}
    texts = {str(number): text for number, _, text in named if text}
    return SpareResult(outcome=Outcome.NOTHING, model=backend.name, usage=backend.usage, same=same, text=texts)


def fit(job: Fit, redact: Callable[[str], str]) -> FitResult:
    """Ask which of the job's skills its work is for; offline has no opinion."""
    backend = make(job.backend)
    if not isinstance(backend, Model):
        return FitResult(outcome=Outcome.NOTHING, model=backend.name)
    try:
        numbers = backend.fits(redact(job.text), [redact(one) for one in job.skills])
    except SkilldError as error:
        return FitResult(outcome=Outcome.FAILED, detail=str(error), model=backend.name, usage=backend.usage)
    return FitResult(outcome=Outcome.NOTHING, model=backend.name, usage=backend.usage, numbers=tuple(numbers))
