"""What past sessions show of the rules that were loaded; kept after their transcripts are gone.

No words but redacted quotes. Each transcript that was read has a row without a session, which says how far.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilld import codec
from skilld.past import PastSession
from skilld.store.connection import Table


class Past(Table):
    """The table of past sessions."""

    def keep(self, path: str, size: int, mtime: float, sessions: Sequence[PastSession]) -> None:
        """Keep what a transcript of that size and time shows; what it showed before goes, but of sessions not in it."""
        rows = [(path, "", size, mtime, "")]
        rows += [(path, one.session_id, size, mtime, codec.encode(one)) for one in sessions]
        self._db.executemany("INSERT OR REPLACE INTO past_sessions VALUES (?, ?, ?, ?, ?)", rows)

    def read(self) -> dict[str, tuple[int, float]]:
        """Return size and time of the transcripts as they were when they were read, by path."""
        rows = self._db.execute("SELECT path, size, mtime FROM past_sessions WHERE session_id = ''")
        return {row["path"]: (row["size"], row["mtime"]) for row in rows}

    def next(self, until: float, most: int = 1) -> list[tuple[str, str, int, float, bool]]:
        """Return the newest transcripts that rest since a Unix time and were not read as they are. Looks at all.

        Of each its agent, path, size and time, and whether it has come since skilld is there.
        """
        rows = self._db.execute(
            """SELECT files.agent, files.path, files.size, files.mtime, baseline = 0 AND since IS NULL FROM files
               LEFT JOIN past_sessions AS past ON past.path = files.path AND session_id = ''
               WHERE files.mtime < ? AND (past.path IS NULL OR past.size != files.size OR past.mtime != files.mtime)
               ORDER BY files.mtime DESC LIMIT ?""",
            (until, most),
        )
        return [(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]

    def has_sessions(self) -> bool:
        """Whether any session is known."""
        return self._first("SELECT 1 FROM past_sessions WHERE session_id != '' LIMIT 1") is not None

    def sessions(self) -> list[PastSession]:
        """Return all that is known, each session once: as the transcript that was changed last tells of it."""
        rows = self._db.execute("SELECT session_id, data FROM past_sessions WHERE session_id != '' ORDER BY mtime")
        found = {row["session_id"]: row["data"] for row in rows}
        return [codec.decode(PastSession, data, strict=False) for data in found.values()]
