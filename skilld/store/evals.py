"""Evaluations and their runs, stored as they arrive, so that nothing already paid for is asked again.

No words but what a run answered, redacted: all of it until it is judged, its beginning where it failed, none if it
passed. A run is told by its evaluation, its pair, and whether it was the one with the edit (`ours`).
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from typing import Any

from skilld.store.connection import Table

KEPT = 400  # characters of an answer that failed


@dataclass(frozen=True, slots=True)
class StoredCase:
    """Which case stood in which place: its file, and its id there."""

    file: str
    id: str


@dataclass(frozen=True, slots=True)
class StoredEval:
    """One evaluation as it was planned. `proposal` is empty if the whole skill was tried against none.

    `without` says that the edit was taken out of the text as it was, and not put into it.
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


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What a run answered, and whether it passed; None if that is not judged yet."""

    answer: str
    passed: bool | None


class Evals(Table):
    """The tables of evaluations and of their runs."""

    def begin(self, one: StoredEval) -> None:
        """Keep an evaluation that is about to be run; one that was begun before stays as it is."""
        cases = json.dumps([asdict(case) for case in one.cases])
        row = (one.id, one.skill, one.path, one.proposal, one.without, one.model, one.judge, one.pairs, cases, one.at)
        self._db.execute("INSERT OR IGNORE INTO evals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def get(self, name: str) -> StoredEval | None:
        """Return one by its id."""
        row = self._db.execute("SELECT * FROM evals WHERE id = ?", (name,)).fetchone()
        return None if row is None else _from_row(row)

    def of_proposal(self, proposal: str) -> list[StoredEval]:
        """Return those of a proposal, the newest first."""
        rows = self._db.execute("SELECT * FROM evals WHERE proposal = ? ORDER BY at DESC, rowid DESC", (proposal,))
        return [_from_row(row) for row in rows]

    def runs(self, name: str) -> dict[tuple[int, bool], StoredRun]:
        """Return the runs of an evaluation by their pair, and whether they had the edit."""
        rows = self._db.execute("SELECT pair, ours, answer, passed FROM eval_runs WHERE eval = ?", (name,))
        passed = {None: None, 0: False, 1: True}
        return {(row["pair"], bool(row["ours"])): StoredRun(row["answer"], passed[row["passed"]]) for row in rows}

    def keep(self, name: str, pair: int, run: StoredRun, *, ours: bool) -> None:
        """Keep a run; of one that is judged no more of its answer than is of use."""
        if run.passed is not None:
            run = StoredRun("" if run.passed else run.answer[:KEPT], run.passed)
        row = (name, pair, ours, run.answer, run.passed)
        self._db.execute("INSERT OR REPLACE INTO eval_runs VALUES (?, ?, ?, ?, ?)", row)


def _from_row(row: sqlite3.Row) -> StoredEval:
    values: dict[str, Any] = dict(row)
    cases = tuple(StoredCase(**case) for case in json.loads(values.pop("cases")))
    return StoredEval(**(values | {"without": bool(values["without"])}), cases=cases)
