"""Has the configured back-end regenerate a stale proposal for the skill as it is now.

Its batch has no turns: budget, tries and what is said of them are those of any batch. As there, what the model answered
is kept by the daemon before the branch is touched. A job that was killed in between stages the same edit again, and
finds it by its id where that was done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from skilld.classify.backends import OFFLINE, AwayError, make
from skilld.classify.json_answer import BadReplyError
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.pipeline.documents import session_opt_out
from skilld.proposals.remake import remake_proposal
from skilld.proposals.staging import original_and_current, stage
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import BatchResult, Blame, Remake
from skilld.skills import opt_out
from skilld.skills.find import NotUnderstoodError
from skilld.types import Cause, Outcome, Proposal, State, StateChange


def remake(job: Remake, keep: Callable[[BatchResult], None]) -> BatchResult:
    """Do the job and return its result; nothing is done where the person decided on the proposal meanwhile."""
    stale = job.stale
    if stale is None or stale.state is not State.STALE:
        return BatchResult(outcome=Outcome.NOTHING)
    if plan := job.batch.plan:
        try:
            return _put(job, plan.proposals[0])
        except (RefusedError, RetryError) as error:
            return _failed(error, stale.path)
        except SkilldError:
            pass  # the skill was edited again since
    backend = make(job.backend)
    try:
        of_file = opt_out(Path(stale.path), stale.skill, stale.target)
        if unwanted := session_opt_out(job.batch.cwd) or of_file:
            return BatchResult(outcome=Outcome.NOTHING, detail=unwanted)
        made = remake_proposal(stale, *original_and_current(stale), backend)
    except AwayError:
        raise
    except SkilldError as error:
        return replace(_failed(error), model=backend.name, usage=backend.usage)
    keep(BatchResult(outcome=Outcome.PROPOSED, model=backend.name, usage=backend.usage, proposals=(made,)))
    try:
        return _put(job, made)
    except SkilldError as error:
        return _failed(error, stale.path)


def _put(job: Remake, made: Proposal) -> BatchResult:
    """Stage what was made; where the person is at work on the branch it is open, and waits as a new one would."""
    staged = StagingResult(by_code=job.backend.model == OFFLINE, most_tokens=job.most_tokens)
    is_new = stage(made, job.open, staged, [name for name in job.closed if name != made.id], alone=True)
    changes = staged.changes()
    if not is_new or staged.made[0].id != made.id:
        said = "the file or an open proposal already says this"
        return BatchResult(outcome=Outcome.NOTHING, detail=said, changes=changes)
    done = staged.made[0]
    reopened = StateChange(done.id, State.STALE, State.OPEN, done.commit, done.note)
    decisions, remade = (reopened, *changes.decisions), (done, *changes.remade)
    return BatchResult(outcome=Outcome.PROPOSED, changes=replace(changes, decisions=decisions, remade=remade))


def _failed(error: SkilldError, place: str = "") -> BatchResult:
    """Return the result that an error is; one of staging names the `place` of the skill."""
    detail = str(error)
    if isinstance(error, RetryError):
        return BatchResult(outcome=Outcome.RETRY, detail=detail, retry_after=error.after)
    if isinstance(error, BadReplyError):
        return BatchResult(outcome=Outcome.REFUSED, detail=detail, cause=Blame(Cause.ANSWER))
    if isinstance(error, NotUnderstoodError):
        return BatchResult(outcome=Outcome.REFUSED, detail=detail, cause=Blame(Cause.REPOSITORY, str(error.path)))
    if place and isinstance(error, RefusedError):
        return BatchResult(outcome=Outcome.REFUSED, detail=detail, cause=Blame(Cause.REPOSITORY, place, error.remedy))
    is_set_up = bool(error.remedy) and not isinstance(error, RefusedError)  # a refused key: until the person says so
    return BatchResult(outcome=Outcome.FAILED if is_set_up else Outcome.REFUSED, detail=detail)
