"""Short questions to a back-end: whether it answers, and closed questions about numbered things."""

from __future__ import annotations

from collections.abc import Callable

from skilld.classify.backends import make_backend
from skilld.classify.backends.model import Model
from skilld.classify.partial_results import SkillTitle, TitleResult
from skilld.classify.question_jobs import (
    FindRedundancy,
    GroupRequests,
    MatchSkills,
    SelectLines,
    TestBackend,
    TitleSkills,
)
from skilld.errors import RetryError, SkilldError
from skilld.protocol import MatchResult, NumbersResult, RedundancyResult, Result
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


def title_skills(job: TitleSkills, redact: Callable[[str], str], keep: Callable[[TitleResult], None]) -> Result:
    """Ask for the titles of the job's skills in one question; the offline back-end has none.

    The caller stores and charges the answer when it is reported, so that nothing paid for is lost, and checks it.
    """
    backend = make_backend(job.backend)
    if not isinstance(backend, Model):
        return Result(outcome=Outcome.NOTHING, model=backend.name)
    try:
        titles = backend.name_skills([redact(text) for text in job.texts])
    except SkilldError as error:
        return Result(outcome=Outcome.FAILED, detail=str(error), model=backend.name, usage=backend.usage)
    named = tuple(SkillTitle(number, one.name, one.description, one.title) for number, one in titles.items())
    keep(TitleResult(named, backend.name, backend.usage))
    return Result(outcome=Outcome.NOTHING, model=backend.name)


def choose(job: FindRedundancy | MatchSkills | GroupRequests | SelectLines, redact: Callable[[str], str]) -> Result:
    """Ask a closed question about numbered things; offline chooses none."""
    match job:
        case FindRedundancy():
            return find_redundancy(job, redact)
        case MatchSkills():
            return match_skills(job, redact)
        case _:
            return find_numbers(job, redact)


def find_redundancy(job: FindRedundancy, redact: Callable[[str], str]) -> RedundancyResult:
    """Ask which parts of the job's file are redundant, and for shorter texts of others; offline finds none."""
    backend = make_backend(job.backend)
    if not isinstance(backend, Model):
        return RedundancyResult(outcome=Outcome.NOTHING, model=backend.name)
    try:
        named = backend.find_spare_parts([*zip(job.numbers, map(redact, job.parts), strict=True)])
    except SkilldError as error:
        return RedundancyResult(outcome=Outcome.FAILED, detail=str(error), model=backend.name, usage=backend.usage)
    same = {str(number): other for number, other, text in named if not text}
    texts = {str(number): text for number, _, text in named if text}
    return RedundancyResult(outcome=Outcome.NOTHING, model=backend.name, usage=backend.usage, same=same, text=texts)


def match_skills(job: MatchSkills, redact: Callable[[str], str]) -> MatchResult:
    """Ask which of the job's skills fit its task; offline finds none."""
    backend = make_backend(job.backend)
    if not isinstance(backend, Model):
        return MatchResult(outcome=Outcome.NOTHING, model=backend.name)
    try:
        numbers = backend.find_fitting(redact(job.text), [redact(one) for one in job.skills])
    except SkilldError as error:
        return MatchResult(outcome=Outcome.FAILED, detail=str(error), model=backend.name, usage=backend.usage)
    return MatchResult(outcome=Outcome.NOTHING, model=backend.name, usage=backend.usage, numbers=tuple(numbers))


def find_numbers(job: GroupRequests | SelectLines, redact: Callable[[str], str]) -> NumbersResult:
    """Ask which of the job's requests are one task, or which lines of its drafts to keep; offline finds none."""
    backend = make_backend(job.backend)
    if not isinstance(backend, Model):
        return NumbersResult(outcome=Outcome.NOTHING, model=backend.name)
    try:
        if isinstance(job, GroupRequests):
            numbers = backend.group_requests([*map(redact, job.requests)])
        else:
            numbers = backend.select_lines([*map(redact, job.drafts)], job.lines)
    except SkilldError as error:
        return NumbersResult(outcome=Outcome.FAILED, detail=str(error), model=backend.name, usage=backend.usage)
    told = tuple(map(tuple, numbers))
    return NumbersResult(outcome=Outcome.NOTHING, model=backend.name, usage=backend.usage, numbers=told)
