"""Reads one line of a Codex rollout as a record: what sort it is, its body, its turn, its time.

Bytes in, one flat record out, for both generations of the format and for the bare items of the oldest files. Knows
nothing of what a record means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skilld.intake.agents.fields import mapping, read_object, short, string, utc
from skilld.types import RawLine, Span


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
    record = read_object(line.data)
    if record is None:
        return None
    span = Span(line.start, line.end)
    at = utc(record.get("timestamp"))
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
