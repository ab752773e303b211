"""Which skills skilld itself offers to agents (mcp, sync, suggest, chat, recommend): all that the person left enabled.

The choice is kept in the store, by the real path of the SKILL.md; no file of the person's says it, and what agents load
by themselves is theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skilld.skills import Skill
from skilld.store import Store
from skilld.store.meta import DISABLED


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
