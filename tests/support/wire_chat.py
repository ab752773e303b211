"""The Chat Completions format, as far as opencode, Copilot CLI, Pi and Qwen Code speak it to their model."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

from support.wire import Asked, Call, Step, person_words, thread_of

_numbers = itertools.count(1)


def read(body: dict[str, Any]) -> Asked:
    """Read a request of POST /v1/chat/completions."""
    messages = [message for message in body.get("messages", []) if message["role"] != "system"]
    said = [message for message in messages if message["role"] == "user"]
    # The newest things stand behind the last thing that the model did; some clients add words to a tool's result.
    newest = list(itertools.takewhile(lambda message: message["role"] != "assistant", reversed(messages)))
    return Asked(
        thread=thread_of(_text(said[0]) if said else ""),
        newest="\n".join(_text(message) for message in reversed(newest) if message["role"] == "user"),
        after_tool=any(message["role"] == "tool" for message in newest),
        has_tools=bool(body.get("tools")),
        body=body,
    )


def stream(step: Step) -> str:
    """Return one assistant message as server-sent events."""
    number = next(_numbers)
    if isinstance(step, Call):
        function = {"name": step.tool, "arguments": json.dumps(dict(step.arguments))}
        call = {"index": 0, "id": f"call_stub{number:04}", "type": "function", "function": function}
        delta: dict[str, Any] = {"role": "assistant", "tool_calls": [call]}
        reason = "tool_calls"
    else:
        delta, reason = {"role": "assistant", "content": step.text}, "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    chunks = [
        _chunk(number, [{"index": 0, "delta": delta, "finish_reason": None}]),
        _chunk(number, [{"index": 0, "delta": {}, "finish_reason": reason}]),
        {**_chunk(number, []), "usage": usage},
    ]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def _chunk(number: int, choices: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"chat_stub{number:04}",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "stub",
        "choices": choices,
    }


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else person_words(part.get("text", "") for part in content)
