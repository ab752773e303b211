"""The model of what is known of transcripts: each typed line has a key, and those that were whole at some look count.

A line that was spliced out of two may be read or not; its key was typed, so it is no turn out of nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress


class Known:
    """The keys that must be known, and all that may be."""

    def __init__(self) -> None:
        self.typed: set[str] = set()
        self._whole: set[str] = set()

    def look(self, data: bytes) -> None:
        """Take in a transcript as it is at a look."""
        for line in data.split(b"\n")[:-1]:
            with suppress(ValueError, KeyError, TypeError):
                record = json.loads(line)
                if record["message"]["content"]:
                    self._whole.add(record["uuid"])

    def check(self, found: Sequence[str], done: Sequence[str]) -> None:
        """Compare with what was found; `done` is what was done before, for whoever looks into a failure."""
        assert len(found) == len(set(found)), f"twice after {done}"
        assert not self._whole - set(found), f"lost after {done}"
        assert not set(found) - self.typed, f"never typed, after {done}"
