"""A stale proposal made anew by the configured back-end, for the skill as the person has it now.

Its batch has no turns: budget, tries and what is said of them are those of any batch. As there, what the model answered
is kept by the daemon before the branch is touched. A job that was killed in between stages the same edit again, and
finds it by its id where that was done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skilld.classify.backends import OFFLINE, Spec, make
from skilld.classify.json_answer import BadReplyError
from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.pipeline.documents import why_session_left_alone
from skilld.proposals.remake import made_anew
from skilld.proposals.results import proposal_from_json, proposal_to_json
from skilld.proposals.staging_result import Staged
from skilld.proposals.submit import stage, texts
from skilld.skills import why_left_alone
from skilld.types import Cause, Outcome, Proposal, State

Keep = Callable[[dict[str, Any]], None]


def remake(job: Mapping[str, Any], keep: Keep) -> dict[str, Any]:
    """Do the job and return its result; nothing is done where the person decided on the proposal meanwhile."""
    if not job["stale"] or job["stale"]["state"] != State.STALE:
        return _ended(Outcome.NOTHING)
    stale = proposal_from_json(job["stale"])
    if plan := job.get("plan"):
        try:
            return _put(job, proposal_from_json(plan["proposals"][0]))
        except (RefusedError, RetryError) as error:
            return _failed(error, stale.path)
        except SkilldError:
            pass  # the skill was edited again since
    backend = make(Spec(**job["backend"]))
    try:
        if unwanted := why_session_left_alone(job["cwd"]) or why_left_alone(Path(stale.path), stale.skill):
            return _ended(Outcome.NOTHING, unwanted)
        made = made_anew(stale, *texts(stale), backend)
    except SkilldError as error:
        return _failed(error) | {"model": backend.name, "usage": asdict(backend.usage)}
    keep({"model": backend.name, "usage": asdict(backend.usage), "proposals": [proposal_to_json(made)]})
    try:
        return _put(job, made)
    except SkilldError as error:
        return _failed(error, stale.path)


def _put(job: Mapping[str, Any], made: Proposal) -> dict[str, Any]:
    """Stage what was made; where the person is at work on the branch it is open, and waits as a new one would."""
    staged = Staged(by_code=job["backend"]["model"] == OFFLINE)
    standing = [proposal_from_json(item) for item in job["open"]]
    is_new = stage(made, standing, staged, [name for name in job["closed"] if name != made.id], alone=True)
    changes = staged.changes()
    if not is_new or staged.made[0].id != made.id:
        return _ended(Outcome.NOTHING, "the skill, or an open proposal, says it already") | changes
    done = staged.made[0]
    decision = [done.id, State.STALE.value, State.OPEN.value, done.commit, done.note]
    changes["decisions"] = [decision, *changes["decisions"]]
    changes["remade"] = [proposal_to_json(done), *changes["remade"]]
    return _ended(Outcome.PROPOSED) | changes


def _ended(outcome: Outcome, detail: str = "") -> dict[str, Any]:
    return {"outcome": outcome.value, "detail": detail}


def _failed(error: SkilldError, place: str = "") -> dict[str, Any]:
    """Return the result that an error is; one of staging names the `place` of the skill."""
    detail = str(error)
    if isinstance(error, RetryError):
        return _ended(Outcome.RETRY, detail) | {"retry_after": error.after}
    if isinstance(error, BadReplyError):
        return _ended(Outcome.REFUSED, detail) | _because(Cause.ANSWER)
    if place and isinstance(error, RefusedError):
        return _ended(Outcome.REFUSED, detail) | _because(Cause.REPOSITORY, place, error.remedy)
    is_set_up = bool(error.remedy) and not isinstance(error, RefusedError)  # a refused key: until the person says so
    return _ended(Outcome.FAILED if is_set_up else Outcome.REFUSED, detail)


def _because(cause: Cause, place: str = "", remedy: str = "") -> dict[str, Any]:
    return {"cause": {"what": cause.value, "place": place, "remedy": remedy}}
