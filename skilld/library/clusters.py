"""Groups repeated statements of one thing into an ask, from the store's rows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from skilld.clock import seconds
from skilld.meanings import kin
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.types import OBSERVED_TURN, Proposal, State, TargetKind
from skilld.words import content_stems, same

# How much a thing that was said is to be relied on is the product of three factors:
# - evidence = 1 - (1 - c) * 0.5 ** (n - 1): `c` is the surest piece, `n` the distinct sessions that said it, of which
#   at most two count for each distinct day. One long evening is not three weeks.
# - acceptance = (yes + 2) / (yes + no + 2): accepted or called helpful, against rejected, reverted or called unhelpful.
# - age = 0.5 ** (days / 180) since it was last said: what nobody needs fades, and comes back when it is said again.

HALF_LIFE = 180.0  # days
_A_DAY = 86400.0
_PER_DAY = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """One time that something was said: by which session, when (Unix seconds), how surely (0 to 1)."""

    session: str
    at: float
    confidence: float


def confidence(pieces: Sequence[Piece], yes: int = 0, no: int = 0, *, now: float) -> float:
    """Return the confidence in what the pieces say, 0 to 1; 0 if there are none."""
    if not pieces:
        return 0.0
    days = len({int(piece.at // _A_DAY) for piece in pieces})
    counted = min(len({piece.session for piece in pieces}), _PER_DAY * days)
    surest = max(piece.confidence for piece in pieces)
    evidence = 1 - (1 - surest) * math.pow(0.5, counted - 1)
    age = max(0.0, now - max(piece.at for piece in pieces)) / _A_DAY
    return evidence * acceptance(yes, no) * math.pow(0.5, age / HALF_LIFE)


def acceptance(yes: int, no: int) -> float:
    """Return the factor that decisions and feedback make, 0 to 1."""
    return (yes + 2) / (yes + no + 2)


@dataclass(frozen=True, slots=True)
class Mention:
    """One time that somebody said something lasting.

    `kind` is learning or proposal and `id` the row's; `skill` and `path` name the skill it is about, if any; `accepted`
    is None if nobody decided.
    """

    kind: str
    id: str
    text: str
    quote: str
    skill: str
    path: str
    project: str
    piece: Piece
    accepted: bool | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What was said once or several times; the newest stands first."""

    said: tuple[Mention, ...]

    @property
    def text(self) -> str:
        """The newest wording."""
        return self.said[0].text

    @property
    def pieces(self) -> list[Piece]:
        """When, and by which session, it was said."""
        return [one.piece for one in self.said]


def asks(said: Iterable[Mention]) -> list[Ask]:
    """Return what was said as asks, the newest first."""
    groups: list[tuple[frozenset[str], list[Mention]]] = []
    by_stem: dict[str, list[int]] = {}
    for one in sorted(said, key=lambda each: -each.piece.at):
        stems = content_stems(one.text)
        near = {number for stem in stems for number in by_stem.get(stem, ())}
        found = next((number for number in sorted(near) if same(stems, groups[number][0])), None)
        if found is not None:
            groups[found][1].append(one)
            continue
        for stem in stems:
            by_stem.setdefault(stem, []).append(len(groups))
        groups.append((stems, [one]))
    return [Ask(tuple(group)) for _, group in groups]


# Rows of the store as things said: what a search found, or all there is.

# What these say of whether the person wanted it; an open one says nothing yet.
_DECIDED = {State.ACCEPTED: True, State.REJECTED: False, State.REVERTED: False}
_MAX_HITS = 50


def about(store: Store, text: str) -> list[Mention]:
    """Return what people said that shares words with `text`, or what they mean: the best matches only."""
    found: list[Mention] = []
    for hit in store.search.find(text, _MAX_HITS, kin(text)):
        if hit.kind == "learning" and (learning := store.learnings.get(hit.id)):
            found.append(of_learning(learning))
        elif hit.kind == "proposal" and (proposal := store.proposals.get(hit.id)) and proposal.evidence:
            found.append(of_proposal(proposal))
    return found


def of_learnings(learnings: Iterable[Learning]) -> list[Mention]:
    """Return learnings as things said."""
    return [of_learning(learning) for learning in learnings]


def of_learning(learning: Learning) -> Mention:
    """Return a learning as a thing said."""
    return Mention(
        kind="learning",
        id=learning.id,
        text=learning.change,
        quote=learning.quote,
        skill=learning.skill or "",
        path="",
        project=learning.project or "",
        piece=Piece(learning.session_id, seconds(learning.created_at) or 0.0, learning.confidence),
    )


def of_proposal(proposal: Proposal) -> Mention:
    """Return a proposal as a thing said; of a new skill it is what was asked for, as nobody said its description."""
    return Mention(
        kind="proposal",
        id=proposal.id,
        text=proposal.evidence[0].quote if proposal.creates and proposal.evidence else proposal.summary,
        quote=" ".join(piece.quote for piece in proposal.evidence),
        skill=proposal.skill if proposal.target is TargetKind.SKILL else "",
        path=proposal.path,
        project=proposal.repo,
        piece=Piece(proposal.session_id, seconds(proposal.created_at) or 0.0, proposal.confidence),
        accepted=_DECIDED.get(proposal.state),
    )


def instructions_of(proposal: Proposal) -> list[Mention]:
    """Return the lasting things said that a proposal has: none if nobody said it, of a task's skill not the request."""
    whole = of_proposal(proposal)
    if not (proposal.creates and proposal.evidence):
        return [whole] if proposal.evidence else []
    said = [(one.change, one.quote) for one in proposal.updates if one.turn != OBSERVED_TURN]
    if not proposal.updates:
        said = [(piece.quote, piece.quote) for piece in proposal.evidence]
    return [replace(whole, text=text, quote=quote) for text, quote in said]


# Words of a fact that says how a project is laid out.
_LAYOUT = re.compile(
    r"\b(?:modules?|layers?|packages?|services?|schemas?|interfaces?|dependenc(?:y|ies)|architectures?|components?"
    r"|boundar(?:y|ies)|adapters?|database tables?|lives? (?:in|under)|belongs? (?:in|to))\b",
    re.IGNORECASE,
)


def says_layout(fact: str) -> bool:
    """Whether a fact says what a project is made of and where that is, by its words."""
    return bool(_LAYOUT.search(fact))
