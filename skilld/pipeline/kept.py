"""Lasting things that are not proposed, as a worker's result tells the store of them."""

from __future__ import annotations

from typing import Any

from skilld.types import Evidence, Kind, Proposal


def of_proposal(proposal: Proposal, why: str, *, for_now: bool) -> list[dict[str, Any]]:
    """Return what a proposal says as learnings."""
    shared: dict[str, Any] = {"kind": proposal.kind, "skill": proposal.skill, "why": why, "for_now": for_now}
    return [learning(said, proposal.summary, proposal.confidence, **shared) for said in proposal.evidence]


def learning(
    said: Evidence, change: str, confidence: float, *, kind: Kind, skill: str | None, why: str, for_now: bool
) -> dict[str, Any]:
    """Return a lasting thing that is not proposed, as the store is told it, with why it is only kept.

    `for_now` says that it goes as soon as its batch can be judged, or its proposal written.
    """
    return {
        "turn": said.turn,
        "quote": said.quote,
        "change": change,
        "kind": kind.value,
        "skill": skill,
        "why_kept": why,
        "for_now": for_now,
        "confidence": confidence,
    }
