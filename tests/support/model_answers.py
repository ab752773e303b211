"""Right answers of a model to a session that says LASTING in its second turn: an update, and the edit for it."""

from __future__ import annotations

import json
from typing import Any

from support.session import LASTING

CHANGE = "Always put the ticket number first in each entry."
UPDATE: dict[str, Any] = {
    "skill": 1,
    "section": "Style",
    "change": CHANGE,
    "reason": "asked for",
    "kind": "preference",
    "turn": 2,
    "quote": LASTING,
    "confidence": 0.9,
}
OPERATION = {"op": "insert_after", "anchor": "- No marketing words.", "text": f"- {CHANGE}"}
NO_UPDATES = "<updates>[]</updates>"


def updates_answer(**changes: object) -> str:
    """Return the answer with the one update, with these fields in place of the right ones."""
    return f"<updates>{json.dumps([UPDATE | changes])}</updates>"


def operations_answer(**changes: object) -> str:
    """Return the answer with the one operation, with these fields in place of the right ones."""
    return f"<operations>{json.dumps([OPERATION | changes])}</operations>"
