"""A look at what people did with proposals in plain git: observations to decisions, and the branch made fit again.

Runs in a worker for the daemon, and in the command line's own process before it shows proposals. Reads no store: what
is known comes in, what changes goes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.git import state
from skilld.proposals.observe import observe as look
from skilld.proposals.outcomes import Seen, settle
from skilld.proposals.results import operations_from_json, proposal_from_json, proposal_to_json
from skilld.proposals.staging_result import Staged
from skilld.proposals.submit import private_repositories, restage, stage, unlock
from skilld.types import Outcome, Proposal, State

# Proposals of a linked work tree that was removed: its repository is still there, and so are they.
#
# Where a linked work tree belongs is known from when something was staged in it; afterwards nothing tells it any
# more.


def at_home(proposal: Proposal, homes: Mapping[str, str]) -> Proposal:
    """Return the proposal as one of another work tree of its repository, where its own is not there any more.

    `homes` has the common git directory of each linked work tree by its address.
    """
    common_dir = homes.get(proposal.repo)
    if common_dir is None or Path(proposal.repo).exists():
        return proposal
    home = next(iter(state.work_trees(Path(common_dir))), None)
    if home is None:
        return proposal
    path = home / Path(proposal.path).relative_to(proposal.repo)
    return replace(proposal, repo=str(home), path=str(path))


_UNDECIDED = frozenset({State.OPEN, State.DROPPED})


def observe(job: Mapping[str, Any]) -> dict[str, Any]:
    """Look at every repository of the job's proposals. A repository that cannot be read is named, not fatal."""
    result: dict[str, Any] = {"outcome": Outcome.NOTHING.value, "detail": "", "decisions": [], "missing": {}}
    result |= {
        "moved": [],
        "remade": [],
        "refitted": [],
        "committed": [],
        "branches": [],
        "rests": {},
        "homes": {},
        "at": {},
    }
    known = [proposal_from_json(item) for item in job["proposals"]]
    proposals = [at_home(proposal, job.get("homes", {})) for proposal in known]
    result["rehomed"] = [[now.id, now.repo, now.path] for now, was in zip(proposals, known, strict=True) if now != was]
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
    undecided: set[str] = set()
    there = False
    committed = [proposal for proposal in proposals if proposal.commit]
    for proposal, seen in zip(committed, look(Path(repo), committed, private_repositories()), strict=True):
        there = there or seen.seen is not Seen.GONE
        after = settle(proposal, seen, job["missing"].get(proposal.id), job["now"])
        if after.state is not proposal.state or after.note != proposal.note:
            _decide(proposal, after.state, result, commit=after.commit, note=after.note)
            result["at"][proposal.id] = seen.at or job["missing"].get(proposal.id, 0.0)
        if after.state in _UNDECIDED:
            undecided.add(proposal.id)
            result["missing"][proposal.id] = after.missing_since
        if after.state is State.OPEN:
            still_open.append(proposal)
            result["branches"] += [[proposal.id, seen.branch]] if seen.branch not in {"", proposal.branch} else []
    alone = bool(job.get("alone"))
    decided = [proposal.id for proposal in committed if proposal.state in _UNDECIDED and proposal.id not in undecided]
    closed = [*decided, *(name for name in job.get("closed", ()) if name not in undecided)]
    if there:  # with nothing open, too: a decision may have found the branch in use, or a lock on it
        if alone:
            unlock(repo)
        still_open = _remake(repo, still_open, closed, result, Staged(by_code=job.get("by_code", True)))
    for waiting in proposals:
        if waiting.state is State.OPEN and not waiting.commit:
            staged = Staged(by_code=job.get("by_code", True))
            still_open += _try_again(waiting, still_open, closed, result, staged, alone=alone)


def _remake(
    repo: str, still_open: list[Proposal], dropped: list[str], result: dict[str, Any], staged: Staged
) -> list[Proposal]:
    """Make the branch again where something was decided or a skill moved on; returns what is open then."""
    restage(repo, still_open, staged, dropped)
    _merge(staged, result)
    ended = {name for name, *_ in staged.decisions}
    remade = {proposal.id: proposal for proposal in staged.remade}
    found = {proposal.id: remade.get(proposal.id, proposal) for proposal in still_open if proposal.id not in ended}
    for name, commit, base in staged.moved:
        found[name] = replace(found[name], commit=commit, base=base)
    for name, rows, _ in staged.refitted:
        found[name] = replace(found[name], operations=operations_from_json(rows))
    return [*found.values()]


def _try_again(
    waiting: Proposal,
    standing: list[Proposal],
    dropped: list[str],
    result: dict[str, Any],
    staged: Staged,
    *,
    alone: bool,
) -> list[Proposal]:
    """Commit a proposal that waited for the person's own commit of the skill, or for the branch to be free.

    Returns it where it is a commit now.
    """
    try:
        said = not stage(waiting, standing, staged, dropped, alone=alone)
    except (RefusedError, RetryError):
        return []  # it waits on
    except SkilldError as error:
        _decide(waiting, State.STALE, result, note=error.cause or error.title)
        return []
    if said:
        _decide(waiting, State.ACCEPTED, result, note="you wrote it yourself")
    committed = [proposal for proposal in staged.made if proposal.commit]
    result["committed"] += [proposal_to_json(proposal) for proposal in committed]
    _merge(staged, result)
    return committed


def _decide(proposal: Proposal, state: State, result: dict[str, Any], *, commit: str = "", note: str = "") -> None:
    """Note a decision, with the state it was made from: it holds only where that is still so."""
    result["decisions"].append([proposal.id, proposal.state.value, state.value, commit, note])


def _merge(staged: Staged, result: dict[str, Any]) -> None:
    result["moved"] += staged.moved
    result["refitted"] += staged.refitted
    result["decisions"] += staged.decisions
    result["remade"] += [proposal_to_json(proposal) for proposal in staged.remade]
    result["rests"] |= staged.rests
    result["homes"] |= staged.homes
