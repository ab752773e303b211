"""Has the configured back-end regenerate a stale proposal for the current version of its skill.

Its batch has no turns; budget, tries and messages are those of any batch. As there, the daemon stores the model's
answer before the branch is changed. After a kill in between, the next try stages the same edit, or finds it by its id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from skilld.classify.backends import OFFLINE, UnavailableError, make_backend
from skilld.classify.json_answer import BadReplyError
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.pipeline.documents import session_opt_out
from skilld.proposals.remake import remake_proposal
from skilld.proposals.staging import original_and_current, stage
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import BatchResult, Obstacle, RemakeProposal
from skilld.skills import opt_out
from skilld.skills.project_config import ProjectConfigError
from skilld.types import Cause, Outcome, Proposal, State, StateChange


def remake_stale(job: RemakeProposal, keep: Callable[[BatchResult], None]) -> BatchResult:
    """Do the job and return its result; nothing is done if the person has decided on the proposal meanwhile."""
    stale = job.stale
    if stale is None or stale.state is not State.STALE:
        return BatchResult(outcome=Outcome.NOTHING)
    if plan := job.batch.plan:
        try:
            return _stage_remade(job, plan.proposals[0])
        except (RefusedError, RetryError) as error:
            return _error_result(error, stale.path)
        except SkilldError:
            pass  # the skill has been edited again
    backend = make_backend(job.backend)
    try:
        of_file = opt_out(Path(stale.path), stale.skill, stale.target)
        if unwanted := session_opt_out(job.batch.cwd) or of_file:
            return BatchResult(outcome=Outcome.NOTHING, detail=unwanted)
        made = remake_proposal(stale, *original_and_current(stale), backend)
    except UnavailableError:
        raise
    except SkilldError as error:
        return replace(_error_result(error), model=backend.name, usage=backend.usage)
    keep(BatchResult(outcome=Outcome.PROPOSED, model=backend.name, usage=backend.usage, proposals=(made,)))
    try:
        return _stage_remade(job, made)
    except SkilldError as error:
        return _error_result(error, stale.path)


def _stage_remade(job: RemakeProposal, made: Proposal) -> BatchResult:
    """Stage the new proposal; if the person is working on the branch, it is open and waits like any other."""
    staged = StagingResult(by_code=job.backend.model == OFFLINE, most_tokens=job.most_tokens)
    is_new = stage(made, job.open, staged, {name: at for name, at in job.closed.items() if name != made.id}, alone=True)
    changes = staged.changes()
    if not is_new or staged.made[0].id != made.id:
        reason = "the file or an open proposal already says this"
        return BatchResult(outcome=Outcome.NOTHING, detail=reason, changes=changes)
    done = staged.made[0]
    reopened = StateChange(done.id, State.STALE, State.OPEN, done.commit, done.note)
    decisions, remade = (reopened, *changes.decisions), (done, *changes.remade)
    return BatchResult(outcome=Outcome.PROPOSED, changes=replace(changes, decisions=decisions, remade=remade))


def _error_result(error: SkilldError, place: str = "") -> BatchResult:
    """Return the result for an error; errors of staging have the `place` of the skill."""
    detail = str(error)
    if isinstance(error, RetryError):
        return BatchResult(outcome=Outcome.RETRY, detail=detail, retry_after=error.after)
    if isinstance(error, BadReplyError):
        return BatchResult(outcome=Outcome.REFUSED, detail=detail, cause=Obstacle(Cause.ANSWER))
    if isinstance(error, ProjectConfigError):
        return BatchResult(outcome=Outcome.REFUSED, detail=detail, cause=Obstacle(Cause.REPOSITORY, str(error.path)))
    if place and isinstance(error, RefusedError):
        return BatchResult(
            outcome=Outcome.REFUSED, detail=detail, cause=Obstacle(Cause.REPOSITORY, place, error.remedy)
        )
    if error.remedy and not isinstance(error, RefusedError):  # the set-up, such as a refused key
        return BatchResult(outcome=Outcome.FAILED, detail=detail, cause=Obstacle(Cause.JUDGE))
    return BatchResult(outcome=Outcome.REFUSED, detail=detail)
