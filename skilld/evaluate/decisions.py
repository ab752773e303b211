"""Figures on a person's own decisions: what was accepted was right, what was rejected or reverted was not.

Decided proposals and a predictor in, figures out. Two things are told apart: how often what was proposed was right,
whoever detected it then; and what a detector makes of the same words now. What nobody decided is no label, and a
merge of skills, which rests on nobody's words, tells nothing of hearing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skilld.evaluate.loader import LabelledTurn
from skilld.evaluate.turns import JudgedTurn, share
from skilld.evaluate.turns import figures as turn_figures
from skilld.types import Proposal, State

DECIDED = (State.ACCEPTED, State.REJECTED, State.REVERTED)
_CARRIED_OVER = ("precision", "recall", "f1", "by_tag")


def cases(proposals: Sequence[Proposal]) -> list[LabelledTurn]:
    """Return the quoted words of each decided proposal as one labelled turn: the store keeps no more of them."""
    return [
        LabelledTurn(
            id=proposal.id,
            repo=proposal.repo,
            lang="",
            text="\n".join(evidence.quote for evidence in proposal.evidence),
            prev_assistant="",
            label="durable" if proposal.state is State.ACCEPTED else "one_off",
            sample="",
            stratum=None,
            kind=proposal.kind.value,
            certainty=1.0,
        )
        for proposal in proposals
        if proposal.state in DECIDED and proposal.evidence
    ]


def figures(proposals: Sequence[Proposal], judged: Sequence[JudgedTurn]) -> dict[str, Any]:
    """Return the figures under the keys of `skilld eval decisions --json`.

    `accepted_share` is the precision of what was proposed; `precision`, `recall`, `f1` and `by_tag` are those of the
    detector that was asked now. A share of nothing is None.
    """
    decided = [proposal for proposal in proposals if proposal.state in DECIDED and proposal.evidence]
    now = turn_figures(judged)
    return {
        "kind": "decisions",
        "n": len(decided),
        **_counts(decided),
        **{key: now[key] for key in _CARRIED_OVER},
        "by_kind": _by(decided, lambda proposal: proposal.kind.value),
        "by_skill": _by(decided, lambda proposal: proposal.skill),
        "by_model": _by(decided, lambda proposal: proposal.model),
        "by_agent": _by(decided, lambda proposal: proposal.agent),
        "calls": 0,
        "tokens": 0,
    }


def rows_out(proposals: Sequence[Proposal], judged: Sequence[JudgedTurn]) -> list[dict[str, Any]]:
    """Return the outcome of each decided proposal, without its words."""
    found = {one.turn.id: one for one in judged}
    return [
        {
            "id": proposal.id,
            "state": proposal.state.value,
            "skill": proposal.skill,
            "kind": proposal.kind.value,
            "model": proposal.model,
            "proposed_at": proposal.confidence,
            "found": found[proposal.id].found,
            "confidence": round(found[proposal.id].confidence, 4),
        }
        for proposal in proposals
        if proposal.id in found
    ]


def _counts(decided: Sequence[Proposal]) -> dict[str, Any]:
    counts = {state.value: sum(proposal.state is state for proposal in decided) for state in DECIDED}
    return {**counts, "accepted_share": share(counts[State.ACCEPTED.value], len(decided))}


def _by(decided: Sequence[Proposal], name: Callable[[Proposal], str]) -> Mapping[str, Any]:
    return {
        group: {"n": len(members), **_counts(members)}
        for group in sorted({name(proposal) for proposal in decided})
        if (members := [proposal for proposal in decided if name(proposal) == group])
    }
