"""Turns what git shows of proposals into decisions, and rebuilds the branch to match.

Runs in a worker for the daemon, and in the command line's own process before it shows proposals. Does not read the
store: the job has what is known, and the result what changed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from skilld.errors import RefusedError, RetryError, SkilldError
from skilld.git import state
from skilld.git.session import shared_git
from skilld.proposals.model import (
    DISCARDED_NOTE,
    FOUND_NOTES,
    REPO_BACK_NOTE,
    REPO_GONE_NOTE,
    GitStatus,
    Observation,
    at_path,
    is_repo_gone,
    next_state,
)
from skilld.proposals.observe import find_repo
from skilld.proposals.observe import observe as observe_repo
from skilld.proposals.repositories import repo_at
from skilld.proposals.staging import restage, stage, unlock_refs
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import GitResult, ObserveProposals
from skilld.types import Outcome, Proposal, State, StateChange

# Proposals of a removed linked work tree still exist in its repository. Which repository that is must be known from the
# time something was staged in the work tree; afterwards nothing shows it any more.


def relocate_proposal(proposal: Proposal, homes: Mapping[str, str]) -> Proposal:
    """Return the proposal as one of another work tree of its repository if its own no longer exists.

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


@dataclass
class _Findings:
    """What was found so far by a job, as in `GitResult`."""

    job: ObserveProposals
    staged: StagingResult = field(default_factory=StagingResult)
    missing: dict[str, float | None] = field(default_factory=dict)
    committed: list[Proposal] = field(default_factory=list)
    branches: dict[str, str] = field(default_factory=dict)
    at: dict[str, float] = field(default_factory=dict)
    places: dict[str, Proposal] = field(default_factory=dict)

    def decide(self, proposal: Proposal, state: State, *, commit: str = "", note: str = "") -> None:
        """Add a decision with the state it was made from: it only holds if that is still the state."""
        self.staged.decisions.append(StateChange(proposal.id, proposal.state, state, commit, note))

    def new_staging_result(self) -> StagingResult:
        """Return an empty staging result with the daemon's settings."""
        return StagingResult(by_code=self.job.by_code, most_tokens=self.job.most_tokens)


@shared_git()
def observe(job: ObserveProposals) -> GitResult:
    """Observe every repository of the job's proposals. A repository that cannot be read is named, not fatal."""
    found = _Findings(job)
    proposals = [relocate_proposal(proposal, job.homes) for proposal in job.proposals]
    was = {one.id: one for one in job.proposals}
    trouble = []
    for repo in sorted({proposal.repo for proposal in proposals}):
        mine = [proposal for proposal in proposals if proposal.repo == repo]
        try:
            _observe_repo(repo, mine, found)
        except SkilldError as error:
            trouble.append(str(error))
    return GitResult(
        outcome=Outcome.NOTHING,
        detail="; ".join(trouble),
        changes=found.staged.changes(),
        missing=found.missing,
        rehomed=tuple(
            one
            for one in (found.places.get(each.id, each) for each in proposals)
            if (one.repo, one.path) != (was[one.id].repo, was[one.id].path)
        ),
        committed=tuple(found.committed),
        branches=found.branches,
        at=found.at,
        decisions=job.decisions,
    )


def _observe_repo(repo: str, proposals: list[Proposal], found: _Findings) -> None:
    job = found.job
    still_open: list[Proposal] = []
    undecided: set[str] = set()
    discarded: list[Proposal] = []
    lost: list[Proposal] = []
    there = False
    committed = [proposal for proposal in proposals if proposal.commit or _ended_waiting(proposal)]
    for proposal, seen in zip(committed, observe_repo(Path(repo), committed), strict=True):
        there = there or seen.seen is not GitStatus.GONE
        proposal = found.places[proposal.id] = at_path(proposal, seen.relpath)  # noqa: PLW2901 - where it is now
        if seen.seen is GitStatus.GONE and seen.note and (proposal.state is State.OPEN or is_repo_gone(proposal)):
            undecided.add(proposal.id)  # another clone at the same place: its edit is still known
            lost.append(replace(proposal, commit="", base=""))
            continue
        after = next_state(proposal, seen, job.missing.get(proposal.id), job.now)
        if seen.seen is GitStatus.DISCARDED:
            discarded.append(replace(proposal, note=seen.note))
            continue
        if (after.state, after.note) != (proposal.state, proposal.note) or after.commit:
            found.decide(proposal, after.state, commit=after.commit, note=after.note)
            found.at[proposal.id] = seen.at or job.missing.get(proposal.id, 0.0)
        if after.state in _UNDECIDED:
            undecided.add(proposal.id)
            found.missing[proposal.id] = after.missing_since
        if after.state is State.OPEN:
            still_open.append(_with_amended_text(proposal, seen, found))
            if seen.branch not in {"", proposal.branch}:
                found.branches[proposal.id] = seen.branch
    decided = [proposal.id for proposal in committed if proposal.state in _UNDECIDED and proposal.id not in undecided]
    closed = dict.fromkeys(decided, math.inf)
    closed |= {name: at for name, at in job.closed.items() if name not in undecided}
    if there:  # even with nothing open: a decision may have found the branch in use or locked
        bases = {proposal.base for proposal in committed if proposal.commit}
        still_open = _rebuild(repo, still_open, closed, found, bases)
    closed = {name: at for name, at in closed.items() if name not in {proposal.id for proposal in discarded}}
    proposals = [found.places.get(proposal.id, proposal) for proposal in proposals]
    _stage_waiting([*proposals, *discarded, *lost], still_open, closed, found)


