"""The OpenAI Responses format, as far as Codex speaks it to its model."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

from support.wire import Asked, Call, Step, event_stream, person_words, thread_of

_numbers = itertools.count(1)


def read(body: dict[str, Any]) -> Asked:
    """Read a request of POST /v1/responses."""
    items = body.get("input", [])
    first = next((text for item in items if (text := _said(item))), "")
    # The newest things stand behind the last thing that the model did.
    newest = list(itertools.takewhile(_not_by_model, reversed(items)))[::-1]
    return Asked(
        thread=thread_of(first),
        newest=person_words(_said(item) for item in newest),
        after_tool=any(str(item.get("type")).endswith("_output") for item in newest),
        has_tools=bool(body.get("tools")),
        body=body,
    )


def stream(step: Step) -> str:
    """Return one response as server-sent events."""
    number = next(_numbers)
    if isinstance(step, Call):
        item: dict[str, Any] = {
            "type": "function_call",
            "id": f"fc_stub{number:04}",
            "call_id": f"call_stub{number:04}",
            "name": step.tool,
            "arguments": json.dumps(dict(step.arguments)),
        }
        deltas: Iterable[dict[str, Any]] = ()
    else:
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        item = {"type": "message", "id": f"msg_stub{number:04}", "role": "assistant", "content": content}
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        deltas = [{"type": "response.output_text.delta", **place, "delta": step.text}]
    response = {"id": f"resp_stub{number:04}", "object": "response"}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return event_stream(
        [
            {"type": "response.created", "response": {**response, "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            *deltas,
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {**response, "status": "completed", "usage": usage}},
        ]
    )


def _not_by_model(item: dict[str, Any]) -> bool:
    return item.get("role") != "assistant" and item.get("type") not in {
        "function_call",
        "custom_tool_call",
        "reasoning",
    }


def _said(item: dict[str, Any]) -> str:
    if item.get("type", "message") != "message" or item.get("role") != "user":
        return ""
    content = item.get("content", [])
    return content if isinstance(content, str) else person_words(part.get("text", "") for part in content)
