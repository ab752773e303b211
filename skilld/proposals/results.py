"""A worker's result to rows. The result is data from another process: checked on the way in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from skilld.classify.backends import OFFLINE
from skilld.clock import day, rfc3339
from skilld.proposals.outcomes import AWAY
from skilld.proposals.remarks import who_decided
from skilld.store import Store
from skilld.store.batches import REMAKE, StoredBatch
from skilld.store.learnings import Learning
from skilld.store.meta import HOMES, IN_FORCE, RESTS_ON
from skilld.types import ClosedBy, Evidence, Kind, Op, Operation, Proposal, State, Update, Usage

# Proposals as JSON between daemon, worker and command line. Pure.


def proposal_to_json(proposal: Proposal) -> dict[str, Any]:
    """Return a proposal as JSON-able values."""
    return asdict(proposal)


def proposal_from_json(item: Mapping[str, Any]) -> Proposal:
    """Return the proposal of such values. Raises KeyError, TypeError or ValueError where they are not one."""
    values = dict(item)
    values["state"] = State(values["state"])
    values["kind"] = Kind(values["kind"])
    values["operations"] = operations_from_json(values["operations"])
    values["evidence"] = tuple(Evidence(e["turn"], e["quote"]) for e in values["evidence"])
    values["flags"] = tuple(values["flags"])
    told = values.get("updates", ())  # a plan of an older version has none
    values["updates"] = tuple(Update(**{**update, "kind": Kind(update["kind"])}) for update in told)
    return Proposal(**values)


def operations_from_json(items: Iterable[Mapping[str, str]]) -> tuple[Operation, ...]:
    """Return the operations of such values. Raises as `proposal_from_json` does."""
    return tuple(Operation(Op(item["op"]), item["anchor"], item["text"]) for item in items)


_DECIDED = frozenset({State.ACCEPTED, State.REJECTED, State.REVERTED})


def record(store: Store, batch: StoredBatch, result: Mapping[str, Any], now: float) -> list[Proposal]:
    """Keep the proposals, learnings, moved commits and costs of one result; returns the proposals that are new."""
    for item in result.get("learnings", ()):
        store.learnings.add(
            Learning(
                id=_learning_id(item["turn"], item["quote"]),
                turn_key=item["turn"],
                quote=item["quote"],
                change=item["change"],
                kind=item["kind"],
                agent=batch.agent,
                session_id=batch.session_id,
                project=batch.job.get("cwd"),
                skill=item.get("skill"),
                why_kept=item["why_kept"],
                confidence=float(item["confidence"]),
                created_at=rfc3339(now),
            )
        )
    if usage := result.get("usage"):
        skills = batch.job.get("skills") or [{}]
        store.usage.add(day(now), result.get("model", ""), skills[0].get("name", ""), Usage(**usage))
    for proposal_id, turn, quote in result.get("supported", ()):
        store.proposals.support(proposal_id, Evidence(turn, quote))
    proposals = [proposal_from_json(item) for item in result.get("proposals", ())]
    new = [proposal.id for proposal in proposals if store.proposals.add(proposal)]
    for made in proposals:  # what was only kept until it could be proposed
        for said in made.evidence:
            store.learnings.forget(_learning_id(said.turn, said.quote))
    follow(store, result, now)
    return [proposal for name in new if (proposal := store.proposals.get(name)) is not None]


def kept_for_now(store: Store, result: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the learnings of a result that are kept only until what is in the way is gone."""
    marked = [item for item in result.get("learnings", ()) if item.get("for_now")]
    return tuple(store.learnings.among(_learning_id(item["turn"], item["quote"]) for item in marked))


def learned(result: Mapping[str, Any]) -> list[str]:
    """Return the ids of all learnings of a result."""
    return [_learning_id(item["turn"], item["quote"]) for item in result.get("learnings", ())]


def _learning_id(turn: str, quote: str) -> str:
    return hashlib.sha256(f"{turn}\n{quote}".encode()).hexdigest()[:10]


def follow(store: Store, result: Mapping[str, Any], now: float) -> None:
    """Write down what became of proposals: decided, applied by auto mode, another commit since the branch was rebuilt.

    A decision holds only where the proposal is still in the state it was made from: the person may have decided
    meanwhile.
    """
    for proposal_id, before, after, commit, note in result.get("decisions", ()):
        proposal = store.proposals.get(proposal_id)
        if proposal is not None and proposal.state is State(before):
            at = float(result.get("at", {}).get(proposal_id, 0.0))
            who = who_decided(store, proposal, at, now) if State(after) in _DECIDED else "git"
            store.proposals.decide(proposal, State(after), rfc3339(now), who=who, commit=commit, note=note)
            if State(after) is State.STALE and note != AWAY:
                _have_made_anew(store, proposal, now)
    for proposal_id, commit in result.get("applied", ()):
        proposal = store.proposals.get(proposal_id)
        if proposal is not None and proposal.state is State.OPEN:
            note = f"applied unasked; undo: skilld revert {proposal_id}"
            store.proposals.decide(proposal, State.ACCEPTED, rfc3339(now), who="auto", commit=commit, note=note)
    _follow_remade(store, result.get("remade", ()))
    for proposal_id, commit, base in result.get("moved", ()):
        store.proposals.move(proposal_id, commit=commit, base=base)
    for proposal_id, operations, note in result.get("refitted", ()):
        store.proposals.refit(proposal_id, operations_from_json(operations), note)
    if homes := result.get("homes"):
        store.meta.set(HOMES, {**store.meta.get(HOMES, {}), **homes})
    if rests := result.get("rests"):
        known = {**store.meta.get(RESTS_ON, {}), **rests}
        store.meta.set(RESTS_ON, {repo: warning for repo, warning in known.items() if warning})


def by_code(store: Store) -> bool:
    """Whether no model is to be asked: the settings that the daemon follows say so, or none ever ran."""
    return bool((store.meta.get(IN_FORCE) or {}).get("model", OFFLINE) == OFFLINE)


def _have_made_anew(store: Store, proposal: Proposal, now: float) -> None:
    """Have a model asked for another edit that says the same, as a batch without turns."""
    if by_code(store) or proposal.creates or not (proposal.updates or len(proposal.evidence) == 1):
        return
    agent, session = proposal.agent, proposal.session_id
    job = {
        "version": 1,
        "kind": "remake",
        "proposal": proposal.id,
        "cwd": store.transcripts.cwd(agent, session),
        "sources": [],
        "turns": [],
        "skills": [{"name": proposal.skill, "path": proposal.path}],
    }
    name, at = REMAKE + proposal.id, rfc3339(now)
    store.batches.add_anew(StoredBatch(name, agent, session, ClosedBy.EDITED, "pending", job, 0, at))


def _follow_remade(store: Store, items: Iterable[Mapping[str, Any]]) -> None:
    """Take in what was made anew, before it may have moved for the next one; what was decided meanwhile stays so."""
    for item in items:
        made = proposal_from_json(item)
        known = store.proposals.get(made.id)
        if known is not None and known.state is State.OPEN:
            store.proposals.amend(made)
