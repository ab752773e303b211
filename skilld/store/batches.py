"""Batches: closed, waiting for a worker, or done, with their outcomes."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from skilld import codec
from skilld.clock import time_until
from skilld.store.connection import Table
from skilld.text import pluralize
from skilld.types import Cause, ClosedBy
from skilld.values import value_class

if TYPE_CHECKING:  # importing the protocol takes 0.1 s, and many commands read no job
    from skilld.protocol import BatchJob, Plan


@value_class
class Obstacle:
    """What blocks a batch: `place` is the path of the obstacle, `since` a Unix time.

    `kept` holds the ids of the learnings that are kept until it is gone.
    """

    cause: Cause
    place: str
    remedy: str
    since: float
    kept: tuple[str, ...] = ()


@value_class
class Tries:
    """How often a batch failed: failed jobs, crashed workers, workers killed from outside."""

    failures: int = 0
    crashes: int = 0
    kills: int = 0


@value_class
class StoredBatch:
    """A batch and the state of its job. `attempts` counts the workers that had it."""

    id: str
    agent: str
    session_id: str
    closed_by: ClosedBy
    state: str
    job: BatchJob
    attempts: int
    created_at: str
    tries: Tries = field(default=Tries())
    obstacle: Obstacle | None = None
    outcome: str = ""
    detail: str = ""


@value_class
class Delay:
    """Batches that wait for the same reason: `why`, how many, and when the first is tried again (Unix time).

    `blocked` says that an obstacle is known, which may be gone before then.
    """

    why: str
    batches: int
    next_try: float
    blocked: bool = False

    def describe(self, now: float, *, goes_on: bool) -> str:
        """Return how many wait and why; if the daemon `goes_on` judging, also when it tries again."""
        then = f"; next try {time_until(self.next_try, now)}" if goes_on else ""
        return f"{pluralize(self.batches, 'batch waits', 'batches wait')}: {self.why}{then}"


BUDGET_REASON = "the budget is spent"  # how the reason begins with which a batch waits for the next day
REMAKE_PREFIX = "remake-"  # of the ids of batches that remake a proposal; the proposal's id follows
_LIVE_SECONDS = 7200.0  # since its session last grew: twice the time after which an idle one is closed
_RESET_COLUMNS = "state = 'pending', not_before = 0, attempts = 0, failures = 0, crashes = 0, kills = 0"


class Batches(Table):
    """The table of batches."""

    def add(self, batch: StoredBatch, turns: Sequence[str], *, outcome: str | None = None, detail: str = "") -> None:
        """Add a closed batch and mark its turns. With an `outcome` it is already done (nothing but chatter)."""
        self._db.execute(
            """INSERT OR IGNORE INTO batches
               (id, agent, session_id, closed_by, state, job, outcome, detail, created_at, done_at)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                *(batch.id, batch.agent, batch.session_id, batch.closed_by.value),
                *("done" if outcome else "pending", codec.encode(batch.job), outcome, detail),
                *(batch.created_at, batch.created_at if outcome else None),
            ),
        )
        self._db.executemany("UPDATE turns SET batch_id = ? WHERE key = ?", [(batch.id, key) for key in turns])

    def replace(self, batch: StoredBatch) -> None:
        """Add a batch without turns, replacing an earlier one with its id."""
        self.add(batch, ())
        self._db.execute(
            f"""UPDATE batches SET {_RESET_COLUMNS}, job = ?, outcome = NULL, detail = '', cause = '', created_at = ?,
                done_at = NULL WHERE id = ?""",  # noqa: S608 - fixed
            (codec.encode(batch.job), batch.created_at, batch.id),
        )

    def get(self, batch_id: str) -> StoredBatch | None:
        """Return the batch with this id, None if there is none."""
        return next(iter(self._select("WHERE id = ?", batch_id)), None)

    def of_turn(self, turn_key: str) -> StoredBatch | None:
        """Return the batch that a turn is in, None if it is in none."""
        return next(iter(self._select("JOIN turns ON batch_id = batches.id WHERE key = ?", turn_key)), None)

    def next_due(self, now: float) -> StoredBatch | None:
        """Return the oldest batch that is due at `now` (Unix seconds), or None.

        Batches of sessions that grew lately, and proposals to be remade, come first.
        """
        due = self._select(
            """LEFT JOIN sessions USING (agent, session_id) WHERE state = 'pending' AND not_before <= ?
               ORDER BY closed_by != ? AND coalesce(last_activity, 0) < ?, created_at, batches.rowid LIMIT 1""",
            *(now, ClosedBy.EDITED, now - _LIVE_SECONDS),
        )
        return next(iter(due), None)

    def done_at(self, batch_id: str) -> str | None:
        """Return when a batch was done, None if it is not or is unknown."""
        at: str | None = self._first("SELECT done_at FROM batches WHERE id = ?", batch_id)
        return at

    def count_due(self, now: float) -> int:
        """Return how many batches are neither done, parked nor postponed at `now` (Unix seconds)."""
        due = "SELECT count(*) FROM batches WHERE state IN ('pending', 'running') AND not_before <= ?"
        return int(self._first(due, now))

    def waiting(self) -> list[StoredBatch]:
        """Return the batches that are neither done nor parked, oldest first."""
        return self._select("WHERE state IN ('pending', 'running') ORDER BY created_at, rowid")

    def delays(self) -> list[Delay]:
        """Return why batches wait for another try (also while it is under way), the soonest first."""
        rows = self._db.execute(
            """SELECT detail, count(*), min(not_before) AS next, min(cause NOT IN ('', ?))
               FROM batches WHERE state IN ('pending', 'running') AND not_before > 0 AND detail > ''
               GROUP BY detail ORDER BY next""",
            (Cause.PROCESS.value,),
        )
        return [Delay(why, number, next_try, bool(blocked)) for why, number, next_try, blocked in rows]

    def standing_delays(self, spent: str | None) -> list[Delay]:
        """Return the same, without a budget that was spent when they were tried and is not any more."""
        return [one for one in self.delays() if spent or not one.why.startswith(BUDGET_REASON)]

    def transcripts(self, batch_id: str) -> list[str]:
        """Return the current paths of the transcripts of its turns, in the order of the turns."""
        return self._column(
            """SELECT path FROM turns JOIN files ON files.id = file_id WHERE batch_id = ?
               GROUP BY file_id ORDER BY min(seq)""",
            batch_id,
        )

    def start(self, batch_id: str) -> None:
        """Record that a worker has started on it."""
        self._db.execute("UPDATE batches SET state = 'running', attempts = attempts + 1 WHERE id = ?", (batch_id,))

    def save_plan(self, batch_id: str, plan: Plan) -> None:
        """Save what its worker is about to do, with the job."""
        self._db.execute(
            "UPDATE batches SET job = json_set(job, '$.plan', json(?)) WHERE id = ?", (codec.encode(plan), batch_id)
        )

    def finish(self, batch_id: str, outcome: str, detail: str, at: str) -> None:
        """Record that it is done."""
        self._db.execute(
            "UPDATE batches SET state = 'done', outcome = ?, detail = ?, done_at = ? WHERE id = ?",
            (outcome, detail, at, batch_id),
        )

    def save_tries(self, batch_id: str, tries: Tries) -> None:
        """Save how often it has failed so far."""
        self._db.execute(
            "UPDATE batches SET failures = ?, crashes = ?, kills = ? WHERE id = ?",
            (tries.failures, tries.crashes, tries.kills, batch_id),
        )

    def set_obstacle(self, batch_id: str, obstacle: Obstacle | None) -> None:
        """Save what blocks it; None if nothing does any more."""
        it = obstacle
        values = (it.cause.value, it.place, it.remedy, it.since, json.dumps(it.kept)) if it else ("", "", "", 0, "[]")
        self._db.execute(
            "UPDATE batches SET cause = ?, place = ?, remedy = ?, since = ?, kept = ? WHERE id = ?", (*values, batch_id)
        )

    def with_obstacle(self, limit: int = -1) -> list[StoredBatch]:
        """Return the blocked batches in any state, newest first, at most `limit`."""
        return self._select("WHERE cause != '' ORDER BY created_at DESC, rowid DESC LIMIT ?", limit)

    def _select(self, rest: str, *values: object) -> list[StoredBatch]:
        """Return the batches that the rest of a SELECT names."""
        return [*map(_from_row, self._db.execute(f"SELECT batches.* FROM batches {rest}", values))]  # noqa: S608 - fixed

    def reopen(self, batch_id: str) -> None:
        """Make a blocked batch pending again if it is done or parked."""
        self._db.execute(
            f"UPDATE batches SET {_RESET_COLUMNS} WHERE id = ? AND state IN ('done', 'parked') AND cause != ''",  # noqa: S608 - fixed
            (batch_id,),
        )

    def turn_numbers(self, batch_id: str) -> list[int]:
        """Return the numbers of its turns in their session, in order."""
        return self._column("SELECT seq FROM turns WHERE batch_id = ? ORDER BY seq", batch_id)

    def postpone(self, batch_id: str, not_before: float, detail: str) -> None:
        """Put it back until `not_before` (Unix seconds)."""
        self._db.execute(
            "UPDATE batches SET state = 'pending', not_before = ?, detail = ? WHERE id = ?",
            (not_before, detail, batch_id),
        )

    def bring_forward(self, seconds: float) -> None:
        """Make every postponed batch due this much sooner."""
        self._db.execute("UPDATE batches SET not_before = not_before - ? WHERE state = 'pending'", (seconds,))

    def release(self, why: str) -> None:
        """Make every batch due now that was postponed with a detail that names `why`."""
        self._db.execute("UPDATE batches SET not_before = 0 WHERE state = 'pending' AND instr(detail, ?)", (why,))

    def park(self, batch_id: str, outcome: str, detail: str) -> None:
        """Give up on it until a person has it tried again."""
        self._db.execute(
            "UPDATE batches SET state = 'parked', outcome = ?, detail = ? WHERE id = ?", (outcome, detail, batch_id)
        )

    def retry(self) -> int:
        """Make every batch due now that is parked, postponed, or done but blocked; return how many."""
        return self._db.execute(
            f"""UPDATE batches SET {_RESET_COLUMNS}, since = 0 WHERE state = 'parked'
                OR (state = 'pending' AND not_before > 0) OR (state = 'done' AND cause != '')"""  # noqa: S608 - fixed
        ).rowcount

    def recover(self) -> int:
        """Make a dead daemon's running batches pending again; return how many. Only with the daemon's lock held."""
        return self._db.execute("UPDATE batches SET state = 'pending' WHERE state = 'running'").rowcount

    def unjudged_since(self) -> tuple[str | None, str]:
        """Return when the oldest unfinished batch was closed (None: there is none), and why the newest one waits."""
        undone = "FROM batches WHERE state IN ('pending', 'running', 'parked')"
        last = self._first(f"SELECT detail {undone} AND detail > '' ORDER BY created_at DESC LIMIT 1")
        return self._first(f"SELECT min(created_at) {undone}"), last or ""

    def last_judged_at(self) -> str | None:
        """Return when a worker last finished a batch."""
        at: str | None = self._first("SELECT max(done_at) FROM batches WHERE state = 'done' AND attempts > 0")
        return at

    def counts(self) -> dict[str, int]:
        """Return how many batches are pending (running ones included), done and parked."""
        found = Counter(dict(self._db.execute("SELECT state, count(*) FROM batches GROUP BY state").fetchall()))
        return {"pending": found["pending"] + found["running"], "done": found["done"], "parked": found["parked"]}

    def outcomes(self) -> dict[str, int]:
        """Return how many done batches had each outcome."""
        rows = self._db.execute("SELECT outcome, count(*) FROM batches WHERE state = 'done' GROUP BY outcome")
        return dict(rows.fetchall())

    def refusals(self, since: str = "") -> dict[str, int]:
        """Return how many batches that were closed after `since` (RFC 3339) were refused, by reason."""
        rows = self._db.execute(
            """SELECT detail, count(*) FROM batches WHERE outcome = 'refused' AND detail != '' AND created_at > ?
               GROUP BY detail""",
            (since,),
        )
        return dict(rows.fetchall())

    def chatter_count(self) -> int:
        """Return how many batches were nothing but chatter: no model was asked about them."""
        chatter = "SELECT count(*) FROM batches WHERE outcome = 'nothing' AND done_at = created_at AND attempts = 0"
        return int(self._first(chatter))

    def parked(self) -> list[dict[str, Any]]:
        """Return the parked batches and the reasons."""
        rows = self._db.execute(
            "SELECT id, agent, session_id, outcome, detail, created_at FROM batches WHERE state = 'parked'"
        )
        return [dict(row) for row in rows]


def _from_row(row: sqlite3.Row) -> StoredBatch:
    from skilld.protocol import BatchJob

    return StoredBatch(
        id=row["id"],
        agent=row["agent"],
        session_id=row["session_id"],
        closed_by=ClosedBy(row["closed_by"]),
        state=row["state"],
        job=codec.decode(BatchJob, row["job"], strict=False),
        attempts=row["attempts"],
        created_at=row["created_at"],
        tries=Tries(row["failures"], row["crashes"], row["kills"]),
        obstacle=_obstacle(row),
        outcome=row["outcome"] or "",
        detail=row["detail"] or "",
    )


def _obstacle(row: sqlite3.Row) -> Obstacle | None:
    if not row["cause"]:
        return None
    kept = tuple(json.loads(row["kept"]))
    return Obstacle(Cause(row["cause"]), row["place"], row["remedy"], row["since"], kept)
