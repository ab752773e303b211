"""A summary of what a person has said: how much, and with the highest confidence. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skilld.library.clusters import Mention, asks
from skilld.library.recommend import NO_FEEDBACK, Because, Feedback, because, sure_of, told_of

_TOP = 5


@dataclass(frozen=True, slots=True)
class Profile:
    """`total` counts asks: the same said twice is one. `in_skills` of them were accepted into a skill.

    `sessions` and `projects` say where they were said, `newest` when last (Unix time, 0: never); `top` has the surest.
    """

    total: int
    in_skills: int
    sessions: int
    projects: int
    newest: float
    top: tuple[Because, ...]


def profile(said: Iterable[Mention], *, now: float, feedback: Feedback = NO_FEEDBACK) -> Profile:
    """Return the profile of what was said."""
    found = asks(said)
    sure = {id(ask): sure_of(ask, told_of(feedback, ask.said[0].skill, ask.said[0].path), now) for ask in found}
    surest = sorted(found, key=lambda ask: -sure[id(ask)])[:_TOP]
    every = [one for ask in found for one in ask.said]
    return Profile(
        total=len(found),
        in_skills=sum(any(one.accepted for one in ask.said) for ask in found),
        sessions=len({one.piece.session for one in every}),
        projects=len({one.project for one in every if one.project}),
        newest=max((one.piece.at for one in every), default=0.0),
        top=tuple(because(ask, sure[id(ask)]) for ask in surest),
    )