def _with_amended_text(proposal: Proposal, seen: Observation, found: _Findings) -> Proposal:
    """Return an open proposal with the text that the person gave it on the staging branch, if they did."""
    if seen.seen not in {GitStatus.NOTHING, GitStatus.BUSY} or not seen.commit:
        return proposal
    from skilld.proposals.person_text import adopt_amended  # rarely needed

    changed = adopt_amended(repo_at(proposal.repo), proposal, seen.commit)
    if changed is None:
        return proposal
    found.committed.append(changed)
    return changed


def _ended_waiting(proposal: Proposal) -> bool:
    """Whether a proposal was decided before it had a commit: what git shows of its lines counts."""
    return bool(proposal.relpath) and proposal.state not in {State.OPEN, State.STALE}


def _stage_waiting(
    proposals: list[Proposal], still_open: list[Proposal], closed: Mapping[str, float], found: _Findings
) -> None:
    """Stage the proposals that wait for a commit or for the branch to be free, and those that were thrown away."""
    is_there = _is_there(proposals)
    for proposal in proposals:
        waits = proposal.state is State.OPEN and not proposal.commit
        was_discarded = proposal.state is State.ACCEPTED and proposal.note == DISCARDED_NOTE
        if waits and not is_there:
            found.decide(proposal, State.STALE, note=REPO_GONE_NOTE)
        elif is_repo_gone(proposal) and not proposal.commit and is_there:
            found.decide(proposal, State.OPEN, note=REPO_BACK_NOTE)
            still_open += _retry_staging(replace(proposal, state=State.OPEN), still_open, closed, found)
        elif waits or was_discarded:
            still_open += _retry_staging(proposal, still_open, closed, found)


def _is_there(proposals: list[Proposal]) -> bool:
    """Whether the repository of these proposals exists; true if none of them waits for it, or it cannot be told."""
    waiting = next((proposal.repo for proposal in proposals if proposal.repo and not proposal.commit), "")
    try:
        return not waiting or find_repo(Path(waiting)) is not None
    except SkilldError:
        return True


def _rebuild(
    repo: str, still_open: list[Proposal], dropped: Mapping[str, float], found: _Findings, bases: Collection[str]
) -> list[Proposal]:
    """Rebuild the branch after decisions or changes to a skill; return the proposals that are still open."""
    if found.job.alone:
        unlock_refs(repo)
    if not found.job.rebuild:
        return still_open
    staged = found.new_staging_result()
    restage(repo, still_open, staged, dropped, bases=bases)
    found.staged.add_outcome(staged)
    ended = {one.proposal for one in staged.decisions}
    remade = {proposal.id: proposal for proposal in staged.remade}
    now = {proposal.id: remade.get(proposal.id, proposal) for proposal in still_open if proposal.id not in ended}
    now |= {moved.proposal: moved.apply(now[moved.proposal]) for moved in staged.moved}
    return [*now.values()]


def _retry_staging(
    waiting: Proposal, open_proposals: list[Proposal], dropped: Mapping[str, float], found: _Findings
) -> list[Proposal]:
    """Try to commit a proposal that waited for the person's own commit of the skill, or for the branch to be free.

    Or put one back that was accepted into its file alone and thrown away there: if that is not possible now, it stays
    accepted until the next observation. Returns the proposal if it was committed.
    """
    was_discarded = waiting.state is State.ACCEPTED
    staged = found.new_staging_result()
    try:
        restored = bool(waiting.landed) or was_discarded  # commits that name it may be in the history
        again = replace(waiting, state=State.OPEN)
        is_staged = stage(again, open_proposals, staged, dropped, alone=found.job.alone, restored=restored)
    except (RefusedError, RetryError):
        return []  # it still waits
    except SkilldError as error:
        found.decide(waiting, State.STALE, note=error.cause or error.title)
        return []
    made = staged.made
    if was_discarded and is_staged:
        made = [replace(one, note=one.note or waiting.note) for one in made]
        found.decide(waiting, State.OPEN, note=made[0].note)
    elif was_discarded:
        found.decide(waiting, State.SUPERSEDED, note="another open proposal already says this")
    elif not is_staged:
        found.decide(waiting, State.ACCEPTED, note=FOUND_NOTES[1])
    committed = [proposal for proposal in made if proposal.commit]
    if not (was_discarded or committed) and made and made[0].note != waiting.note:
        found.decide(waiting, State.OPEN, note=made[0].note)  # it waits for something else now
    found.committed += made if was_discarded else committed
    found.staged.add_outcome(staged)
    return committed
