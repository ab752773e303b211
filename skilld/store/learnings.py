"""Lasting instructions that are not in a file yet: redacted quotes, with where and when they were said.

Beside them, the results of tasks that `skilld record` kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple

from skilld.store.connection import Table
from skilld.values import value_class

RECORDED = "record"  # the agent of what `skilld record` kept
NO_FILE_REASON = "you have said it in only one session, and there is no"  # the name of the missing file follows


@value_class
class Learning:
    """One lasting thing said, kept for later. `why_kept` says why it is not a proposal.

    `place` is the path of the file it would go to and `place_kind` its kind (TargetKind); empty if there is none.
    """

    id: str
    turn_key: str
    quote: str
    change: str
    kind: str
    agent: str
    session_id: str
    project: str | None
    skill: str | None
    why_kept: str
    confidence: float
    created_at: str
    place_kind: str = ""
    place: str = ""

    @property
    def is_result(self) -> bool:
        """Whether it is the result of a recorded task: nobody said it."""
        return self.agent == RECORDED


class Learnings(Table):
    """The table of learnings."""

    def add(self, learning: Learning) -> None:
        """Add a learning; does nothing if its id exists."""
        self._db.execute(
            "INSERT OR IGNORE INTO learnings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(learning)
        )

    def existing(self, ids: Iterable[str]) -> list[str]:
        """Return those of `ids` that exist."""
        return [name for name in dict.fromkeys(ids) if self.get(name) is not None]

    def all(self) -> list[Learning]:
        """Return all learnings, newest first."""
        rows = self._db.execute("SELECT * FROM learnings ORDER BY created_at DESC, id")
        return [Learning(*row) for row in rows]

    def said(self) -> list[Learning]:
        """Return those that the person said, newest first: not the results of tasks."""
        return [one for one in self.all() if not one.is_result]

    def get(self, learning_id: str) -> Learning | None:
        """Return the learning with this id."""
        row = self._db.execute("SELECT * FROM learnings WHERE id = ?", (learning_id,)).fetchone()
        return None if row is None else Learning(*row)

    def count(self) -> int:
        """Return how many there are, counting what was said several times in one project once."""
        return int(self._first("SELECT count(*) FROM (SELECT DISTINCT project, skill, lower(change) FROM learnings)"))

    def count_for_files(self) -> int:
        """Return how many of them are for a file that is not a skill."""
        each = """SELECT count(*) FROM (SELECT DISTINCT project, lower(change) FROM learnings
                  WHERE place_kind NOT IN ('', 'skill'))"""
        return int(self._first(each))

    def for_files(self) -> list[Learning]:
        """Return those for files that are not skills, newest first."""
        rows = self._db.execute(
            "SELECT * FROM learnings WHERE place_kind NOT IN ('', 'skill') ORDER BY created_at DESC, id"
        )
        return [Learning(*row) for row in rows]

    def of_turn(self, turn_key: str) -> list[Learning]:
        """Return the learnings of one turn."""
        return [Learning(*row) for row in self._db.execute("SELECT * FROM learnings WHERE turn_key = ?", (turn_key,))]

    def set_target(self, learning_id: str, kind: str, place: str, why: str) -> None:
        """Record which file one is for, and why it is not proposed."""
        self._db.execute(
            "UPDATE learnings SET place_kind = ?, place = ?, why_kept = ? WHERE id = ?", (kind, place, why, learning_id)
        )

    def forget(self, learning_id: str) -> bool:
        """Delete the learning with this id; False if there is none."""
        return self._db.execute("DELETE FROM learnings WHERE id = ?", (learning_id,)).rowcount > 0
