"""How many of the skills that skilld wrote itself are offered to agents, and which. Pure.

Skills that write themselves pile up, and each one offered costs every session some attention; those that a person wrote
are all offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from skilld.skills import Skill


def offered(skills: Iterable[Skill], most: int, rank: Callable[[Skill], float]) -> list[Skill]:
    """Return the person's own skills in their order, then at most `most` evolving ones, the highest rank first."""
    found = list(skills)
    evolving = sorted((one for one in found if one.evolving), key=lambda one: (-rank(one), one.name))
    return [one for one in found if not one.evolving] + evolving[:most]
