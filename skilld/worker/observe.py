"""A look at what people did with proposals in plain git: observations to decisions, and the branch made fit again.

Runs in a worker for the daemon, and in the command line's own process before it shows proposals. Reads no store: what
is known comes in, what changes goes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skilld.decide.observe import observe as look
from skilld.decide.settle import settle
from skilld.errors import SkilldError
from skilld.propose.staging import rebuild
from skilld.types import Outcome, Proposal, State
from skilld.wire import proposal_from_json, proposal_to_json
from skilld.worker.staging import Staged, stage, standing_of


def observe(job: Mapping[str, Any]) -> dict[str, Any]:
    """Look at every repository of the job's proposals. A repository that cannot be read is named, not fatal."""
    result: dict[str, Any] = {"outcome": Outcome.NOTHING.value, "detail": "", "decisions": [], "missing": {}}
    result |= {"moved": [], "committed": []}
    proposals = [proposal_from_json(item) for item in job["proposals"]]
    trouble = []
    for repo in sorted({proposal.repo for proposal in proposals}):
        mine = [proposal for proposal in proposals if proposal.repo == repo]
        try:
            _one(repo, mine, job, result)
        except SkilldError as error:
            trouble.append(str(error))
    return result | {"detail": "; ".join(trouble)}


def _one(repo: str, proposals: list[Proposal], job: Mapping[str, Any], result: dict[str, Any]) -> None:
    still_open: list[Proposal] = []
    decided: list[str] = []
    committed = [proposal for proposal in proposals if proposal.commit]
    for proposal, seen in zip(committed, look(Path(repo), committed), strict=True):
        after = settle(proposal, seen, job["missing"].get(proposal.id), job["now"])
        if after.missing_since is not None:
            result["missing"][proposal.id] = after.missing_since
        if after.state is not proposal.state or after.note != proposal.note:
            result["decisions"].append([proposal.id, after.state.value, after.commit, after.note])
        if after.state is State.OPEN:
            still_open.append(proposal)
        elif proposal.state is State.OPEN:
            decided.append(proposal.id)
    if decided and still_open:
        _remake(repo, still_open, decided, result)
    for waiting in proposals:
        if waiting.state is State.OPEN and not waiting.commit:
            _try_again(waiting, still_open, result)


def _remake(repo: str, still_open: list[Proposal], decided: list[str], result: dict[str, Any]) -> None:
    line = rebuild(Path(repo), [standing_of(proposal) for proposal in still_open], decided)
    base = line.rest.commit if line.rest else ""
    result["moved"] += [[name, commit, base] for name, commit in line.moved.items()]
    result["decisions"] += [[name, State.STALE.value, "", why] for name, why in line.stale.items()]


def _try_again(waiting: Proposal, standing: list[Proposal], result: dict[str, Any]) -> None:
    """Commit a proposal that waited for the person's own commit of the skill."""
    staged = Staged()
    try:
        said = not stage(waiting, standing, staged)
    except SkilldError as error:
        result["decisions"].append([waiting.id, State.STALE.value, "", error.cause or error.title])
        return
    if said:
        result["decisions"].append([waiting.id, State.ACCEPTED.value, "", "you wrote it yourself"])
    result["committed"] += [proposal_to_json(proposal) for proposal in staged.made if proposal.commit]
    result["moved"] += [list(item) for item in staged.moved]
