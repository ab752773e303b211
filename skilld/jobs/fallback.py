"""Judges by the rules alone where the agent that should judge cannot be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from skilld.classify.backends import OFFLINE, AwayError, Spec
from skilld.protocol import Analyse, Away, BatchResult, Remake
from skilld.types import Outcome

Judged = TypeVar("Judged", Analyse, Remake)


def judged(job: Judged, do: Callable[[Judged], BatchResult]) -> BatchResult:
    """Return what `do` makes of the job; the result says where its agent could not be asked."""
    try:
        return do(job)
    except AwayError as error:
        away = Away(error.cause, error.remedy, error.limit, error.after)
        model, usage, said = job.backend.model, error.usage, str(error)
    if away.limit:
        return BatchResult(outcome=Outcome.RETRY, detail=said, model=model, usage=usage, away=away)
    done = do(replace(job, backend=Spec(OFFLINE)))
    return replace(done, model=model, usage=usage + done.usage, away=away)
