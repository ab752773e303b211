"""Single values, such as what the daemon last saw and reported, as JSON; windows that were mined; notices."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from skilld.clock import parse_time, rfc3339
from skilld.store.connection import Table

INSTALLED_AT = "installed_at"  # Unix time of the first start
PAUSED_UNTIL = "paused_until"  # Unix time or FOREVER; absent: not paused
FOREVER = "until you resume"
RAN_ONCE_AT = "ran_once"  # Unix time of the last `run --once` that came to its end
LAST_ERROR = "last_error"  # when, which batch, what
LAST_REBUILD = "rebuilt"  # when the database was last rebuilt, why, and from what
DAEMON = "daemon"  # the state that the running daemon reports
ACTIVE_SETTINGS = "in_force"  # the settings that the daemon checked last, if they are shown
BUDGET_SPENT = "budget_spent"  # the day, and which limit was reached
UNAVAILABLE_JUDGES = "judges_away"  # by model string: agents that could not be asked, why, and until when
ANNOUNCED_JUDGES = "judges_told"  # what notices have said about who judges
STALL_REPORTED = "learning_dead"  # whether a notice said that nothing could be judged for a day
MERGE_WARNINGS = "rests_on"  # what to know before merging the staging branch, by the address of its repository
COMMON_GIT_DIRS = "homes"  # of each linked work tree that had a proposal, by the address of the tree
FOLDER_IDS = "folders"  # the numbers by which each project's folder is known again, by its path
GIT_POLLED_AT = "looked_at"  # Unix time of the last look at what plain git decided
SNOOZED_UNTIL = "snoozed_until"  # Unix time; no notice before it
SYNCED_PROJECTS = "synced"  # project folders whose instruction files got a managed block
WITHDRAWALS = "let_go"  # redacted quotes by which the person took a rule back, lately
PASSED_OVER = "passed_over"  # what sounded lasting and was not treated as a rule: redacted quotes, as of learnings
STATUSLINES = "statuslines"  # settings files of other programs that show the status line, and whether we created them
SHARED_COMMITS = "shared"  # commits made for sharing, by the address of their repository
DISABLED_SKILLS = "disabled_skills"  # paths of skills that the person does not want offered to agents
MINED_ON = "mined_on"  # the day on which the daemon last mined past sessions
RULES_CHECKED_ON = "mended_on"  # the day on which the daemon last looked for rules that are not followed
CORRECTIONS_READ = "heard"  # whether corrections were read since that check
LAST_OFFERED = "offered"  # the newest decision that was checked for other files it concerns
DOUBTS_SHOWN = "doubts_shown"  # IDs of recent decisions with plain git that the review has named
DRIFT = "drift"  # the kinds of records in sessions, by agent and version of its client
TEAMS = "team"  # by repository whose team the person joined: their name, the remote, and the keys of the others
MOVED_TEAMS = "team_moved"  # where repositories of joined teams are now, by their path in the settings
REVIEWS_READ = "reviewed"  # the time span read, by repository and kind of review comments
MACHINES = "machines"  # the remote through which the machines sync, this one's name, and the keys of the others
ROOT_COMMITS = "roots"  # the first commit of repositories, by the address of the work tree
SYNCED_AT = "synced_at"  # Unix time of the daemon's last sync, by kind (team, machines)
NOTICE_ERROR = "notices"  # why the last notice could not be shown; empty if it was


class Meta(Table):
    """The table of single values."""

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - JSON is Any
        """Return the value of `key`, or `default`."""
        value = self._first("SELECT value FROM meta WHERE key = ?", key)
        return default if value is None else json.loads(value)

    def set(self, key: str, value: Any) -> None:  # noqa: ANN401 - JSON is Any
        """Store a value, which must be serializable as JSON, under `key`."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    def paused(self, now: float) -> bool:
        """Whether the person has paused skilld at `now` (Unix time)."""
        until = self.get(PAUSED_UNTIL)
        return until is not None and (until == FOREVER or float(until) > now)

    def delete(self, key: str) -> None:
        """Delete `key`."""
        self._db.execute("DELETE FROM meta WHERE key = ?", (key,))


# Results are kept by window so that no model is asked twice about the same words. Only redacted quotes are stored; the
# words of the sessions stay where they are.


class Mining(Table):
    """The table of mined windows of past sessions."""

    def save(self, window: str, session_id: str, updates: Sequence[Mapping[str, Any]], at: str) -> None:
        """Save what was found in a window, possibly nothing."""
        self._db.execute(
            "INSERT OR REPLACE INTO mined VALUES (?, ?, ?, ?)", (window, session_id, json.dumps(list(updates)), at)
        )

    def get(self, window: str) -> list[dict[str, Any]] | None:
        """Return what was found in a window, None if it was never asked about."""
        updates = self._first("SELECT updates FROM mined WHERE id = ?", window)
        return None if updates is None else list(json.loads(updates))


_KEPT_SECONDS = 30 * 86400.0


class Notices(Table):
    """The table of notices."""

    def add(self, at: float, proposals: Collection[str], causes: Collection[str]) -> int:
        """Add a notice shown at `at` (Unix time), delete those older than a month, and return its number."""
        written = self._db.execute(
            "INSERT INTO notices (proposal_ids, causes, created_at) VALUES (?, ?, ?)",
            (json.dumps(sorted(proposals)), json.dumps(sorted(causes)), rfc3339(at)),
        )
        number = written.lastrowid or 0
        self._db.execute("DELETE FROM notices WHERE created_at < ?", (rfc3339(at - _KEPT_SECONDS),))
        return number

    def delete(self, number: int) -> None:
        """Delete a notice that could not be shown."""
        self._db.execute("DELETE FROM notices WHERE id = ?", (number,))

    def all(self) -> list[tuple[float, list[str], list[str]]]:
        """Return (Unix time, proposal ids, causes of failure) of every notice, oldest first."""
        rows = self._db.execute("SELECT created_at, proposal_ids, causes FROM notices ORDER BY id")
        return [
            (parse_time(row["created_at"]) or 0.0, json.loads(row["proposal_ids"]), json.loads(row["causes"]))
            for row in rows
        ]
