"""Rows of the store as things said: what a search found, or all there is."""

from __future__ import annotations

from collections.abc import Iterable

from skilld.memory.asks import Said
from skilld.memory.confidence import Piece
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.times import seconds
from skilld.types import Proposal, State

# What these say of whether the person wanted it; an open one says nothing yet.
_DECIDED = {State.ACCEPTED: True, State.REJECTED: False, State.REVERTED: False}


def about(store: Store, text: str, limit: int = 100) -> list[Said]:
    """Return what was said that shares words with `text`, the best matches only. What nobody said is no match."""
    found: list[Said] = []
    for hit in store.search.find(text, limit):
        if hit.kind == "learning" and (learning := store.learnings.get(hit.id)):
            found.append(of_learning(learning))
        elif hit.kind == "proposal" and (proposal := store.proposals.get(hit.id)) and proposal.evidence:
            found.append(of_proposal(proposal))
    return found


def of_learnings(learnings: Iterable[Learning]) -> list[Said]:
    """Return learnings as things said."""
    return [of_learning(learning) for learning in learnings]


def of_learning(learning: Learning) -> Said:
    """Return a learning as a thing said."""
    return Said(
        kind="learning",
        id=learning.id,
        text=learning.change,
        quote=learning.quote,
        skill=learning.skill or "",
        path="",
        project=learning.project or "",
        piece=Piece(learning.session_id, seconds(learning.created_at) or 0.0, learning.confidence),
    )


def of_proposal(proposal: Proposal) -> Said:
    """Return a proposal as a thing said."""
    return Said(
        kind="proposal",
        id=proposal.id,
        text=proposal.summary,
        quote=" ".join(piece.quote for piece in proposal.evidence),
        skill=proposal.skill,
        path=proposal.path,
        project=proposal.repo,
        piece=Piece(proposal.session_id, seconds(proposal.created_at) or 0.0, proposal.confidence),
        accepted=_DECIDED.get(proposal.state),
    )
