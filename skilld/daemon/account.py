"""What the daemon says of itself: facts for `status` and `doctor`, a few words for the service manager.

Counts and places; nothing that anyone said.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from skilld import __version__
from skilld.store import Store
from skilld.times import rfc3339
from skilld.types import State

_SHOWN = 20  # unreadable files


def facts(unreadable: Mapping[str, str], settings: str, now: float) -> dict[str, Any]:
    """Return what is kept for `status`. `settings` is what is to be said of the settings file."""
    return {
        "pid": os.getpid(),
        "version": __version__,
        "seen_at": rfc3339(now),
        "settings": settings,
        "unreadable": dict(list(unreadable.items())[:_SHOWN]),
    }


def words(store: Store, now: float) -> str:
    """Return what the service manager shows: counts only."""
    what = "paused" if store.meta.paused(now) else "following transcripts"
    waiting, open_ = store.batches.counts()["pending"], store.proposals.count(State.OPEN)
    return f"{what}; batches waiting: {waiting}; proposals open: {open_}"
