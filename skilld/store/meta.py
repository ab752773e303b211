"""Single facts: what the daemon last saw and reported. Values are JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from skilld.clock import rfc3339, seconds
from skilld.store.connection import Table

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
STATUSLINES = "statuslines"  # settings of other programs that show the status line: which, and whether we made the file
SHARED = "shared"  # commits made for sharing, by the address of their repository
DISABLED = "disabled_skills"  # paths of skills that the person does not want offered to agents
MINED_ON = "mined_on"  # the day on which past sessions were last mined unasked
MENDED_ON = "mended_on"  # the day on which it was last looked at which rules are not kept
HEARD = "heard"  # corrections were read since then
OFFERED = "offered"  # the newest decision of which it was looked whom else it concerns
PLACED_ON = "placed_on"  # the day on which learnings of an older skilld were last judged once more
PINNED = "pinned"  # real paths of SKILL.md files
DRIFT = "drift"  # by agent and version of its client: which kinds of records stood in its sessions
TEAM = "team"  # of each repository whose team the person joined: as whom, where, and the keys of the others
REVIEWED = "reviewed"  # of each repository and kind of review comments: from when, and up to when they were read
MACHINES = "machines"  # through which remote the person's machines sync, as which this one, and the keys of the others
ROOTS = "roots"  # the first commit of repositories, by the address of the work tree
SYNCED_AT = "synced_at"  # Unix time at which the daemon last synced with others, by what
NOTICES = "notices"  # why the last notice could not be shown; empty: it was


class Meta(Table):
    """The table of single facts."""

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - JSON is Any
        """Return the value of `key`, or `default`."""
        value = self._first("SELECT value FROM meta WHERE key = ?", key)
        return default if value is None else json.loads(value)

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


# What was found out about windows of past sessions: so that nobody asks a model twice about the same words. Only what
# the answers came to is kept, in redacted quotes; the sessions' own words stay where they are.


class Mining(Table):
    """The table of windows."""

    def keep(self, window: str, session_id: str, updates: Sequence[Mapping[str, Any]], at: str) -> None:
        """Keep what was found in a window, be it nothing."""
        self._db.execute(
            "INSERT OR REPLACE INTO mined VALUES (?, ?, ?, ?)", (window, session_id, json.dumps(list(updates)), at)
        )

    def found(self, window: str) -> list[dict[str, Any]] | None:
        """Return what was found in a window, None if it was never asked about."""
        updates = self._first("SELECT updates FROM mined WHERE id = ?", window)
        return None if updates is None else list(json.loads(updates))


_KEPT_SECONDS = 30 * 86400.0


class Notices(Table):
    """The table of notices."""

    def add(self, at: float, proposals: Collection[str], causes: Collection[str]) -> int:
        """Keep that a notice is shown at a Unix time, forget those of more than a month ago, and return its number."""
        written = self._db.execute(
            "INSERT INTO notices (proposal_ids, causes, created_at, delivered_at) VALUES (?, ?, ?, ?)",
            (json.dumps(sorted(proposals)), json.dumps(sorted(causes)), rfc3339(at), rfc3339(at)),
        )
        number = written.lastrowid or 0
        self._db.execute("DELETE FROM notices WHERE created_at < ?", (rfc3339(at - _KEPT_SECONDS),))
        return number

    def take_back(self, number: int) -> None:
        """Forget a notice that could not be shown."""
        self._db.execute("DELETE FROM notices WHERE id = ?", (number,))

    def all(self) -> list[tuple[float, list[str], list[str]]]:
        """Return (Unix time, ids of proposals, causes of trouble) of every notice, oldest first."""
        rows = self._db.execute("SELECT created_at, proposal_ids, causes FROM notices ORDER BY id")
        return [
            (seconds(row["created_at"]) or 0.0, json.loads(row["proposal_ids"]), json.loads(row["causes"]))
            for row in rows
        ]
