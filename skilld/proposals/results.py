"""Writes a worker's result to the store, and who is recorded for a decision made with plain git."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.clock import parse_time, rfc3339
from skilld.git.same_project import project_root
from skilld.proposals.model import REPO_GONE_NOTE, without_remark
from skilld.proposals.passed_over import build_learning, forget, remember_passed_over, store_withdrawals
from skilld.proposals.remarks import DECIDED_STATES
from skilld.proposals.staging_result import StagingResult
from skilld.protocol import BatchJob, BatchResult
from skilld.store import Store
from skilld.store.batches import REMAKE_PREFIX, StoredBatch
from skilld.store.learnings import Learning
from skilld.store.meta import ACTIVE_SETTINGS, COMMON_GIT_DIRS, GIT_POLLED_AT, MERGE_WARNINGS
from skilld.store.proposals import MAYBE_AGENTS_PREFIX
from skilld.store.transcripts import ActiveSession
from skilld.types import Changes, ClosedBy, Proposal, SkillRef, State, StateChange

WAITING_KIND = "waiting"  # the kind of the job of a batch that judges a learning again
_TRUSTED_SECONDS = 86400.0  # how old the commit of a decision may be to be its time


def record_result(
    store: Store, batch: StoredBatch, result: BatchResult, now: float, *, proposed_now: Sequence[Proposal] = ()
) -> list[Proposal]:
    """Store the proposals, learnings, moved commits and costs of one result; return the new proposals.

    `proposed_now` are the other proposals that are about to be made from the same batch.
    """
    known = judged_again(store, batch)
    for one in known:  # judged again: they now have a place, or we know which one they wait for
        if result.proposals or result.notes or result.supported:
            store.learnings.forget(one.id)
        for item in result.learnings[:1]:
            store.learnings.set_target(one.id, item.place_kind or "", item.place, item.why_kept)
    for name, item in () if known else zip(learning_ids(result, proposed_now), result.learnings, strict=True):
        store.learnings.add(build_learning(name, item, batch, now))
    for said in result.supported:
        store.proposals.add_evidence(said.proposal, said.evidence)
    for said_back in result.taken_back:
        store.proposals.mark_taken_back(said_back.proposal, said_back.quote)
    for note in result.notes:
        store.proposals.add(note)
    new = [proposal.id for proposal in result.proposals if store.proposals.add(proposal)]
    proposed = [learning_id(said.turn, said.quote) for made in result.proposals for said in made.evidence]
    forget(store, {*result.forgotten, *proposed})  # those were only kept until they could be proposed
    remember_passed_over(store, batch, result, now)
    store_withdrawals(store, batch, result, now)
    record_changes(store, result.changes, now)
    return [proposal for name in new if (proposal := store.proposals.get(name)) is not None]


def judged_again(store: Store, batch: StoredBatch) -> list[Learning]:
    """Return the learnings that a batch judges again: one, and others with the same quote; none for other batches.

    Others of the same turn are judged by batches of their own.
    """
    name = batch.id.removeprefix(f"{WAITING_KIND}-").removesuffix("-placed")
    one = store.learnings.get(name) if batch.job.kind == WAITING_KIND else None
    return [same for same in store.learnings.of_turn(one.turn_key) if same.quote == one.quote] if one else []


def temporary_learnings(store: Store, result: BatchResult) -> tuple[str, ...]:
    """Return the IDs of the learnings that are only kept until an obstacle is gone."""
    named = zip(learning_ids(result), result.learnings, strict=True)
    return tuple(store.learnings.existing([name for name, item in named if item.for_now]))


def learning_ids(result: BatchResult, proposed_now: Sequence[Proposal] = ()) -> list[str]:
    """Return the IDs of a result's learnings.

    A learning with the same words as another one, or as a proposal of the same batch, gets a different ID: the row of
    those words is deleted once they are proposed.
    """
    proposed = [said for proposal in (*result.proposals, *proposed_now) for said in proposal.evidence]
    first = {(said.turn, said.quote): "" for said in proposed}
    return [
        learning_id(item.turn, item.quote)
        if first.setdefault((item.turn, item.quote), item.change) == item.change
        else learning_id(item.turn, f"{item.quote}\n{item.change}")
        for item in result.learnings
    ]


def learning_id(turn: str, words: str) -> str:
    """Return the ID of a learning from a turn, with the words that it quotes."""
    return hashlib.sha256(f"{turn}\n{words}".encode()).hexdigest()[:10]


def record_changes(store: Store, changes: Changes, now: float, at: Mapping[str, float] | None = None) -> None:
    """Store what became of proposals: decisions, those applied by auto mode, new commits since a rebuild.

    A decision is ignored if the proposal is no longer in the state it was made from: the person may have decided
    meanwhile. `at` says when some were made.
    """
    for one in changes.decisions:
        proposal = store.proposals.get(one.proposal)
        if proposal is not None and proposal.state is one.before:
            when = (at or {}).get(one.proposal, 0.0)
            who = _decided_by(store, proposal, one, when, now) if one.after in DECIDED_STATES else "git"
            is_new = one.after is not one.before  # else only the note is, which may be empty
            known = without_remark(proposal) if is_new else replace(proposal, note="")
            then = _decision_time(proposal, one, when, now)
            store.proposals.decide(known, one.after, rfc3339(then), who=who, commit=one.commit, note=one.note)
            if one.after is State.STALE and one.note != REPO_GONE_NOTE:
                _queue_remake(store, proposal, now)
    for applied in changes.applied:
        proposal = store.proposals.get(applied.proposal)
        if proposal is not None and proposal.state is State.OPEN:
            note = f"applied automatically; to undo it: skilld revert {proposal.id}"
            store.proposals.decide(proposal, State.ACCEPTED, rfc3339(now), who="auto", commit=applied.commit, note=note)
    _record_remade(store, changes.remade)
    for moved in changes.moved:
        store.proposals.move(moved)
    if changes.homes:
        store.meta.set(COMMON_GIT_DIRS, {**store.meta.get(COMMON_GIT_DIRS, {}), **changes.homes})
    if changes.rests:
        rests = {**store.meta.get(MERGE_WARNINGS, {}), **changes.rests}
        store.meta.set(MERGE_WARNINGS, {repo: warning for repo, warning in rests.items() if warning})


def _decision_time(proposal: Proposal, one: StateChange, when: float, now: float) -> float:
    """Return when a decision was made (Unix time): by its commit if that is new, since words said later are about it.

    Else now: a proposal is observed for some time after its decision, however old what was fetched is.
    """
    since = max(parse_time(proposal.created_at) or now, now - _TRUSTED_SECONDS)
    by_commit = one.after in {State.ACCEPTED, State.REVERTED} and since <= when <= now
    return when if by_commit else now


def _decided_by(store: Store, proposal: Proposal, one: StateChange, at: float, now: float) -> str:
    again = one.after is State.ACCEPTED and one.commit and one.commit == proposal.landed
    before = store.proposals.accepted_by(proposal.id) if again else ""  # its revert is only on another branch
    return before or who_decided(store, proposal, at, now)


def new_staging_result(store: Store) -> StagingResult:
    """Return an empty staging result with the daemon's settings."""
    return StagingResult(by_code=remakes_by_code(store), most_tokens=token_limit(store))


