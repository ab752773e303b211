"""The Gemini API's format, as far as Gemini CLI speaks it to its model."""

from __future__ import annotations

import itertools
import json
from typing import Any

from support.wire import Asked, Call, Step, person_words, thread_of

_ROUTE = {"complexity_reasoning": "x", "complexity_score": 10, "reasoning": "x", "next_speaker": "user"}


def read(body: dict[str, Any]) -> Asked:
    """Read a request of POST /v1beta/models/MODEL:streamGenerateContent."""
    contents = body.get("contents", [])
    newest = list(itertools.takewhile(lambda content: content.get("role") == "user", reversed(contents)))[::-1]
    parts = [part for content in newest for part in content.get("parts", [])]
    first = next((words for content in contents if (words := _said(content))), "")
    return Asked(
        thread=thread_of(first),
        newest=person_words(part.get("text", "") for part in parts),
        after_tool=any("functionResponse" in part for part in parts),
        has_tools=bool(body.get("tools")),
        body=body,
    )


def stream(step: Step) -> str:
    """Return one answer as server-sent events."""
    return f"data: {json.dumps(_answer(step))}\n\n"


def side_answer(text: str) -> bytes:
    """Return the answer to a side call, which is not streamed: the client's router, which wants JSON."""
    parts = [{"text": json.dumps({**_ROUTE, "text": text})}]
    return json.dumps(_candidate(parts)).encode()


def _answer(step: Step) -> dict[str, Any]:
    if isinstance(step, Call):
        return _candidate([{"functionCall": {"name": step.tool, "args": dict(step.arguments)}}])
    return _candidate([{"text": step.text}])


def _candidate(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
    }


def _said(content: dict[str, Any]) -> str:
    if content.get("role") != "user":
        return ""
    return person_words(part.get("text", "") for part in content.get("parts", []))
