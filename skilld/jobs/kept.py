"""What is not proposed, as learnings: why it is kept, and which file it would go to. Pure."""

from __future__ import annotations

from skilld.protocol import NewLearning
from skilld.types import Evidence, Proposal, SkillRef, TargetKind, Update

ABSENT = "you have said it in only one session, and there is no"  # and the name of the file that is to be made


def learnings_of(proposal: Proposal, why: str, *, for_now: bool) -> list[NewLearning]:
    """Return what a proposal says as learnings: each of its updates with where it was said, else all of it."""
    place = SkillRef(proposal.skill, proposal.path, kind=proposal.target)
    whole = Update(None, "", proposal.summary, "", proposal.kind, 0, "", proposal.confidence)
    return [
        learning(
            said,
            proposal.updates[number] if number < len(proposal.updates) else whole,
            why,
            place,
            for_now=for_now,
        )
        for number, said in enumerate(proposal.evidence)
    ]


def learning(said: Evidence, update: Update, why: str, place: SkillRef | None, *, for_now: bool) -> NewLearning:
    """Return an update, which was said there, as a learning; `for_now` until what is in the way is gone."""
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
