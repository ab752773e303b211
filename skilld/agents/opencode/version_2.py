"""The tables of opencode 2, next to those of 1.x, and the conversion of its messages to the old shape.

From public captures of 2.0.25 and 2.0.26, not the client. At its first start it copies sessions into the new tables
with their old ids and leaves the old rows, so for a session in both only the new rows are read. `permission` is empty
there, so only the prompt history shows a headless run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from skilld.agents.base import Query, mapping, objects, read_object, string

_TABLES = {
    "session_v2": frozenset({"id", "parent_id", "directory", "permission"}),
    "session_message": frozenset({"id", "session_id", "type", "time_created", "data"}),
}
_NEW_INDEX = """
    SELECT m.time_created AS at, m.id AS key FROM session_message m JOIN session_v2 s ON s.id = m.session_id
    WHERE (m.time_created >= :since OR m.rowid > :row) AND s.parent_id IS NULL
    AND (:session IS NULL OR s.id = :session) AND m.type IN ('user', 'assistant')
    AND typeof(m.time_created) = 'integer' AND typeof(m.id) = 'text'
"""
_OLD_INDEX = """
    SELECT m.time_created AS at, '1/' || m.id AS key FROM message m JOIN session s ON s.id = m.session_id
    WHERE m.time_created >= :since AND s.parent_id IS NULL AND (:session IS NULL OR s.id = :session)
    AND NOT EXISTS (SELECT 1 FROM session_v2 n WHERE n.id = s.id)
    AND typeof(m.time_created) = 'integer' AND typeof(m.id) = 'text'
"""
_RECORD = """
    SELECT m.id, m.session_id AS session, s.directory, s.permission, m.time_created AS created, m.type AS type,
    CASE WHEN length(m.data) <= :longest THEN m.data END AS data
    FROM session_message m JOIN session_v2 s ON s.id = m.session_id WHERE m.id = :key
"""
_NEW_TABLES_QUERY = Query(
    tables=_TABLES,
    newer=(),
    newest="SELECT max(time_created) FROM session_message",
    last_row="SELECT coalesce(max(rowid), 0) FROM session_message",
    index=f"{_NEW_INDEX} ORDER BY 1, 2 LIMIT :limit",
    record={"second": _RECORD},
)


def make_queries(first: Query) -> tuple[Query, ...]:
    """Return queries for both new and old tables, for the new ones alone, and for the old ones (`first`)."""
    old = {name: statement.replace("= :key", "= substr(:key, 3)") for name, statement in first.record.items()}
    both = replace(
        _NEW_TABLES_QUERY,
        tables={**_TABLES, **first.tables},
        newest="SELECT max(at) FROM (SELECT max(time_created) AS at FROM session_message"
        " UNION SELECT max(time_created) FROM message)",
        index=f"SELECT at, key FROM ({_NEW_INDEX} UNION {_OLD_INDEX}) ORDER BY 1, 2 LIMIT :limit",  # noqa: S608 - our own text
        record={"second": _RECORD, **old},
    )
    return both, _NEW_TABLES_QUERY, first


def as_first_version(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record of the new tables in the old shape; any other record unchanged."""
    rows = objects(record.get("second"))
    if not rows:
        return record
    row, data = rows[0], mapping(read_object(string(rows[0].get("data"))))
    parts = [{"id": row.get("id"), "type": "text", "text": data.get("text")}] if row.get("type") == "user" else []
    parts += _parts(data) if row.get("type") == "assistant" else []
    body = {"role": row.get("type"), "time": data.get("time"), "error": data.get("error")}
    return {"message": [{**row, "data": json.dumps(body), "second": True}], "parts": parts}


def _parts(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for item in objects(data.get("content")):
        state = mapping(item.get("state"))
        asked = dict(mapping(state.get("input")))
        if "path" in asked:
            asked.setdefault("filePath", asked["path"])
        yield {
            "id": item.get("id"),
            "type": item.get("type"),
            "text": item.get("text"),
            "tool": item.get("name"),
            "status": state.get("status"),
            "input": json.dumps(asked),
            "metadata": json.dumps(mapping(state.get("metadata"))),
            "started": mapping(item.get("time")).get("ran"),
            "error": string(state.get("error"))[:200],
        }
