"""Turns each cut into a proposal, and knows what became of earlier ones. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from skilld.proposals.model import TRIM
from skilld.text import counted
from skilld.trim.cuts import NAMED, Cut, Why
from skilld.types import Kind, Proposal, SkillRef, State

MAX_OPEN = 10  # cuts of which a person is asked at once

_SURE, _NAMED = 1.0, 0.6


class Fate(StrEnum):
    """What is to be done about a cut."""

    PROPOSE = "propose"
    OPEN = "open"  # proposed, not decided
    REJECTED = "rejected"  # the person did not want it, or put the text back; never again
    WAITS = "waits"  # until others are decided: too many are open, or with them it would empty a section


@dataclass(frozen=True, slots=True)
class PlannedCut:
    """A cut of a file, what is to be done about it, and its batch: the same cut has the same one."""

    ref: SkillRef
    cut: Cut
    fate: Fate
    batch: str
    proposal: str = ""


def plan(cuts: Iterable[tuple[SkillRef, Cut]], known: Iterable[Proposal]) -> list[PlannedCut]:
    """Return what is to be done about cuts, the largest saving first; `known` are all proposals there ever were."""
    before: dict[str, list[Proposal]] = {}
    for one in known:
        before.setdefault(one.batch_id.rpartition("-")[0], []).append(one)
    ours = [made for key, made in before.items() if key.startswith(TRIM)]
    left = MAX_OPEN - sum(any(one.state is State.OPEN for one in made) for made in ours)
    found = [(ref, cut, _key(ref, cut.key)) for ref, cut in sorted(cuts, key=lambda one: -one[1].tokens)]
    states = {(ref.path, cut.key): {one.state for one in before.get(key, [])} for ref, cut, key in found}
    planned = []
    for ref, cut, key in found:
        made = before.get(key, [])
        others = [states.get((ref.path, other), set()) for other in cut.after]
        own = states[ref.path, cut.key]
        first = bool(others) and not any(_is_decided(other) for other in others)  # what the person keeps stays below
        fate = Fate.WAITS if first or left <= 0 else Fate.PROPOSE
        if State.OPEN in own:
            fate = Fate.OPEN
        elif _is_decided(own):
            fate = Fate.REJECTED
        left -= fate is Fate.PROPOSE
        name = next((one.id for one in made if one.state is State.OPEN), "")
        planned.append(PlannedCut(ref, cut, fate, f"{key}-{len(made)}", name))
    return planned


def _key(ref: SkillRef, key: str) -> str:
    return TRIM + hashlib.sha256(f"{ref.path}\n{key}".encode()).hexdigest()[:16]


def _is_decided(states: set[State]) -> bool:
    """Whether the person kept what a cut would take, which is there: once it was decided on, it is not asked again."""
    return State.OPEN not in states and bool(states & {State.REJECTED, State.REVERTED, State.DROPPED, State.ACCEPTED})


def proposal(planned: PlannedCut, model: str, tokenizer: str, at: str) -> Proposal:
    """Return the proposal of a cut, made at a time (RFC 3339). It is flagged, since nobody said it."""
    ref, cut = planned.ref, planned.cut
    where = f" ({cut.where})" if cut.where else ""
    shorter, saved = cut.why is Why.SHORTER, counted(cut.tokens, "token")
    changed = sum(one.anchor.count("\n") + 1 for one in cut.operations) if shorter else cut.last - cut.line + 1
    return Proposal(
        id=hashlib.sha256(planned.batch.encode()).hexdigest()[:8],
        batch_id=planned.batch,
        state=State.OPEN,
        skill=ref.name,
        path=ref.path,
        operations=cut.operations,
        summary=f"{'shorten' if shorter else 'cut'} {counted(changed, 'line')}, {saved}",
        reason=f"{'Shortened' if shorter else 'Cut'} because {cut.why.value}{where}. This saves {saved}, "
        f"as counted by {tokenizer}.",
        kind=Kind.CHANGE_STEP if shorter else Kind.REMOVE_STEP,
        evidence=(),
        confidence=_NAMED if cut.why in NAMED else _SURE,
        agent="",
        session_id="",
        model=model,
        created_at=at,
        flags=("nobody asked for this change in any session", f"what would be lost: {cut.lost}"),
        target=ref.kind,
        agents=ref.agents,
    )
