"""Files, sessions, turns and skill uses: where everything was seen, never what was said."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld.types import SkillUse, Turn

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# In place of a batch: said before skilld was there, so it counts for nothing but recognising copies.
BEFORE = "before"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A transcript and how far it was read. `cursor` and `parser` are JSON objects, None where it never was."""

    id: int
    agent: str
    path: str
    cursor: dict[str, Any] | None
    parser: dict[str, Any] | None
    baseline: int
    since: str | None
    size: int
    mtime: float


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    """A turn that no batch has taken yet."""

    key: str
    seq: int
    file_id: int
    start: int
    stop: int
    at: str | None
    lasting: bool


@dataclass(frozen=True, slots=True)
class StoredUse:
    """A skill use as the log claims it; `after_seq` turns of the session came before."""

    name: str
    path: str | None
    cwd: str | None
    after_seq: int


class Transcripts:
    """The tables about what was read."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    # files ----------------------------------------------------------------------------------------------------------

    def add_file(self, agent: str, path: str, facts: os.stat_result, *, baseline: int) -> StoredFile:
        """Start to follow a file; bytes before `baseline` were there before skilld."""
        self._db.execute(
            """INSERT OR IGNORE INTO files (agent, path, dev, ino, baseline, size, mtime)
               VALUES (?, ?, ?, ?, ?, ?, ?)""",
            (agent, path, facts.st_dev, facts.st_ino, baseline, facts.st_size, facts.st_mtime),
        )
        found = self.file(path)
        if found is None:
            raise sqlite3.IntegrityError(path)
        return found

    def file(self, path: str) -> StoredFile | None:
        """Return the file known under `path`."""
        row = self._db.execute("SELECT * FROM files WHERE path = ?", (path,)).fetchone()
        return None if row is None else _file(row)

    def same_file(self, facts: os.stat_result) -> list[StoredFile]:
        """Return the files known with this device and inode: perhaps this one under an older name."""
        rows = self._db.execute("SELECT * FROM files WHERE dev = ? AND ino = ?", (facts.st_dev, facts.st_ino))
        return [_file(row) for row in rows]

    def files(self, agent: str | None = None) -> list[StoredFile]:
        """Return all files (of one agent)."""
        rows = self._db.execute("SELECT * FROM files WHERE ? IS NULL OR agent = ? ORDER BY id", (agent, agent))
        return [_file(row) for row in rows]

    def unread_before(self, agent: str, folder: Path) -> list[StoredFile]:
        """Return the files that were there before skilld and were never read: those in `folder` first, newest first."""
        rows = self._db.execute(
            "SELECT * FROM files WHERE agent = ? AND cursor IS NULL AND baseline > 0 ORDER BY mtime DESC", (agent,)
        )
        return sorted(map(_file, rows), key=lambda file: Path(file.path).parent != folder)

    def save_reading(
        self,
        file_id: int,
        *,
        cursor: DataclassInstance,
        parser: Mapping[str, Any],
        size: int,
        mtime: float,
        malformed: int,
        overlong: int,
    ) -> None:
        """Record how far a file was read; `cursor` is a dataclass. Call it with the turns in one transaction."""
        self._db.execute(
            """UPDATE files SET cursor = ?, parser = ?, size = ?, mtime = ?, malformed = malformed + ?,
               overlong = overlong + ? WHERE id = ?""",
            (json.dumps(asdict(cursor)), json.dumps(parser), size, mtime, malformed, overlong, file_id),
        )

    def reread(self, file_id: int, *, since: str) -> None:
        """Have a file read again from its start, counting what was said at `since` or later (backfill)."""
        self._db.execute(
            "UPDATE files SET cursor = NULL, parser = NULL, baseline = 0, since = ?, size = -1 WHERE id = ?",
            (since, file_id),
        )

    def drop_baseline(self, file_id: int, *, since: str | None) -> None:
        """Record that a file is not what it was when skilld came: what is said in it at `since` or later counts."""
        self._db.execute("UPDATE files SET baseline = 0, since = ? WHERE id = ?", (since, file_id))

    def rename(self, file_id: int, path: str) -> None:
        """Record that a file has moved."""
        self._db.execute("UPDATE files SET path = ? WHERE id = ?", (path, file_id))

    # sessions and turns ---------------------------------------------------------------------------------------------

    def see_session(self, agent: str, session_id: str, *, cwd: str | None, activity: float) -> None:
        """Record that a session's file grew at `activity` (Unix seconds)."""
        self._db.execute(
            """INSERT INTO sessions (agent, session_id, cwd, last_activity) VALUES (?, ?, ?, ?)
               ON CONFLICT (agent, session_id) DO UPDATE SET cwd = coalesce(excluded.cwd, cwd),
               last_activity = max(last_activity, excluded.last_activity), ended = 0""",
            (agent, session_id, cwd, activity),
        )

    def forget_future(self, after: float, now: float) -> None:
        """Take activity later than `after` for activity `now` (Unix seconds): the clock was set back since."""
        self._db.execute("UPDATE sessions SET last_activity = ? WHERE last_activity > ?", (now, after))

    def end_session(self, agent: str, session_id: str) -> None:
        """Record that the log says the session is over."""
        self._db.execute("UPDATE sessions SET ended = 1 WHERE agent = ? AND session_id = ?", (agent, session_id))

    def unknown(self, keys: Iterable[str]) -> set[str]:
        """Return those of `keys` that no turn has."""
        return {key for key in keys if not self._db.execute("SELECT 1 FROM turns WHERE key = ?", (key,)).fetchone()}

    def add_turn(self, turn: Turn, file_id: int, *, counts: bool, lasting: bool, revives: bool = False) -> bool:
        """Keep a turn's key and place. False where it is known: a copy, or the file read again.

        A turn that was first met as one from before skilld stays one in every copy, unless `revives` (backfill).
        """
        known = self._db.execute("SELECT batch_id FROM turns WHERE key = ?", (turn.key,)).fetchone()
        if known is not None:
            if counts and revives and known["batch_id"] == BEFORE:
                self._db.execute(
                    "UPDATE turns SET batch_id = NULL, file_id = ?, start = ?, stop = ? WHERE key = ?",
                    (file_id, turn.span.start, turn.span.end, turn.key),
                )
                self._db.execute("UPDATE files SET turns = turns + 1 WHERE id = ?", (file_id,))
                return True
            return False
        self._db.execute(
            "UPDATE sessions SET seen = seen + 1 WHERE agent = ? AND session_id = ?", (turn.agent, turn.session_id)
        )
        self._db.execute("UPDATE files SET turns = turns + ? WHERE id = ?", (int(counts), file_id))
        self._db.execute(
            """INSERT INTO turns VALUES (?, ?, ?,
               (SELECT seen FROM sessions WHERE agent = ? AND session_id = ?), ?, ?, ?, ?, ?, ?)""",
            (
                turn.key,
                turn.agent,
                turn.session_id,
                turn.agent,
                turn.session_id,
                file_id,
                turn.span.start,
                turn.span.end,
                turn.at,
                int(lasting),
                None if counts else BEFORE,
            ),
        )
        return counts

    def add_use(self, agent: str, use: SkillUse) -> None:
        """Keep a skill use with the number of turns before it."""
        self._db.execute(
            """INSERT OR IGNORE INTO skill_uses SELECT ?, ?, ?, ?, ?, seen, ? FROM sessions
               WHERE agent = ? AND session_id = ?""",
            (agent, use.session_id, use.name, use.path or "", use.cwd, use.at, agent, use.session_id),
        )

    def sessions_waiting(self) -> list[tuple[str, str, float, bool]]:
        """Return (agent, session id, last activity, ended) of every session with turns that no batch has taken."""
        rows = self._db.execute(
            """SELECT agent, session_id, last_activity, ended FROM sessions WHERE EXISTS (SELECT 1 FROM turns WHERE
               turns.agent = sessions.agent AND turns.session_id = sessions.session_id AND batch_id IS NULL)"""
        )
        return [(row["agent"], row["session_id"], row["last_activity"], bool(row["ended"])) for row in rows]

    def waiting(self, agent: str, session_id: str) -> list[WaitingTurn]:
        """Return the session's turns that no batch has taken, in order."""
        rows = self._db.execute(
            """SELECT key, seq, file_id, start, stop, at, lasting FROM turns
               WHERE agent = ? AND session_id = ? AND batch_id IS NULL ORDER BY seq""",
            (agent, session_id),
        )
        return [
            WaitingTurn(
                key=row["key"],
                seq=row["seq"],
                file_id=row["file_id"],
                start=row["start"],
                stop=row["stop"],
                at=row["at"],
                lasting=bool(row["lasting"]),
            )
            for row in rows
        ]

    def previous_end(self, agent: str, session_id: str, file_id: int, start: int) -> int:
        """Return where the session's turn before byte `start` of a file ends; 0 where there is none."""
        (end,) = self._db.execute(
            """SELECT coalesce(max(stop), 0) FROM turns
               WHERE agent = ? AND session_id = ? AND file_id = ? AND start < ? AND stop <= ?""",
            (agent, session_id, file_id, start, start),
        ).fetchone()
        return int(end)

    def uses(self, agent: str, session_id: str, until_seq: int) -> list[StoredUse]:
        """Return the skill uses of a session before or during turn `until_seq`, newest first."""
        rows = self._db.execute(
            """SELECT name, nullif(path, ''), cwd, after_seq FROM skill_uses
               WHERE agent = ? AND session_id = ? AND after_seq <= ?
               ORDER BY after_seq DESC, rowid DESC""",
            (agent, session_id, until_seq),
        )
        return [StoredUse(*row) for row in rows]

    def cwd(self, agent: str, session_id: str) -> str | None:
        """Return the folder a session last said it works in: a claim."""
        row = self._db.execute(
            "SELECT cwd FROM sessions WHERE agent = ? AND session_id = ?", (agent, session_id)
        ).fetchone()
        return None if row is None else row["cwd"]

    # summaries ------------------------------------------------------------------------------------------------------

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return per agent: files, turns that count, malformed lines, time of the newest growth (Unix seconds)."""
        rows = self._db.execute(
            """SELECT agent, count(*) AS files, sum(turns) AS turns, sum(malformed) AS malformed,
               sum(overlong) AS overlong, max(mtime) AS newest FROM files GROUP BY agent"""
        )
        return {row["agent"]: dict(row) for row in rows}

    def turn_counts(self) -> dict[str, int]:
        """Return how many turns count, wait, and are chatter by the gate's word."""
        row = self._db.execute(
            """SELECT count(*) AS seen, coalesce(sum(batch_id IS NULL), 0) AS waiting,
               coalesce(sum(lasting = 0), 0) AS chatter FROM turns WHERE batch_id IS NOT ?""",
            (BEFORE,),
        ).fetchone()
        return dict(row)

    def sessions_without_skill(self) -> int:
        """Return how many turns that count were said in sessions without any skill use."""
        (number,) = self._db.execute(
            """SELECT count(*) FROM turns WHERE batch_id IS NOT ? AND NOT EXISTS (SELECT 1 FROM skill_uses WHERE
               skill_uses.agent = turns.agent AND skill_uses.session_id = turns.session_id)""",
            (BEFORE,),
        ).fetchone()
        return int(number)


def _file(row: sqlite3.Row) -> StoredFile:
    return StoredFile(
        id=row["id"],
        agent=row["agent"],
        path=row["path"],
        cursor=json.loads(row["cursor"]) if row["cursor"] else None,
        parser=json.loads(row["parser"]) if row["parser"] else None,
        baseline=row["baseline"],
        since=row["since"],
        size=row["size"],
        mtime=row["mtime"],
    )
