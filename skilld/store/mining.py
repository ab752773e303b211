"""What was found out about windows of past sessions: so that nobody asks a model twice about the same words.

Only what the answers came to is kept, in redacted quotes; the sessions' own words stay where they are.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any


class Mining:
    """The table of windows."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def keep(self, window: str, session_id: str, updates: Sequence[Mapping[str, Any]], at: str) -> None:
        """Keep what was found in a window, be it nothing."""
        self._db.execute(
            "INSERT OR REPLACE INTO mined VALUES (?, ?, ?, ?)", (window, session_id, json.dumps(list(updates)), at)
        )

    def found(self, window: str) -> list[dict[str, Any]] | None:
        """Return what was found in a window, None where it was never asked about."""
        row = self._db.execute("SELECT updates FROM mined WHERE id = ?", (window,)).fetchone()
        return None if row is None else list(json.loads(row["updates"]))
