"""Records about rules from the person's other machines, as last synced; empty if no machines were joined.

The journal does not hold them: they are a copy of what the remote has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple

from skilld.store.connection import Table
from skilld.values import value_class


@value_class
class MachineRecord:
    """One record: `record` is its text, `path` its file on this machine, `here` its state here at the last sync."""

    key: str
    what: str
    record: str
    path: str = ""
    here: str = ""


class MachineRecords(Table):
    """The table `elsewhere`."""

    def all(self) -> list[MachineRecord]:
        """Return all records."""
        return [MachineRecord(*row) for row in self._db.execute("SELECT * FROM elsewhere ORDER BY what, key")]

    def replace(self, rows: Iterable[MachineRecord]) -> None:
        """Replace all records. Call it in a transaction."""
        self._db.execute("DELETE FROM elsewhere")
        self._db.executemany("INSERT INTO elsewhere VALUES (?, ?, ?, ?, ?)", map(astuple, rows))

    def rejections(self) -> list[tuple[str, str, str, str, str]]:
        """Return (path, state, rule, quote, time) of what only another machine rejected or reverted."""
        rows = self._db.execute(
            "SELECT path, record FROM elsewhere WHERE what = 'decided' AND path != '' AND here = ''"
        )
        found = [(row["path"], json.loads(row["record"])) for row in rows]
        return [
            (path, one["said"], one["rule"], one.get("quote", ""), one.get("at", ""))
            for path, one in found
            if one["said"] in {"rejected", "reverted"}
        ]
