"""What the person's other machines know of rules, as last synced. Empty for who has joined no machines.

It is a copy of what their remote holds, so the journal goes without it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass

from skilld.store.connection import Table


@dataclass(frozen=True, slots=True)
class MachineRecord:
    """One record: `record` is its text, `path` its file on this machine, `here` how it stood here then."""

    key: str
    what: str
    record: str
    path: str = ""
    here: str = ""


class Elsewhere(Table):
    """The table of what is known."""

    def all(self) -> list[MachineRecord]:
        """Return all that is known."""
        return [MachineRecord(*row) for row in self._db.execute("SELECT * FROM elsewhere ORDER BY what, key")]

    def replace(self, rows: Iterable[MachineRecord]) -> None:
        """Know this and nothing else. Within a transaction of the caller's."""
        self._db.execute("DELETE FROM elsewhere")
        self._db.executemany("INSERT INTO elsewhere VALUES (?, ?, ?, ?, ?)", map(astuple, rows))

    def unwanted(self) -> list[tuple[str, str, str, str]]:
        """Return path, state, rule and quote of what was rejected or reverted elsewhere and never proposed here."""
        rows = self._db.execute(
            "SELECT path, record FROM elsewhere WHERE what = 'decided' AND path != '' AND here = ''"
        )
        found = [(row["path"], json.loads(row["record"])) for row in rows]
        return [
            (path, one["said"], one["rule"], one.get("quote", ""))
            for path, one in found
            if one["said"] in {"rejected", "reverted"}
        ]