def remakes_by_code(store: Store) -> bool:
    """Whether proposals are remade without a model: by the daemon's settings, or because none ever ran."""
    return bool((store.meta.get(ACTIVE_SETTINGS) or {}).get("model", OFFLINE) == OFFLINE)


def token_limit(store: Store) -> int:
    """Return the limit of a file's tokens in the daemon's settings; 0 if there is none."""
    return int((store.meta.get(ACTIVE_SETTINGS) or {}).get("most_tokens", 0))


def _queue_remake(store: Store, proposal: Proposal, now: float) -> None:
    """Queue a batch without turns that asks a model for another edit with the same meaning."""
    if remakes_by_code(store) or proposal.creates or not (proposal.updates or len(proposal.evidence) == 1):
        return
    agent, session = proposal.agent, proposal.session_id
    cwd, skill = store.transcripts.cwd(agent, session), SkillRef(proposal.skill, proposal.path)
    job = BatchJob(kind="remake", proposal=proposal.id, cwd=cwd, skills=(skill,))
    name, at = REMAKE_PREFIX + proposal.id, rfc3339(now)
    store.batches.replace(StoredBatch(name, agent, session, ClosedBy.EDITED, "pending", job, 0, at))


def _record_remade(store: Store, remade: Sequence[Proposal]) -> None:
    """Store remade proposals before later moves of their commits; those decided meanwhile are left alone."""
    for made in remade:
        known = store.proposals.get(made.id)
        if known is not None and known.state is State.OPEN:
            store.proposals.save_edit(made)


# Who decided with plain git.

_CLOCK_MARGIN_SECONDS = 60.0  # commits have whole seconds, and clocks differ
_SILENCE_SECONDS = 300.0  # for how long a working agent may write nothing
_COMMIT_TIME_SECONDS = 1.0  # a commit's time has no fraction; an agent that ended before it cannot have made it


def who_decided(store: Store, proposal: Proposal, at: float, now: float) -> str:
    """Return who is recorded for a decision made with plain git; `at` is when it was made, 0 if unknown.

    A time before the last observation or in the future is impossible (a commit may have any date). Then the whole time
    between that observation and now counts.
    """
    last = float(store.meta.get(GIT_POLLED_AT, 0.0)) or parse_time(proposal.created_at) or now
    first, until = (at, at) if last - _CLOCK_MARGIN_SECONDS <= at <= now else (min(last, now), now)
    sessions = store.transcripts.active(first - _SILENCE_SECONDS, first - _COMMIT_TIME_SECONDS)
    agents = agents_around(sessions, proposal, until + _CLOCK_MARGIN_SECONDS)
    return f"{MAYBE_AGENTS_PREFIX}{', '.join(agents)}" if agents else "git"


def _existing_root(folder: Path) -> Path:
    """Return the main work tree around a folder; the folder if it is gone, whose parents would be searched in vain."""
    return project_root(folder) if os.path.isdir(folder) else folder  # noqa: PTH112 - is_dir raises for a long path


def agents_around(sessions: Iterable[ActiveSession], proposal: Proposal, until: float) -> list[str]:
    """Return the agents with a session around a proposal's repository or in another work tree of it.

    Only sessions that started before `until` (Unix time) count.
    """
    repo, skill = Path(proposal.repo), Path(proposal.path)
    root, found = _existing_root(repo), set()
    for session in sessions:
        folder = Path(session.cwd)
        around = folder.is_relative_to(repo) or repo.is_relative_to(folder) or skill.is_relative_to(folder)
        if session.since <= until and (around or _existing_root(folder) == root):
            found.add(session.agent)
    return sorted(found)
