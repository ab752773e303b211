"""Single facts: what the daemon last saw and said of itself. Values are JSON."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

INSTALLED_AT = "installed_at"  # Unix time of the first start
PAUSED_UNTIL = "paused_until"  # Unix time or FOREVER; absent: not paused
FOREVER = "until you resume"
LAST_ERROR = "last_error"  # when, which batch, what
REBUILT = "rebuilt"  # when the database was last put together again, why, and from what
DAEMON = "daemon"  # what the running daemon says of itself
IN_FORCE = "in_force"  # what is shown of the settings that the daemon checked last
BUDGET_SPENT = "budget_spent"  # the day, and which limit was reached
JUDGES_AWAY = "judges_away"  # by model string: agents that could not be asked, why, and until when that holds
JUDGES_TOLD = "judges_told"  # what notices have told of who judges
LEARNING_DEAD = "learning_dead"  # whether it was told that nothing could be judged for a day
RESTS_ON = "rests_on"  # what to mind before merging the staging branch, by the address of its repository
HOMES = "homes"  # the common git directory of each linked work tree that had a proposal, by the tree's address
LOOKED_AT = "looked_at"  # Unix time of the last look at what plain git decided
SNOOZED_UNTIL = "snoozed_until"  # Unix time; no notice before it
SYNCED = "synced"  # project folders whose instruction files got a managed block
SHARED = "shared"  # commits made for sharing, by the address of their repository
DISABLED = "disabled_skills"  # paths of skills that the person does not want offered to agents
MINED_ON = "mined_on"  # the day on which past sessions were last mined unasked
PINNED = "pinned"  # real paths of SKILL.md files
NOTICES = "notices"  # why the last notice could not be shown; empty: it was


class Meta:
    """The table of single facts."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - JSON is Any
        """Return the value of `key`, or `default`."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return default if row is None else json.loads(row["value"])

    def set(self, key: str, value: Any) -> None:  # noqa: ANN401 - JSON is Any
        """Store a JSON-able value under `key`."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    def paused(self, now: float) -> bool:
        """Whether the person has switched skilld off for now (Unix time)."""
        until = self.get(PAUSED_UNTIL)
        return until is not None and (until == FOREVER or float(until) > now)

    def delete(self, key: str) -> None:
        """Forget `key`."""
        self._db.execute("DELETE FROM meta WHERE key = ?", (key,))
