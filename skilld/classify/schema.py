"""What each answer of a model must look like, as JSON Schema, for providers that can hold a model to one.

Only a help for the model: what comes back is read and checked by `skilld.classify.reply` all the same. Strict mode
wants an object at the top, every property required and no other one allowed; an array of changes or operations thus
stands under the name of its block, which the reply parser takes as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilld.types import BODY_OPS, Kind

_TEXT = {"type": "string"}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _format(name: str, item: Mapping[str, Any]) -> dict[str, Any]:
    schema = _object({name: {"type": "array", "items": item}})
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


UPDATES = _format(
    "updates",
    _object(
        {
            "skill": {"type": "integer"},
            "section": _TEXT,
            "change": _TEXT,
            "reason": _TEXT,
            "kind": {"type": "string", "enum": [kind.value for kind in Kind]},
            "turn": {"type": "integer"},
            "quote": _TEXT,
            "confidence": {"type": "number"},
        }
    ),
)
CHANGES = _format("changes", _TEXT)
TITLES = _format("titles", _object({"skill": {"type": "integer"}, "name": _TEXT, "description": _TEXT, "title": _TEXT}))
OPERATIONS = _format(
    "operations",
    _object({"op": {"type": "string", "enum": [op.value for op in BODY_OPS]}, "anchor": _TEXT, "text": _TEXT}),
)
