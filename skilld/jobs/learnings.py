"""Builds learnings from what is not proposed, with the reason and the file it would go to. Pure."""

from __future__ import annotations

from skilld.protocol import NewLearning
from skilld.types import Evidence, Proposal, SkillRef, TargetKind, Update

NO_FILE_REASON = "you have said it in only one session, and there is no"  # followed by the name of the missing file


def proposal_learnings(proposal: Proposal, why: str, *, for_now: bool) -> list[NewLearning]:
    """Return a proposal as learnings: each update with its evidence, or the summary for evidence without one."""
    place = SkillRef(proposal.skill, proposal.path, kind=proposal.target)
    whole = Update(None, "", proposal.summary, "", proposal.kind, 0, "", proposal.confidence)
    return [
        build_learning(
            said, proposal.updates[number] if number < len(proposal.updates) else whole, why, place, for_now=for_now
        )
        for number, said in enumerate(proposal.evidence)
    ]


def build_learning(
    said: Evidence, update: Update, why: str, place: SkillRef | None, *, for_now: bool = False
) -> NewLearning:
    """Return an update with its evidence as a learning; `for_now`: until the obstacle is gone."""
    return NewLearning(
        turn=said.turn,
        quote=said.quote,
        change=update.change,
        kind=update.kind,
        confidence=update.confidence,
        skill=place.name if place is not None and place.kind is TargetKind.SKILL else None,
        why_kept=why,
        for_now=for_now,
        place_kind=place.kind if place is not None else None,
        place=place.path if place is not None else "",
    )
