"""What past sessions show about the rules that they loaded; kept after their transcripts are gone.

The only words are redacted quotes. Each transcript has one more row, without a session, with the size and time at
which it was read. Its data says whether a model is still to be asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilld import codec
from skilld.past import PastSession
from skilld.store.connection import Table

_ASK_LATER = "ask"


class PastSessions(Table):
    """The table of past sessions."""

    def save(
        self, path: str, size: int, mtime: float, sessions: Sequence[PastSession], *, ask_later: bool = False
    ) -> None:
        """Save what a transcript of this size and time shows, replacing earlier results for the same sessions.

        With `ask_later` it was read by its words alone, and a model is to be asked about it when it can be.
        """
        rows = [(path, "", size, mtime, _ASK_LATER if ask_later else "")]
        rows += [(path, one.session_id, size, mtime, codec.encode(one)) for one in sessions]
        self._db.executemany("INSERT OR REPLACE INTO past_sessions VALUES (?, ?, ?, ?, ?)", rows)

    def read_files(self) -> dict[str, tuple[int, float]]:
        """Return the size and time at which each transcript was read, by path."""
        rows = self._db.execute("SELECT path, size, mtime FROM past_sessions WHERE session_id = ''")
        return {row["path"]: (row["size"], row["mtime"]) for row in rows}

    def next_unread(
        self, until: float, limit: int = 1, *, unasked: bool = False
    ) -> list[tuple[str, str, int, float, bool]]:
        """Return the newest transcripts unchanged since `until` (Unix time) that were not read in that state.

        With `unasked` also new ones about which a model is still to be asked. Each as agent, path, size, time, and
        whether it was created after skilld was installed. Scans all files.
        """
        rows = self._db.execute(
            """SELECT files.agent, files.path, files.size, files.mtime, baseline = 0 AND since IS NULL FROM files
               LEFT JOIN past_sessions AS past ON past.path = files.path AND session_id = ''
               WHERE files.mtime < ? AND (past.path IS NULL OR past.size != files.size OR past.mtime != files.mtime
               OR (? AND data = ? AND baseline = 0 AND since IS NULL))
               ORDER BY files.mtime DESC LIMIT ?""",
            (until, unasked, _ASK_LATER, limit),
        )
        return [(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]

    def has_rules(self) -> bool:
        """Whether any session loaded a file, which may hold rules."""
        loaded = """SELECT 1 FROM past_sessions
                    WHERE session_id != '' AND json_array_length(data, '$.loaded') > 0 LIMIT 1"""
        return self._first(loaded) is not None

    def sessions(self) -> list[PastSession]:
        """Return every session once, as in the transcript that changed last."""
        rows = self._db.execute("SELECT session_id, data FROM past_sessions WHERE session_id != '' ORDER BY mtime")
        found = {row["session_id"]: row["data"] for row in rows}
        return [codec.decode(PastSession, data, strict=False) for data in found.values()]
