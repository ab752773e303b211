"""Finished tasks and feedback on skills, recorded by a person or their tools."""

from __future__ import annotations

import json
import sqlite3

from skilld.store.connection import Table
from skilld.values import value_class


@value_class
class Task:
    """One recorded task, its texts redacted. `seconds` is its duration; `qa` is None if nobody checked it."""

    id: str
    prompt: str
    project: str
    status: str
    tools: tuple[str, ...]
    skills: tuple[str, ...]
    seconds: float
    result: str
    qa: bool | None
    at: str


class TaskRecords(Table):
    """The tables of tasks and feedback."""

    def add_task(self, task: Task) -> None:
        """Add a task, unless its id exists."""
        values = (
            *(task.id, task.prompt, task.project, task.status, json.dumps(task.tools), json.dumps(task.skills)),
            *(task.seconds, task.result, None if task.qa is None else int(task.qa), task.at),
        )
        self._db.execute("INSERT OR IGNORE INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def tasks(self, project: str | None = None) -> list[Task]:
        """Return the tasks of a project, or all tasks, newest first."""
        rows = self._db.execute(
            "SELECT * FROM tasks WHERE ? IS NULL OR project = ? ORDER BY at DESC, id", (project,) * 2
        )
        return [_task(row) for row in rows]

    def add_feedback(self, skill: str, path: str, session_id: str, note: str, at: str, *, helpful: bool) -> None:
        """Save whether a skill helped in a session, replacing earlier feedback for the same session.

        `path` is that of its SKILL.md, empty if only the name is known.
        """
        self._db.execute(
            "INSERT OR REPLACE INTO feedback (skill, path, session_id, helpful, note, at) VALUES (?, ?, ?, ?, ?, ?)",
            (skill, path, session_id, int(helpful), note, at),
        )

    def feedback(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Return how often each skill, by name and path as in `add_feedback`, was rated helpful and unhelpful."""
        rows = self._db.execute(
            "SELECT skill, path, sum(helpful) AS yes, sum(1 - helpful) AS no FROM feedback GROUP BY skill, path"
        )
        return {(row["skill"], row["path"]): (row["yes"], row["no"]) for row in rows}

    def feedback_by_session(self, skill: str, path: str) -> dict[str, bool]:
        """Return whether a skill was rated helpful, by session; "" stands for no particular session.

        Feedback on its name alone counts too, but feedback on this file takes precedence.
        """
        rows = self._db.execute(
            "SELECT session_id, helpful FROM feedback WHERE skill = ? AND path IN ('', ?) ORDER BY path", (skill, path)
        )
        return {row["session_id"]: bool(row["helpful"]) for row in rows}


def _task(row: sqlite3.Row) -> Task:
    lists = {name: tuple(json.loads(row[name])) for name in ("tools", "skills")}
    return Task(**{**dict(row), **lists, "qa": None if row["qa"] is None else bool(row["qa"])})
