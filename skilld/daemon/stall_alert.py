"""Learning is dead: people talk, batches are closed, and for a day none could be judged. Says so, once."""

from __future__ import annotations

from skilld.clock import seconds
from skilld.store import Store
from skilld.store.meta import LEARNING_DEAD

_DAY = 86400.0


def why_dead(store: Store, now: float) -> str:
    """Return why nothing was judged for a day although something waits to be; empty where all is well, or paused."""
    oldest, why = store.batches.unjudged()
    since = max(seconds(oldest) or now, seconds(store.batches.judged_at()) or 0.0)
    if oldest is None or now - since < _DAY or store.meta.paused(now):
        return ""
    return why or "no batch has come to its end"


def news(store: Store, now: float) -> str:
    """Return the same, once until something is judged again."""
    why = why_dead(store, now)
    if bool(why) == bool(store.meta.get(LEARNING_DEAD)):
        return ""
    store.meta.set(LEARNING_DEAD, bool(why))
    return why
