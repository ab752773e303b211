"""Summarizes what a person has said: counts, and the asks with the highest confidence. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skilld.library.clusters import Mention, group_asks
from skilld.library.recommend import NO_FEEDBACK, Because, Feedback, as_reason, ask_confidence, feedback_for

_MAX_TOP = 5


@dataclass(frozen=True, slots=True)
class Profile:
    """`total` counts asks; `in_skills` of them were accepted into a skill.

    `sessions` and `projects` count where they were said; `newest` is the last time (Unix time, 0: never); `top` has
    those with the highest confidence.
    """

    total: int
    in_skills: int
    sessions: int
    projects: int
    newest: float
    top: tuple[Because, ...]


def build_profile(said: Iterable[Mention], *, now: float, feedback: Feedback = NO_FEEDBACK) -> Profile:
    """Return the profile of these mentions."""
    found = group_asks(said)
    sure = {
        id(ask): ask_confidence(ask, feedback_for(feedback, ask.said[0].skill, ask.said[0].path), now) for ask in found
    }
    surest = sorted(found, key=lambda ask: -sure[id(ask)])[:_MAX_TOP]
    every = [one for ask in found for one in ask.said]
    return Profile(
        total=len(found),
        in_skills=sum(any(one.accepted for one in ask.said) for ask in found),
        sessions=len({one.piece.session for one in every}),
        projects=len({one.project for one in every if one.project}),
        newest=max((one.piece.at for one in every), default=0.0),
        top=tuple(as_reason(ask, sure[id(ask)]) for ask in surest),
    )
