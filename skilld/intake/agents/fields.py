"""Fields of a JSON record whose types nobody vouches for: each reader returns what it promises, whatever stands there.

Bytes and values in, plain values out. Knows no agent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

SHORT = 512  # characters kept of an id or a name: a hostile log must not grow the state


def read_object(data: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object of a line, or None if the line is none."""
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def utc(value: object) -> str | None:
    """Return an RFC 3339 time in UTC, None where there is none or its zone is not told."""
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


def named_by(*values: object) -> str:
    """Return a name for what has no id of its own: the same for the same values, told apart by any of them."""
    return hashlib.sha256("\0".join(string(value) or str(value) for value in values).encode()).hexdigest()[:16]
