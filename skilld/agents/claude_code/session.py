"""Who sits at a Claude Code session, and where: what later records need of the earlier ones.

One file can hold a person's turns and those of `claude -p`, so the question is put again for each record. Takes records
in order; gives whether each belongs to what a person does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilld.agents.claude_code.prompts import flagged, is_automated, is_signed
from skilld.agents.claude_code.records import Record, items, string


class Presence:
    """Follows one transcript. All it keeps over a restart is a folder, a version and two flags."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.cwd = string(state.get("cwd")) or None
        self.version = tuple(part for part in items(state.get("version")) if isinstance(part, int))
        # As of the last record; nobody is known to be there before the first.
        self.person = state.get("person") is True
        # Whether a human sent the last prompt of a session that a program started (desktop and mobile apps).
        self._signed = state.get("signed") is True

    def state(self) -> dict[str, Any]:
        """Return what must outlive a restart."""
        return {"cwd": self.cwd, "version": list(self.version), "person": self.person, "signed": self._signed}

    def follow(self, record: Record) -> bool:
        """Take note of a record; return whether it belongs to what a person does, not to a headless run."""
        self.cwd = record.cwd or self.cwd
        self.version = record.version or self.version
        if is_automated(record):
            if record.type == "user" and not flagged(record) and not any(record.results()):
                self._signed = is_signed(record)
            self.person = self._signed
        else:
            self.person = True
        return self.person
