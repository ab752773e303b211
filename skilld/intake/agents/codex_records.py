"""Reads one line of a Codex rollout as a record: what sort it is, its body, its turn, its time.

Bytes in, one flat record out, for both generations of the format and for the bare items of the oldest files. Knows
nothing of what a record means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from skilld.types import RawLine, Span

SHORT = 512  # characters kept of an id or a name: a hostile log must not grow the state


@dataclass(frozen=True, slots=True)
class Record:
    """One line.

    `kind` is "session_meta", "turn_context" and so on for what stands alone, "event.X" for an event_msg, "response.X"
    for a response_item, "item.X" for a completed item, whose `body` is the item itself. `turn_id` is "" where the line
    has none, `at` RFC 3339 in UTC or None.
    """

    kind: str
    body: Mapping[str, Any]
    turn_id: str
    at: str | None
    span: Span


def read_record(line: RawLine) -> Record | None:
    """Return the record of a line, or None if the line is no JSON object."""
    try:
        record = json.loads(line.data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    span = Span(line.start, line.end)
    at = _utc(record.get("timestamp"))
    kind = string(record.get("type"))
    payload = record.get("payload")
    if not isinstance(payload, dict):
        return _bare(record, kind, at, span)
    name = string(payload.get("type"))
    turn_id = _turn_id(payload)
    if kind == "event_msg" and name == "item_completed":
        item = mapping(payload.get("item"))
        return Record(f"item.{string(item.get('type'))}", item, turn_id, at, span)
    if kind in {"event_msg", "response_item"}:
        return Record(f"{kind.split('_', maxsplit=1)[0]}.{name}", payload, turn_id, at, span)
    return Record(kind, payload, turn_id, at, span)


def _bare(record: dict[str, Any], kind: str, at: str | None, span: Span) -> Record:
    """Up to 0.3x the file held response items without an envelope, below a first line without a type."""
    if not kind and "id" in record:
        return Record("session_meta", record, "", at, span)
    return Record(f"response.{kind}", record, "", at, span)


def _turn_id(payload: Mapping[str, Any]) -> str:
    return short(payload.get("turn_id")) or short(
        mapping(payload.get("internal_chat_message_metadata_passthrough")).get("turn_id")
    )


def _utc(value: object) -> str | None:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
        if time is None or time.tzinfo is None:
            return None
        text = string(value)
        return text if text.endswith("Z") else time.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None


def string(value: object) -> str:
    """Return a string as it is, anything else as "". Lone surrogates, which no file could hold, become "?"."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def short(value: object) -> str:
    """Return a string cut to the length of an id or a name, anything else as ""."""
    return string(value)[:SHORT]


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a JSON array, anything else as an empty list."""
    return [element for element in value if isinstance(element, dict)] if isinstance(value, list) else []
