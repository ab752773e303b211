"""Notices that were shown: when, and of what they told. What the digest policy goes by, also after a restart."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection

from skilld.clock import rfc3339, seconds

_KEPT = 30 * 86400.0


class Notices:
    """The table of notices."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(self, at: float, proposals: Collection[str], causes: Collection[str]) -> None:
        """Keep that a notice was shown at a Unix time, and forget those of more than a month ago."""
        self._db.execute(
            "INSERT INTO notices (proposal_ids, causes, created_at, delivered_at) VALUES (?, ?, ?, ?)",
            (json.dumps(sorted(proposals)), json.dumps(sorted(causes)), rfc3339(at), rfc3339(at)),
        )
        self._db.execute("DELETE FROM notices WHERE created_at < ?", (rfc3339(at - _KEPT),))

    def all(self) -> list[tuple[float, list[str], list[str]]]:
        """Return (Unix time, ids of proposals, causes of trouble) of every notice, oldest first."""
        rows = self._db.execute("SELECT created_at, proposal_ids, causes FROM notices ORDER BY id")
        return [
            (seconds(row["created_at"]) or 0.0, json.loads(row["proposal_ids"]), json.loads(row["causes"]))
            for row in rows
        ]
