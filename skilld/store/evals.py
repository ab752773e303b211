"""Evaluations and their runs, stored as they arrive, so that no paid answer is requested twice.

The only text is the redacted answer of a run: all of it until it is judged, its beginning if it failed, none if it
passed. A run is identified by its evaluation, its pair, and whether it had the edit (`ours`).
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from typing import Any

from skilld.store.connection import Table
from skilld.values import value_class

MAX_FAILED_ANSWER = 400  # characters of an answer that failed


@value_class
class StoredCase:
    """A case by its file and its id in that file."""

    file: str
    id: str


@value_class
class StoredEval:
    """One evaluation as planned. `proposal` is empty if the whole skill was compared with no skill.

    `without` says that the edit was removed from the current text instead of added to it.
    """

    id: str
    skill: str
    path: str
    proposal: str
    without: bool
    model: str
    judge: str
    pairs: int
    cases: tuple[StoredCase, ...]
    at: str


@value_class
class StoredRun:
    """A run's answer, and whether it passed; None if it is not judged yet."""

    answer: str
    passed: bool | None


class Evals(Table):
    """The tables of evaluations and of their runs."""

    def add(self, one: StoredEval) -> None:
        """Add an evaluation that is about to run; one that was added before stays as it is."""
        cases = json.dumps([asdict(case) for case in one.cases])
        row = (one.id, one.skill, one.path, one.proposal, one.without, one.model, one.judge, one.pairs, cases, one.at)
        self._db.execute("INSERT OR IGNORE INTO evals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def get(self, name: str) -> StoredEval | None:
        """Return the evaluation with this id."""
        row = self._db.execute("SELECT * FROM evals WHERE id = ?", (name,)).fetchone()
        return None if row is None else _from_row(row)

    def of_proposal(self, proposal: str) -> list[StoredEval]:
        """Return the evaluations of a proposal, newest first."""
        rows = self._db.execute("SELECT * FROM evals WHERE proposal = ? ORDER BY at DESC, rowid DESC", (proposal,))
        return [_from_row(row) for row in rows]

    def runs(self, name: str) -> dict[tuple[int, bool], StoredRun]:
        """Return the runs of an evaluation by pair and by whether they had the edit."""
        rows = self._db.execute("SELECT pair, ours, answer, passed FROM eval_runs WHERE eval = ?", (name,))
        passed = {None: None, 0: False, 1: True}
        return {(row["pair"], bool(row["ours"])): StoredRun(row["answer"], passed[row["passed"]]) for row in rows}

    def save_run(self, name: str, pair: int, run: StoredRun, *, ours: bool) -> None:
        """Save a run; of a judged one only the part of its answer that is still needed."""
        if run.passed is not None:
            run = StoredRun("" if run.passed else run.answer[:MAX_FAILED_ANSWER], run.passed)
        row = (name, pair, ours, run.answer, run.passed)
        self._db.execute("INSERT OR REPLACE INTO eval_runs VALUES (?, ?, ?, ?, ?)", row)


def _from_row(row: sqlite3.Row) -> StoredEval:
    values: dict[str, Any] = dict(row)
    cases = tuple(StoredCase(**case) for case in json.loads(values.pop("cases")))
    return StoredEval(**(values | {"without": bool(values["without"])}), cases=cases)
