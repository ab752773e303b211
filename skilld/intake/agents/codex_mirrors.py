"""Counts a text once that the log carries two or three times, once for each of its carriers.

Codex writes one message as a response item, as an event and as a completed item; which of them depends on the version,
and none is always there. The n-th sight of a text in one carrier is the n-th sight in any other, so plain repeats stay.
Keeps hashes, no words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEPT = 32  # texts of the current turn that are remembered; mirrors follow each other closely


class Mirrors:
    """The texts seen since the turn began: hash -> carrier -> count."""

    def __init__(self, state: object = None) -> None:
        """Resume from a checkpoint's state; anything else is a fresh start."""
        self._seen: dict[str, dict[str, int]] = {}
        if isinstance(state, Mapping):
            for text, counts in list(state.items())[-_KEPT:]:
                if isinstance(text, str) and isinstance(counts, Mapping):
                    self._seen[text] = {str(key): value for key, value in counts.items() if isinstance(value, int)}

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return self._seen

    def clear(self) -> None:
        """Forget all: a new turn begins."""
        self._seen.clear()

    def is_new(self, text_hash: str, carrier: str) -> bool:
        """Note one sight of a text; return whether no other carrier has shown it already."""
        counts = self._seen.pop(text_hash, {})
        known = max(counts.values(), default=0)
        counts[carrier] = counts.get(carrier, 0) + 1
        self._seen[text_hash] = counts
        while len(self._seen) > _KEPT:
            del self._seen[next(iter(self._seen))]
        return counts[carrier] > known
