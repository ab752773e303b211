"""Keeps the file for status lines: how many proposals are waiting, by agent."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from skilld import statusline
from skilld.files import write_whole


class WaitingFile:
    """The file next to a database, written inside the transactions that change the numbers, and so in their order."""

    def __init__(self, db: sqlite3.Connection, database: Path) -> None:
        self._db = db
        self._path = database.with_name(statusline.FILE)
        self.changed = False

    def write(self) -> None:
        """Write the file if its numbers have changed. It is a convenience: failing to write it stops nothing."""
        if not self.changed:
            return
        from skilld.agents import ADAPTERS

        self.changed = False
        rows = self._db.execute("SELECT agent, count(*) AS number FROM proposals WHERE state = 'open' GROUP BY agent")
        data = statusline.content({**dict.fromkeys(ADAPTERS, 0), **{row["agent"]: row["number"] for row in rows}})
        if statusline.read(str(self._path)) != data:
            with suppress(OSError):
                write_whole(self._path, data, 0o600)
