"""Summaries of sessions and skill uses, for people. Reads only."""

from __future__ import annotations

from collections.abc import Iterable

from skilld.clock import parse_time
from skilld.store.connection import Table
from skilld.store.transcripts import BEFORE_SKILLD
from skilld.values import value_class


@value_class
class LiveSession:
    """A session and its counters: `turns` that count, `waiting` those in no batch. `skills`: newest last."""

    agent: str
    session_id: str
    cwd: str | None
    last_activity: float
    ended: bool
    turns: int
    waiting: int
    skills: tuple[str, ...]

    @property
    def judged(self) -> bool:
        """Whether all of its turns are in a batch; few logs say whether more will come."""
        return bool(self.turns) and not self.waiting


@value_class
class SkillUsage:
    """A skill as logs name it, and the Unix time of the newest use in each session (0: unknown).

    `path` is empty if no log gives it.
    """

    agent: str
    name: str
    path: str
    cwd: str | None
    sessions: dict[str, float]


@value_class
class UnratedUse:
    """A skill that skilld has changed, and a session that has used it since."""

    skill: str
    session_id: str


class Overview(Table):
    """Queries over several tables."""

    def sessions_since(self, since: float) -> list[LiveSession]:
        """Return the sessions that were active at a Unix time or later, newest first."""
        rows = self._db.execute(
            """SELECT agent, session_id, cwd, last_activity, ended,
               (SELECT count(*) FROM turns WHERE turns.agent = sessions.agent AND turns.session_id =
                sessions.session_id AND batch_id IS NOT ?) AS turns,
               (SELECT count(*) FROM turns WHERE turns.agent = sessions.agent AND turns.session_id =
                sessions.session_id AND batch_id IS NULL) AS waiting
               FROM sessions WHERE last_activity >= ? ORDER BY last_activity DESC""",
            (BEFORE_SKILLD, since),
        )
        return [
            LiveSession(
                **{**dict(row), "ended": bool(row["ended"])}, skills=self._skills(row["agent"], row["session_id"])
            )
            for row in rows
        ]

    def _skills(self, agent: str, session_id: str) -> tuple[str, ...]:
        rows = self._db.execute(
            "SELECT name, max(rowid) FROM skill_uses WHERE agent = ? AND session_id = ? GROUP BY name ORDER BY 2",
            (agent, session_id),
        )
        return tuple(row["name"] for row in rows)

    def used(self) -> list[SkillUsage]:
        """Return every skill that a session used, as its logs name it."""
        rows = self._db.execute(
            """SELECT agent, name, path, skill_uses.cwd AS cwd, session_id, max(at) AS at, last_activity
               FROM skill_uses LEFT JOIN sessions USING (agent, session_id)
               GROUP BY agent, name, path, skill_uses.cwd, session_id ORDER BY name"""
        )
        found: dict[tuple[str, str, str, str | None], dict[str, float]] = {}
        for row in rows:
            at = parse_time(row["at"]) or row["last_activity"] or 0.0
            found.setdefault((row["agent"], row["name"], row["path"], row["cwd"]), {})[row["session_id"]] = at
        return [SkillUsage(*claim, sessions) for claim, sessions in found.items()]

    def unrated(self, since: float, until: float) -> list[UnratedUse]:
        """Return skills with an accepted proposal that a session used and nobody has rated lately.

        The session was last active between the Unix times `since` and `until`, or later if its log says that it is
        over; skills rated after `since` are left out. Only the newest session of each skill, newest first.
        """
        rows = self._db.execute(
            """SELECT name, session_id, max(last_activity) FROM skill_uses JOIN sessions USING (agent, session_id)
               WHERE last_activity >= ? AND (ended OR last_activity <= ?) AND EXISTS (
                 SELECT 1 FROM proposals WHERE skill = name AND state = 'accepted'
                 AND decided_at <= strftime('%Y-%m-%dT%H:%M:%SZ', last_activity, 'unixepoch'))
               AND NOT EXISTS (SELECT 1 FROM feedback WHERE skill = name
                 AND feedback.at >= strftime('%Y-%m-%dT%H:%M:%SZ', ?, 'unixepoch'))
               GROUP BY name ORDER BY 3 DESC""",
            (since, until, since),
        )
        return [UnratedUse(row["name"], row["session_id"]) for row in rows]

    def sessions_of(self, turns: Iterable[str]) -> set[str]:
        """Return the ids of the known sessions that have turns with these keys."""
        return {self._first("SELECT session_id FROM turns WHERE key = ?", key) for key in set(turns)} - {None}

    def said_at(self, turn: str) -> float | None:
        """Return when a turn was said, or judged if that is unknown (Unix time); None if both are."""
        at = """SELECT coalesce(turns.at, created_at) FROM turns LEFT JOIN batches ON batches.id = batch_id
                WHERE key = ?"""
        return parse_time(self._first(at, turn))

    def projects(self) -> list[str]:
        """Return the folders that sessions claim to work in, if they are valid absolute paths."""
        rows = self._db.execute("SELECT DISTINCT cwd FROM sessions WHERE cwd LIKE '/%' ORDER BY cwd")
        return [row["cwd"] for row in rows if "\0" not in row["cwd"]]

    def all_sessions(self) -> list[tuple[str, str, str | None, float]]:
        """Return agent, id, folder and Unix time of the last activity of each session."""
        return [tuple(row) for row in self._db.execute("SELECT agent, session_id, cwd, last_activity FROM sessions")]

    def first_activity(self) -> float | None:
        """Return the Unix time of the oldest session's last activity; None if there is no session."""
        first: float | None = self._first("SELECT min(last_activity) FROM sessions")
        return first
