"""The Anthropic Messages format, as far as Claude Code speaks it to its model."""

from __future__ import annotations

import itertools
import json
from typing import Any

from support.wire import Asked, Call, Step, event_stream, person_words, thread_of

_numbers = itertools.count(1)


def read(body: dict[str, Any]) -> Asked:
    """Read a request of POST /v1/messages."""
    said = [_blocks(message) for message in body.get("messages", []) if message["role"] == "user"]
    newest = said[-1] if said else []
    return Asked(
        thread=thread_of(person_words(_texts(said[0])) if said else ""),
        newest=person_words(_texts(newest)),
        after_tool=any(block.get("type") == "tool_result" for block in newest),
        has_tools=bool(body.get("tools")),
        body=body,
    )


def stream(step: Step) -> str:
    """Return one assistant message as server-sent events."""
    number = next(_numbers)
    if isinstance(step, Call):
        start = {"type": "tool_use", "id": f"toolu_stub{number:04}", "name": step.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(dict(step.arguments))}
        reason = "tool_use"
    else:
        start, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": step.text}, "end_turn"
    message: dict[str, Any] = {
        "id": f"msg_stub{number:04}",
        "type": "message",
        "role": "assistant",
        "model": "stub",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    return event_stream(
        [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": {"output_tokens": 5},
            },
            {"type": "message_stop"},
        ]
    )


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content", "")
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _texts(blocks: list[dict[str, Any]]) -> list[str]:
    return [block["text"] for block in blocks if block.get("type") == "text"]
