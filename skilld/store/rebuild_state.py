"""What the store keeps while it is put together again after damage, and the questions only that asks."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass

# What the store keeps while it is put together again after damage, and the questions only that asks.

_KEY = "rebuilding"
_MAX_IDS = 1000


@dataclass(frozen=True, slots=True)
class RebuildState:
    """How far it has come.

    What was said at `since` (Unix seconds) or later is to be read again; `tries` counts the looks into git. What
    was not `damaged` only lacked a proposal that git holds; one that is `consistent` reads on where it stopped.
    """

    since: float
    reread: bool = False
    tries: int = 0
    damaged: bool = True
    consistent: bool = False


class Rebuild:
    """The one row that says so, absent where all is well."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    @property
    def state(self) -> RebuildState | None:
        """How far it has come; None where nothing is being rebuilt."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
        return None if row is None else RebuildState(**json.loads(row["value"]))

    def note(self, state: RebuildState) -> None:
        """Keep how far it has come."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY, json.dumps(asdict(state))))

    def end(self) -> None:
        """Note that it is done."""
        self._db.execute("DELETE FROM meta WHERE key = ?", (_KEY,))

    def sessions_with_skills(self) -> list[tuple[str, str]]:
        """Return (agent, session id) of the newest sessions that used a skill."""
        rows = self._db.execute(
            "SELECT agent, session_id FROM skill_uses GROUP BY agent, session_id ORDER BY max(rowid) DESC LIMIT ?",
            (_MAX_IDS,),
        )
        return [(row["agent"], row["session_id"]) for row in rows]

    def agent_of(self, session_id: str) -> str:
        """Return the agent of a session; empty where it is not known."""
        row = self._db.execute("SELECT agent FROM sessions WHERE session_id = ?", (session_id,)).fetchone()
        return "" if row is None else str(row["agent"])
