"""Groups repeated statements of the same thing into an ask, and computes the confidence in it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from skilld.classify.bans import is_same_ban
from skilld.classify.said_already import agrees
from skilld.clock import parse_time
from skilld.meanings import related_stems
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.text import join_sentences
from skilld.types import OBSERVED_TURN, Proposal, State, TargetKind
from skilld.values import value_class
from skilld.words import content_stems, is_same_ask

# The confidence in an ask is the product of three factors:
# - evidence = 1 - (1 - c) * 0.5 ** (n - 1): `c` is the highest confidence of a mention, `n` the number of distinct
#   sessions, at most two for each distinct day: one long evening is not three weeks.
# - acceptance = (yes + 2) / (yes + no + 2): accepted or called helpful, against rejected, reverted or called unhelpful.
# - age = 0.5 ** (days / 180) since the last mention: what nobody needs fades, and a new mention restores it.

HALF_LIFE_DAYS = 180.0
_DAY_SECONDS = 86400.0
_MAX_SESSIONS_PER_DAY = 2


@value_class
class Piece:
    """One piece of evidence: the session, the time (Unix seconds) and the confidence (0 to 1)."""

    session: str
    at: float
    confidence: float


def confidence(pieces: Sequence[Piece], yes: int = 0, no: int = 0, *, now: float) -> float:
    """Return the confidence that the pieces justify, 0 to 1; 0 if there are none."""
    if not pieces:
        return 0.0
    days = len({int(piece.at // _DAY_SECONDS) for piece in pieces})
    counted = min(len({piece.session for piece in pieces}), _MAX_SESSIONS_PER_DAY * days)
    surest = max(piece.confidence for piece in pieces)
    evidence = 1 - (1 - surest) * math.pow(0.5, counted - 1)
    age = max(0.0, now - max(piece.at for piece in pieces)) / _DAY_SECONDS
    return evidence * acceptance(yes, no) * math.pow(0.5, age / HALF_LIFE_DAYS)


def acceptance(yes: int, no: int) -> float:
    """Return the factor for decisions and feedback, 0 to 1."""
    return (yes + 2) / (yes + no + 2)


@value_class
class Mention:
    """One time that somebody said something lasting.

    `kind` and `id` name the row, mostly a learning or proposal; `skill` and `path` the skill it is about, if any;
    `accepted` is None without a decision.
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


@value_class
class Ask:
    """One thing that was said once or several times, the newest mention first."""

    said: tuple[Mention, ...]

    @property
    def text(self) -> str:
        """The newest wording."""
        return self.said[0].text

    @property
    def pieces(self) -> list[Piece]:
        """The evidence of all mentions."""
        return [one.piece for one in self.said]


def group_asks(said: Iterable[Mention]) -> list[Ask]:
    """Group mentions of the same thing into asks, the newest first."""
    groups: list[tuple[frozenset[str], list[Mention]]] = []
    by_stem: dict[str, list[int]] = {}
    for one in sorted(said, key=lambda each: -each.piece.at):
        stems = content_stems(one.text)
        near = {number for stem in stems for number in by_stem.get(stem, ())}
        same = (number for number in sorted(near) if _is_same(one.text, stems, groups[number]))
        found = next(same, None)
        if found is not None:
            groups[found][1].append(one)
            continue
        for stem in stems:
            by_stem.setdefault(stem, []).append(len(groups))
        groups.append((stems, [one]))
    return [Ask(tuple(group)) for _, group in groups]


def _is_same(text: str, stems: frozenset[str], group: tuple[frozenset[str], list[Mention]]) -> bool:
    known, (first, *_) = group
    return (is_same_ask(stems, known) and agrees(text, first.text)) or is_same_ban(text, first.text)


# Mentions from rows of the store.
_DECISIONS = {State.ACCEPTED: True, State.REJECTED: False, State.REVERTED: False}
_MAX_HITS = 50


def find_mentions(store: Store, text: str) -> list[Mention]:
    """Return the mentions that best match `text` by words or meaning."""
    found: list[Mention] = []
    for hit in store.search.find(text, _MAX_HITS, related_stems(text)):
        if hit.kind == "learning" and (learning := store.learnings.get(hit.id)):
            found.append(learning_mention(learning))
        elif hit.kind == "proposal" and (proposal := store.proposals.get(hit.id)) and proposal.evidence:
            found.append(proposal_mention(proposal))
    return found


def learning_mention(learning: Learning) -> Mention:
    """Return a learning as a mention."""
    return Mention(
        kind="result" if learning.is_result else "learning",
        id=learning.id,
        text=learning.change,
        quote=learning.quote,
        skill=learning.skill or "",
        path="",
        project=learning.project or "",
        piece=Piece(learning.session_id, parse_time(learning.created_at) or 0.0, learning.confidence),
    )


def proposal_mention(proposal: Proposal) -> Mention:
    """Return a proposal as a mention; for a new skill it has the request, because nobody said its description.

    Nor did the person say what begins the summary of a remedy: "Say this more clearly: ...".
    """
    asked = join_sentences([one.change for one in proposal.updates]) or proposal.summary
    return Mention(
        kind="proposal",
        id=proposal.id,
        text=proposal.evidence[0].quote if proposal.creates and proposal.evidence else asked,
        quote=" ".join(piece.quote for piece in proposal.evidence),
        skill=proposal.skill if proposal.target is TargetKind.SKILL else "",
        path=proposal.path,
        project=proposal.repo,
        piece=Piece(proposal.session_id, parse_time(proposal.created_at) or 0.0, proposal.confidence),
        accepted=_DECISIONS.get(proposal.state),
    )


def proposal_instructions(proposal: Proposal) -> list[Mention]:
    """Return the lasting instructions in a proposal, without the request of a task; none if nobody said them."""
    whole = proposal_mention(proposal)
    pairs = [(one.change, one.quote) for one in proposal.updates if one.turn != OBSERVED_TURN]
    if not proposal.evidence or not (proposal.creates or len(pairs) > 1):
        return [whole] if proposal.evidence else []
    if not proposal.updates:
        pairs = [(piece.quote, piece.quote) for piece in proposal.evidence]
    return [replace(whole, text=text, quote=quote) for text, quote in pairs]


_LAYOUT_PATTERN = re.compile(
    r"\b(?:modules?|layers?|packages?|services?|schemas?|interfaces?|dependenc(?:y|ies)|architectures?|components?"
    r"|boundar(?:y|ies)|adapters?|database tables?|lives? (?:in|under)|belongs? (?:in|to))\b",
    re.IGNORECASE,
)


def is_about_layout(fact: str) -> bool:
    """Whether a fact describes the layout of a project."""
    return bool(_LAYOUT_PATTERN.search(fact))
