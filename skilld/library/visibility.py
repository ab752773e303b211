"""Which skills skilld offers to agents itself, and which the person pinned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from skilld.skills import Skill
from skilld.store import Store
from skilld.store.meta import DISABLED, PINNED

# Which skills skilld itself offers to agents (mcp, sync, suggest, chat, recommend): all that the person left
# enabled.
#
# The choice is kept in the store, by the real path of the SKILL.md; no file of the person's says it, and what agents
# load by themselves is theirs.


def disabled(store: Store) -> frozenset[Path]:
    """Return the skills that are not offered."""
    return frozenset(map(Path, store.meta.get(DISABLED, [])))


def served(store: Store, skills: Iterable[Skill]) -> list[Skill]:
    """Return those of `skills` that are offered."""
    off = disabled(store)
    return [skill for skill in skills if skill.path not in off]


def switch(store: Store, paths: Iterable[Path], *, on: bool) -> int:
    """Enable or disable skills; return for how many that changed something."""
    with store.transaction():
        before = disabled(store)
        after = before - set(paths) if on else before | set(paths)
        store.meta.set(DISABLED, sorted(map(str, after)))
    return len(before ^ after)


# How many of the skills that skilld wrote itself are offered to agents, and which. Pure.
#
# Skills that write themselves pile up, and each one offered costs every session some attention; those that a person
# wrote are all offered.


def offered(skills: Iterable[Skill], most: int, rank: Callable[[Skill], float]) -> list[Skill]:
    """Return the person's own skills in their order, then at most `most` evolving ones, the highest rank first."""
    found = list(skills)
    evolving = sorted((one for one in found if one.evolving), key=lambda one: (-rank(one), one.name))
    return [one for one in found if not one.evolving] + evolving[:most]


# Skills that the person pinned: never archived, never called stale, the ones that stay in a merge.
#
# Kept in the store, by the real path of the SKILL.md; no file of the person's says it.


def pinned(store: Store) -> frozenset[Path]:
    """Return the paths of the pinned skills."""
    return frozenset(map(Path, store.meta.get(PINNED, [])))


def pin(store: Store, path: Path, *, on: bool) -> bool:
    """Pin a skill or take that back; whether that changed something."""
    with store.transaction():
        before = pinned(store)
        after = before | {path} if on else before - {path}
        store.meta.set(PINNED, sorted(map(str, after)))
    return before != after
