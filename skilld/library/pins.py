"""Skills that the person pinned: never archived, never called stale, the ones that stay in a merge.

Kept in the store, by the real path of the SKILL.md; no file of the person's says it.
"""

from __future__ import annotations

from pathlib import Path

from skilld.store import Store
from skilld.store.meta import PINNED


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
