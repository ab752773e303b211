"""Decisions that plain git made while an agent was at work in the repository: told as such, with the step back."""

from __future__ import annotations

from skilld.store import Store
from skilld.store.proposals import MAYBE
from skilld.times import seconds
from skilld.types import Proposal, State

_RECENT = 7 * 86400  # seconds
_BACK = {State.ACCEPTED: "revert", State.REJECTED: "accept", State.REVERTED: "accept", State.DROPPED: "restore"}


def doubt(store: Store, proposal: Proposal) -> str:
    """Return in words that an agent may have decided on a proposal, and the step back; empty where none may have."""
    who = store.proposals.decided_by(proposal.id)
    if not who.startswith(MAYBE) or proposal.state not in _BACK:
        return ""
    agents = who.removeprefix(MAYBE)
    undo = f"undo: skilld {_BACK[proposal.state]} {proposal.id}"
    return f"{proposal.state.value} by git, maybe by an agent ({agents} was at work there); {undo}"


def doubts(store: Store, now: float) -> list[str]:
    """Return the same for all that was decided within a week before `now` (Unix time), the newest first."""
    found = [
        (proposal.decided_at, f"{proposal.id}: {text}")
        for proposal in store.proposals.in_states([*_BACK])
        if now - (seconds(proposal.decided_at) or 0) < _RECENT and (text := doubt(store, proposal))
    ]
    return [text for _, text in sorted(found, reverse=True)]
