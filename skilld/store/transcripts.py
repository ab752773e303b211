"""Files, sessions, turns and skill uses: where everything was read, never what was said."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld.clock import parse_time
from skilld.files import FileFacts
from skilld.store.connection import Table
from skilld.types import SkillUse, Turn
from skilld.values import value_class

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@value_class
class StoredFile:
    """A transcript and how far it was read. `cursor` and `parser` are JSON objects, None if it was never read."""

    id: int
    agent: str
    path: str
    cursor: dict[str, Any] | None
    parser: dict[str, Any] | None
    baseline: int
    since: str | None
    size: int
    mtime: float


class Files(Table):
    """The table of files."""

    def add_file(self, agent: str, path: str, facts: FileFacts | os.stat_result, *, baseline: int) -> StoredFile:
        """Start to follow a file; bytes before `baseline` were written before skilld was installed."""
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
        """Return the file at `path`."""
        row = self._db.execute("SELECT * FROM files WHERE path = ?", (path,)).fetchone()
        return None if row is None else _file(row)

    def is_live(self, path: str) -> bool:
        """Whether a transcript is known and all of it was written after skilld was installed."""
        return bool(self._first("SELECT baseline = 0 AND since IS NULL FROM files WHERE path = ?", path))

    def is_read(self, path: str, since: str) -> bool:
        """Whether everything said in a transcript at `since` or later was read and counts."""
        query = "SELECT size >= 0 AND baseline = 0 AND (since IS NULL OR since <= ?) FROM files WHERE path = ?"
        return bool(self._first(query, since, path))

    def same_file(self, facts: FileFacts | os.stat_result) -> list[StoredFile]:
        """Return the files with this device and inode: possibly the same file under an older name."""
        rows = self._db.execute("SELECT * FROM files WHERE dev = ? AND ino = ?", (facts.st_dev, facts.st_ino))
        return [_file(row) for row in rows]

    def each(self) -> Iterator[StoredFile]:
        """Yield all files one by one: a list of many thousands would take 20 MB."""
        return map(_file, self._db.execute("SELECT * FROM files ORDER BY id"))

    def positions(self) -> Iterator[tuple[str, str, int, int, float]]:
        """Yield (agent, path, offset up to which it was read, size, modification time) of each file, one by one."""
        yield from self._db.execute(
            "SELECT agent, path, coalesce(json_extract(cursor, '$.offset'), baseline), size, mtime FROM files"
        )

    def newest(self, limit: int) -> list[tuple[str, str]]:
        """Return (agent, path) of the files that grew last."""
        rows = self._db.execute("SELECT agent, path FROM files ORDER BY mtime DESC LIMIT ?", (limit,))
        return [(row["agent"], row["path"]) for row in rows]

    def with_ids(self, ids: Iterable[int]) -> list[StoredFile]:
        """Return the files with these ids."""
        rows = (self._db.execute("SELECT * FROM files WHERE id = ?", (number,)).fetchone() for number in ids)
        return [_file(row) for row in rows if row is not None]

    def unread_before(self, agent: str, folder: Path) -> list[StoredFile]:
        """Return the files from before skilld that were never read: those in `folder` first, newest first."""
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
        turns: int = 0,
        malformed: int = 0,
        overlong: int = 0,
    ) -> None:
        """Save how far a file was read and add to its counters; `cursor` is a dataclass.

        Call it in the transaction that stores the turns.
        """
        self._db.execute(
            """UPDATE files SET cursor = ?, parser = ?, size = ?, mtime = ?, turns = turns + ?,
               malformed = malformed + ?, overlong = overlong + ? WHERE id = ?""",
            (json.dumps(_fields(cursor)), json.dumps(parser), size, mtime, turns, malformed, overlong, file_id),
        )

    def reread(self, file_id: int, *, since: str) -> None:
        """Make a file be read again from its start; what was said at `since` or later counts (backfill)."""
        self._db.execute(
            "UPDATE files SET cursor = NULL, parser = NULL, baseline = 0, since = ?, size = -1 WHERE id = ?",
            (since, file_id),
        )

    def reread_count(self) -> int:
        """Return how many files are still to be read again from their start."""
        return int(self._first("SELECT count(*) FROM files WHERE size < 0"))

    def start_behind(self, file_id: int, end: int) -> None:
        """Make a file count only from this position on, whatever was read of it."""
        self._db.execute(
            "UPDATE files SET cursor = NULL, parser = NULL, baseline = ?, since = NULL WHERE id = ?", (end, file_id)
        )

    def drop_baseline(self, file_id: int, *, since: str | None) -> None:
        """Record that a file was replaced since skilld was installed: what is said in it at `since` or later counts."""
        self._db.execute("UPDATE files SET baseline = 0, since = ? WHERE id = ?", (since, file_id))

    def rename(self, file_id: int, path: str) -> None:
        """Record that a file has moved."""
        self._db.execute("UPDATE files SET path = ? WHERE id = ?", (path, file_id))


def _fields(record: DataclassInstance) -> dict[str, Any]:
    """Return a flat dataclass as a dict; dataclasses.asdict copies each value, which takes 30 us more."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def _file(row: sqlite3.Row) -> StoredFile:
    cursor, parser = (json.loads(row[name]) if row[name] else None for name in ("cursor", "parser"))
    known = row["baseline"], row["since"], row["size"], row["mtime"]
    return StoredFile(row["id"], row["agent"], row["path"], cursor, parser, *known)


