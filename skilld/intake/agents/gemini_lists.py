"""Reads logs.json, in which Gemini CLI keeps what was submitted in the terminal, all sessions of a project in one.

Bytes in, entries out, oldest first. Seen: 0.61.0; it is written as a whole at every prompt, before the model is asked.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from skilld.intake.agents.fields import objects, short, string, utc
from skilld.intake.agents.typed_list import Entry
from skilld.times import seconds


def read_log(data: bytes) -> Sequence[Entry] | None:
    """Return the entries of a logs.json, None if it is half written."""
    try:
        log = json.loads(data or b"[]")
    except (ValueError, RecursionError):
        return None
    return [
        Entry(string(line.get("message")), short(line.get("sessionId")), seconds(utc(line.get("timestamp"))))
        for line in objects(log)
        if line.get("type") == "user"
    ]
