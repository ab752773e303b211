"""Somebody else's text in every wrapper of Codex: 0.169 (items), and the legacy events where noted."""

from __future__ import annotations

import json
from typing import Any

from support.carrier import Carrier, Records, without_template_fields

_CONTEXT = ("Context from my IDE setup", "Files mentioned by the user", "Diff comments")


def event(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-18T09:00:00Z", "type": "event_msg", "payload": {"type": kind, **payload}}


def legacy(text: str) -> dict[str, Any]:
    return event("user_message", message=text)


def item(text: str) -> dict[str, Any]:
    message = {"type": "UserMessage", "id": "i1", "client_id": "c1", "content": [{"type": "text", "text": text}]}
    return event("item_completed", turn_id="t1", item=message)


def response(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-18T09:00:00Z", "type": "response_item", "payload": {"type": kind, **payload}}


def injected(text: str) -> dict[str, Any]:
    return response("message", role="user", content=[{"type": "input_text", "text": text}])


def _asked(content: str, prompt: str) -> Records:
    questions = [
        {"id": "a", "question": "Which?", "options": [{"label": content}, {"label": f"user_note: {content}"}]},
        {"id": "b", "question": "Else?", "options": []},
    ]
    arguments = json.dumps({"questions": questions})
    markup = content.strip()
    answers = {"a": {"answers": [markup, f"user_note: {content}"]}, "b": {"answers": [f"user_note: {prompt}"]}}
    return [
        response("function_call", name="request_user_input", call_id="q", arguments=arguments),
        response("function_call_output", call_id="q", output=json.dumps({"answers": answers})),
    ]


def _asked_in_code(content: str, prompt: str) -> Records:
    label = f"A\nuser_note: {content}"
    code = f"tools.request_user_input({json.dumps({'label': label}, ensure_ascii=False)})"
    answer = {"type": "verified_answer", "call_id": "n", "questions": [{"question": "Which?", "answer": label}]}
    return [
        response("custom_tool_call", name="exec", call_id="c", input=code),
        {"timestamp": "2026-11-18T09:00:00Z", "type": "retained_context", "payload": answer},
        item(prompt),
    ]


def _before(name: str) -> list[Carrier]:
    def text(content: str, prompt: str) -> str:
        return f"# {name}:\n\n{content}\n\n## My request for Codex:\n{prompt}\n"

    return [Carrier(name, lambda c, p: [legacy(text(c, p))]), Carrier(name, lambda c, p: [item(text(c, p))])]


def _elements(content: str, prompt: str) -> Records:
    texts = [f"# Files mentioned by the user:\n\n{content}\n", prompt]
    elements = [{"type": "text", "text": text} for text in texts]
    message = {"type": "UserMessage", "id": "i1", "client_id": "c1", "content": elements}
    return [event("item_completed", turn_id="t1", item=message)]


CODEX: list[Carrier] = [
    Carrier("Files mentioned by the user", _elements),
    *(carrier for name in _CONTEXT for carrier in _before(name)),
    Carrier("AGENTS.md", lambda c, p: [injected(f"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n{c}"), item(p)]),
    Carrier("environment_context", lambda c, p: [injected(f"<environment_context>{c}"), item(p)]),
    Carrier("hook_prompt", lambda c, p: [item(f'<hook_prompt hook_run_id="1">{c}</hook_prompt>'), item(p)]),
    Carrier("user_shell_command", lambda c, p: [injected(f"<user_shell_command>{c}</user_shell_command>"), item(p)]),
    Carrier(
        "skill", lambda c, p: [item(p), injected(f"<skill>\n<name>a</name>\n<path>/w/SKILL.md</path>\n{c}</skill>")]
    ),
    Carrier("option label", _asked),
    Carrier("option label", _asked_in_code),
    Carrier("tool result", lambda c, p: [response("function_call_output", call_id="x", output=c), item(p)]),
    Carrier(
        "prompt file",
        lambda c, p: [legacy(f"Release {p}\n{without_template_fields(c)}")],
        templates=(lambda c: f"---\nx: y\n---\nRelease $ARGUMENTS\n{without_template_fields(c)}",),
    ),
]