# In place of a batch id: said before skilld was installed, so kept only to recognize copies.
BEFORE_SKILLD = "before"


@value_class
class WaitingTurn:
    """A turn that is in no batch yet."""

    key: str
    seq: int
    file_id: int
    start: int
    stop: int
    at: str | None
    lasting: bool


@value_class
class StoredUse:
    """A skill use as the log gives it; `after_seq` turns of the session came before it."""

    name: str
    path: str | None
    cwd: str | None
    after_seq: int


@value_class
class ActiveSession:
    """A session and the folder that it claims to work in; `since` is the Unix time of its first turn."""

    agent: str
    cwd: str
    since: float


class Transcripts(Files):
    """The tables of files, and of the sessions, turns and skill uses found in them."""

    def record_activity(self, agent: str, session_id: str, *, cwd: str | None, activity: float) -> None:
        """Record that a session's file grew at `activity` (Unix seconds)."""
        self._db.execute(
            """INSERT INTO sessions (agent, session_id, cwd, last_activity) VALUES (?, ?, ?, ?)
               ON CONFLICT (agent, session_id) DO UPDATE SET cwd = coalesce(excluded.cwd, cwd),
               last_activity = max(last_activity, excluded.last_activity), ended = 0""",
            (agent, session_id, cwd, activity),
        )

    def clamp_activity(self, after: float, now: float) -> None:
        """Set activity later than `after` to `now` (Unix seconds): the clock was set back."""
        self._db.execute("UPDATE sessions SET last_activity = ? WHERE last_activity > ?", (now, after))

    def end_session(self, agent: str, session_id: str) -> None:
        """Record that the session is over; growing again reopens it."""
        self._db.execute("UPDATE sessions SET ended = 1 WHERE agent = ? AND session_id = ?", (agent, session_id))

    def unknown(self, keys: Iterable[str]) -> set[str]:
        """Return those of `keys` that belong to no turn."""
        return {key for key in keys if not self._db.execute("SELECT 1 FROM turns WHERE key = ?", (key,)).fetchone()}

    def settled(self, keys: Iterable[str]) -> list[str]:
        """Return those of `keys` whose turns are chatter, or in a batch that is done and has not failed.

        A key of no turn is not among them: after a loss of this database its words are all that is left of it.
        """
        settled = """SELECT 1 FROM turns LEFT JOIN batches ON batches.id = batch_id WHERE key = ?
                     AND (NOT lasting OR (batches.state = 'done' AND batches.outcome IS NOT 'failed'))"""
        return [key for key in keys if self._db.execute(settled, (key,)).fetchone()]

    def add_turn(self, turn: Turn, file_id: int, *, counts: bool, lasting: bool, revives: bool = False) -> bool:
        """Store a turn's key and position; its session must exist. Returns whether it is new and counts.

        A turn first read as one from before skilld stays so in every copy, unless `revives` (backfill).
        """
        added = self._db.execute(
            """INSERT OR IGNORE INTO turns SELECT ?, agent, session_id, seen + 1, ?, ?, ?, ?, ?,
               coalesce((SELECT batch_id FROM judged WHERE key = ?), ?) FROM sessions
               WHERE agent = ? AND session_id = ?""",
            (
                turn.key,
                file_id,
                turn.span.start,
                turn.span.end,
                turn.at,
                int(lasting),
                turn.key,  # replayed from a journal after damage: it was judged already
                None if counts else BEFORE_SKILLD,
                turn.agent,
                turn.session_id,
            ),
        ).rowcount
        if not added:
            return counts and revives and self._count_again(turn, file_id)
        self._db.execute(
            "UPDATE sessions SET seen = seen + 1 WHERE agent = ? AND session_id = ?", (turn.agent, turn.session_id)
        )
        return counts

    def _count_again(self, turn: Turn, file_id: int) -> bool:
        changed = self._db.execute(
            """UPDATE turns SET batch_id = NULL, file_id = ?, start = ?, stop = ? WHERE key = ? AND batch_id = ?""",
            (file_id, turn.span.start, turn.span.end, turn.key, BEFORE_SKILLD),
        )
        return changed.rowcount > 0

    def add_use(self, agent: str, use: SkillUse) -> None:
        """Store a skill use with the number of turns before it."""
        self._db.execute(
            """INSERT OR IGNORE INTO skill_uses SELECT ?, ?, ?, ?, ?, seen, ? FROM sessions
               WHERE agent = ? AND session_id = ?""",
            (agent, use.session_id, use.name, use.path or "", use.cwd, use.at, agent, use.session_id),
        )

    def sessions_waiting(self) -> list[tuple[str, str]]:
        """Return (agent, session id) of every session with turns in no batch."""
        rows = self._db.execute("SELECT DISTINCT agent, session_id FROM turns WHERE batch_id IS NULL")
        return [(row["agent"], row["session_id"]) for row in rows]

    def activity(self, agent: str, session_id: str) -> tuple[float, bool]:
        """Return when a session's file last grew (Unix seconds), and whether it ended."""
        row = self._db.execute(
            "SELECT last_activity, ended FROM sessions WHERE agent = ? AND session_id = ?", (agent, session_id)
        ).fetchone()
        return (0.0, False) if row is None else (row["last_activity"], bool(row["ended"]))

    def folders_after(self, agent: str, session_id: str) -> list[str]:
        """Return the folders of the agent's sessions that grew after this one did. Scans all sessions of the agent.

        Sessions that are over do not count, nor do those without a person: they have no folder.
        """
        return self._column(
            """SELECT cwd FROM sessions WHERE agent = ? AND cwd IS NOT NULL AND ended = 0 AND session_id != ? AND
               last_activity > (SELECT last_activity FROM sessions WHERE agent = ? AND session_id = ?)""",
            *(agent, session_id, agent, session_id),
        )

    def active(self, since: float, ended_since: float) -> list[ActiveSession]:
        """Return the sessions with a folder that grew after `since`, or after `ended_since` if they are over.

        Both are Unix times.
        """
        rows = self._db.execute(
            """SELECT agent, cwd, last_activity, (SELECT min(at) FROM turns WHERE turns.agent = sessions.agent
               AND turns.session_id = sessions.session_id) AS first FROM sessions
               WHERE last_activity >= (CASE WHEN ended THEN ? ELSE ? END) AND cwd IS NOT NULL""",
            (ended_since, since),
        )
        return [
            ActiveSession(row["agent"], row["cwd"], parse_time(row["first"]) or row["last_activity"]) for row in rows
        ]

    def newest_activity(self) -> float:
        """Return when any transcript last grew (Unix time), 0 if there is none."""
        return float(self._first("SELECT max(last_activity) FROM sessions") or 0.0)

    def waiting(self, agent: str, session_id: str) -> list[WaitingTurn]:
        """Return the session's turns that are in no batch, in order."""
        rows = self._db.execute(
            """SELECT key, seq, file_id, start, stop, at, lasting FROM turns
               WHERE agent = ? AND session_id = ? AND batch_id IS NULL ORDER BY seq""",
            (agent, session_id),
        )
        return [WaitingTurn(**{**dict(row), "lasting": bool(row["lasting"])}) for row in rows]

    def previous_end(self, agent: str, session_id: str, file_id: int, start: int) -> int:
        """Return where the session's last turn before byte `start` of a file ends; 0 if there is none."""
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
        """Return the folder that a session last claimed to work in."""
        cwd: str | None = self._first("SELECT cwd FROM sessions WHERE agent = ? AND session_id = ?", agent, session_id)
        return cwd

    def folders(self) -> list[str]:
        """Return the folders that sessions worked in, the newest first."""
        return self._column(
            "SELECT cwd FROM sessions WHERE cwd IS NOT NULL GROUP BY cwd ORDER BY max(last_activity) DESC"
        )

    def said_at(self, key: str) -> str | None:
        """Return when a turn was said, None if the turn or its time is unknown."""
        at: str | None = self._first("SELECT at FROM turns WHERE key = ?", key)
        return at

    def agents_in(self, folder: str) -> list[str]:
        """Return the agents that worked in a folder or below it."""
        within = "SELECT DISTINCT agent FROM sessions WHERE cwd = ? OR substr(cwd, 1, ?) = ? ORDER BY agent"
        return self._column(within, folder, len(folder) + 1, f"{folder}/")

    def path_of(self, key: str) -> tuple[str, str] | None:
        """Return agent and path of the transcript that has a turn, None if there is none."""
        row = self._db.execute(
            "SELECT files.agent, path FROM turns JOIN files ON files.id = file_id WHERE key = ?", (key,)
        ).fetchone()
        return None if row is None else (row["agent"], row["path"])

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return, by agent: files, turns that count, malformed and overlong lines, Unix time of the newest growth."""
        rows = self._db.execute(
            """SELECT agent, count(*) AS files, sum(turns) AS turns, sum(malformed) AS malformed,
               sum(overlong) AS overlong, max(mtime) AS newest FROM files GROUP BY agent"""
        )
        return {row["agent"]: dict(row) for row in rows}

    def count_below(self, agent: str, folder: str) -> int:
        """Return how many of an agent's transcripts were read in a folder or below it."""
        number = "SELECT count(*) FROM files WHERE agent = ? AND substr(path, 1, ?) = ?"
        return int(self._first(number, agent, len(folder) + 1, f"{folder}/"))

    def turn_outcomes(self, since: str = "") -> dict[str, int]:
        """Return how many turns count, and how many are judged, pending, waiting, chatter and opted out: the sum.

        `taught` are the judged turns in which something lasting was found, wherever it went; the request that a mined
        skill is for is not. With `since` (RFC 3339), only turns after it or still to be judged.
        """
        row = self._db.execute(
            """WITH fates AS (SELECT CASE
                 WHEN turns.batch_id IS NULL THEN iif(turns.lasting, 'waiting', 'chatter')
                 WHEN batches.state != 'done' OR batches.outcome = 'failed' THEN 'pending'
                 WHEN batches.outcome = 'nothing' AND batches.done_at = batches.created_at AND batches.attempts = 0
                   THEN 'chatter'
                 WHEN batches.outcome = 'nothing' AND batches.detail LIKE '/% opts out of skilld' THEN 'opted_out'
                 ELSE 'judged' END AS fate, turns.key IN (SELECT turn_key FROM learnings UNION ALL
                   SELECT json_extract(one.value, '$[0]') FROM proposals, json_each(evidence) AS one
                   WHERE batch_id NOT LIKE 'mine-%' OR updates = '[]' OR json_extract(one.value, '$[1]') IN
                     (SELECT json_extract(said.value, '$[6]') FROM json_each(updates) AS said
                      WHERE json_extract(said.value, '$[5]') != 0)) AS taught
               FROM turns LEFT JOIN batches ON batches.id = turns.batch_id WHERE turns.batch_id IS NOT ? AND
               (batches.state != 'done' OR coalesce(batches.created_at, turns.at, '0') > ?))
               SELECT count(*) AS seen, coalesce(sum(fate = 'judged'), 0) AS judged,
               coalesce(sum(fate = 'judged' AND taught), 0) AS taught,
               coalesce(sum(fate = 'pending'), 0) AS pending, coalesce(sum(fate = 'waiting'), 0) AS waiting,
               coalesce(sum(fate = 'chatter'), 0) AS chatter, coalesce(sum(fate = 'opted_out'), 0) AS opted_out
               FROM fates""",
            (BEFORE_SKILLD, since),
        ).fetchone()
        return dict(row)
