"""Falls back to the offline rules if the agent that should judge cannot be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from skilld.classify.backends import OFFLINE, Spec, UnavailableError
from skilld.protocol import AnalyseBatch, BatchResult, Outage, RemakeProposal
from skilld.types import Outcome

BatchWork = TypeVar("BatchWork", AnalyseBatch, RemakeProposal)


def with_offline_fallback(job: BatchWork, do: Callable[[BatchWork], BatchResult]) -> BatchResult:
    """Return the result of `do`, which reports an outage if the agent could not be asked."""
    try:
        return do(job)
    except UnavailableError as error:
        away = Outage(error.cause, error.remedy, error.limit, error.after)
        model, usage, detail = job.backend.model, error.usage, str(error)
    if away.limit:
        return BatchResult(outcome=Outcome.RETRY, detail=detail, model=model, usage=usage, away=away)
    done = do(replace(job, backend=Spec(OFFLINE)))
    return replace(done, model=model, usage=usage + done.usage, away=away)
