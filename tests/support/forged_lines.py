"""Somebody else's text in every wrapper of the agents whose prompts are mostly separate from their context."""

from __future__ import annotations

import json
from typing import Any

from support.carrier import Carrier, Records, without_template_fields

_AT = "2026-11-03T09:00:{:06.3f}Z"


# Gemini CLI 0.61.0; Qwen Code 0.15.10 and 0.24.4 append files in the same way.
def _files(content: str) -> list[str]:
    head = "\n--- Content from referenced files ---"
    return [head, "\nContent from /w/a.md:\n", content, "\n--- End of content ---"]


def _log(prompt: str) -> bytes:
    entry = {"type": "user", "message": prompt, "sessionId": "s", "timestamp": _AT.format(1)}
    return json.dumps([entry]).encode()


def _gemini(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "id": "u", "timestamp": _AT.format(1), "content": content, **more}


def _parts(*texts: str) -> list[dict[str, str]]:
    return [{"text": text} for text in texts]


def _gemini_asked(content: str, prompt: str) -> Records:
    options = [{"label": content}, {"label": "b"}]
    questions = [{"question": "Which?", "options": options, "multiSelect": True}, {"question": "Else?"}]
    output = json.dumps({"answers": {"0": f"{content.strip()}, b", "1": prompt}})
    answered = {"functionResponse": {"id": "q", "name": "ask_user", "response": {"output": output}}}
    call = {"id": "q", "name": "ask_user", "args": {"questions": questions}, "result": [answered], "status": "success"}
    return [_HEAD, {"type": "gemini", "id": "a", "content": "", "toolCalls": [call]}]


_HEAD = {"sessionId": "s", "kind": "main"}
_END = {"type": "gemini", "id": "z", "content": "Understood."}

GEMINI: list[Carrier] = [
    Carrier("files", lambda c, p: [_HEAD, _gemini(_parts(p, *_files(c)))], typed_list=_log),
    Carrier("files", lambda c, p: [_HEAD, _gemini(p + "".join(_files(c)))], typed_list=_log),
    Carrier("files", lambda c, p: [_HEAD, _gemini(_parts(p, *_files(c)))]),
    Carrier("files", lambda c, p: [_HEAD, _gemini(p + "".join(_files(c)))]),
    Carrier("session_context", lambda c, p: [_HEAD, _gemini(f"<session_context>\n{c}", id="v"), _gemini(p)]),
    Carrier("headless prompt", lambda c, p: [_HEAD, _gemini(p), _gemini(c, id="v"), _END], typed_list=_log),
    Carrier(
        "command",
        lambda c, p: [_HEAD, _gemini(_parts(c), displayContent=f"/x {p}")],
        typed_list=lambda prompt: _log(f"/x {prompt}"),
    ),
    Carrier("option label", _gemini_asked),
    Carrier(
        "tool result", lambda c, p: [_HEAD, _gemini([{"functionResponse": {"response": {"output": c}}}]), _gemini(p)]
    ),
]


def _qwen(kind: str, second: float, **more: Any) -> dict[str, Any]:
    base = {"type": kind, "uuid": f"{kind}{second}", "sessionId": "s", "timestamp": _AT.format(second), "cwd": "/w"}
    return {**base, **more}


def _qwen_user(second: float, *texts: str, **more: Any) -> dict[str, Any]:
    return _qwen("user", second, message={"role": "user", "parts": _parts(*texts)}, **more)


def _request(number: int, second: float) -> dict[str, Any]:
    event = {"event.name": "qwen-code.api_response", "prompt_id": f"s########{number}"}
    return _qwen("system", second, subtype="ui_telemetry", systemPayload={"uiEvent": event})


def _snapshot(second: float) -> dict[str, Any]:
    body = {"snapshots": [{"promptId": "s########0", "trackedFileBackups": {}}]}
    return _qwen("system", second, subtype="file_history_snapshot", systemPayload=body, provenance="system")


def _slash(phase: str, raw: str, second: float) -> dict[str, Any]:
    return _qwen("system", second, subtype="slash_command", systemPayload={"phase": phase, "rawCommand": raw})


def _qwen_asked(content: str, prompt: str) -> Records:
    options = [{"label": content}, {"label": "b"}]
    questions = [{"header": "Format", "options": options}, {"header": "Tests", "options": [{"label": "All"}]}]
    call = {"functionCall": {"id": "f", "name": "ask_user_question", "args": {"questions": questions}}}
    output = f"User has provided the following answers:\n\n**Format**: {content.strip()}\n**Tests**: {prompt}"
    answer = {"functionResponse": {"id": "f", "name": "ask_user_question", "response": {"output": output}}}
    return [
        _qwen("assistant", 1, message={"role": "model", "parts": [call]}),
        _qwen("tool_result", 2, message={"role": "user", "parts": [answer]}, toolCallResult={"status": "success"}),
    ]


QWEN: list[Carrier] = [
    Carrier("files", lambda c, p: [_qwen_user(1, p, *_files(c)), _request(0, 2)]),
    Carrier("files", lambda c, p: [_qwen_user(1, p, *_files(c), provenance="real_user"), _snapshot(2)]),
    Carrier(
        "command",  # whose template runs a program for three seconds
        lambda c, p: [
            _slash("invocation", f"/x {p}", 1),
            _slash("result", f"/x {p}", 4),
            _qwen_user(4.02, c or "-"),
            _request(0, 5),
        ],
    ),
    Carrier(
        "hook",
        lambda c, p: [
            _qwen_user(1, f"{p}\n{c}", systemPayload={"displayText": p}, provenance="real_user"),
            _snapshot(2),
        ],
    ),
    Carrier(
        "hook",  # beside a prompt that is an image
        lambda c, p: [
            _qwen_user(1, c, systemPayload={"displayText": ""}, provenance="real_user"),
            _qwen_user(2, p, provenance="real_user"),
            _snapshot(3),
        ],
    ),
    Carrier(
        "notification",
        lambda c, p: [
            _qwen_user(1, c, provenance="system", subtype="notification"),
            _qwen_user(2, p, provenance="real_user"),
            _snapshot(3),
        ],
    ),
    Carrier("option label", _qwen_asked, recognizable=False),
    Carrier(
        "tool result",
        lambda c, p: [
            _qwen(
                "tool_result", 1, message={"role": "user", "parts": [{"functionResponse": {"response": {"output": c}}}]}
            ),
            _qwen_user(2, p),
            _request(0, 3),
        ],
    ),
]


def _copilot(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "id": "e", "data": data}


def _history(prompt: str) -> bytes:
    return json.dumps({"commandHistory": [prompt]}).encode()


def _copilot_asked(content: str, prompt: str) -> Records:
    fields = {"a": {"enum": [content, "b"]}, "c": {"oneOf": [{"const": "x", "title": content}]}, "d": {}}
    markup = content.strip()
    response = {
        "responseKind": "ask_user",
        "requestedSchema": {"properties": fields},
        "content": {"a": markup, "c": markup, "d": prompt},
    }
    return [_copilot("human_response.recorded", requestId="r", actor="human_response", response=response)]


COPILOT: list[Carrier] = [
    Carrier("transformedContent", lambda c, p: [_copilot("user.message", content=p, transformedContent=c + p)]),
    Carrier(
        "injected message",
        lambda c, p: [_copilot("user.message", content=c, source="skill-a"), _copilot("user.message", content=p)],
    ),
    Carrier(
        "headless prompt",
        lambda c, p: [
            _copilot("user.message", content=p),
            _copilot("user.message", content=c, messageId="m"),
            _copilot("assistant.message", content="ok"),
        ],
        typed_list=_history,
    ),
    Carrier("option label", _copilot_asked),
    Carrier(
        "tool result",
        lambda c, p: [
            _copilot("tool.execution_complete", toolCallId="t", error={"message": c}),
            _copilot("user.message", content=p),
        ],
    ),
]


def _opencode(role: str, *parts: dict[str, Any], **data: Any) -> dict[str, Any]:
    message = {"id": f"m{role}{len(parts)}", "session": "ses", "directory": "/w", "created": 1_795_000_000_000}
    body = {"role": role, "time": {"completed": 1}, **data}
    return {"message": [{**message, "data": json.dumps(body)}], "parts": list(parts)}


def _part(text: str, **more: Any) -> dict[str, Any]:
    return {"id": "p", "type": "text", "text": text, **more}


def _typed_history(*texts: str) -> bytes:
    return b"".join(json.dumps({"input": text, "parts": [], "mode": "normal"}).encode() + b"\n" for text in texts)


def _skill(content: str, prompt: str) -> Records:
    where = "Base directory for this skill: /w/a\nRelative paths in this skill are so."
    return [_opencode("user", _part(f"# A\n\n{content}\n{where}\n\n{prompt}"))]


def _opencode_asked(content: str, prompt: str) -> Records:
    asked = {"questions": [{"question": "Which?", "options": [{"label": content}]}]}
    answers = {"answers": [[content.strip()], [prompt]]}
    part = {"id": "t", "type": "tool", "tool": "question", "status": "completed", "started": 1_795_000_000_000}
    return [_opencode("assistant", {**part, "input": json.dumps(asked), "metadata": json.dumps(answers)})]


OPENCODE: list[Carrier] = [
    Carrier("synthetic part", lambda c, p: [_opencode("user", _part(p), _part(c, synthetic=True))]),
    Carrier(
        "synthetic part", lambda c, p: [_opencode("user", _part(c, ignored=True), _part(p))], typed_list=_typed_history
    ),
    Carrier("skill body", _skill),
    Carrier("skill body", _skill, typed_list=lambda prompt: _typed_history(f"/a {prompt}")),
    Carrier(
        "command file",
        lambda c, p: [_opencode("user", _part(f"Release {p}\n{without_template_fields(c)}"))],
        templates=(lambda c: f"---\nx: y\n---\nRelease $ARGUMENTS\n{without_template_fields(c)}",),
    ),
    Carrier(
        "command file",
        lambda c, p: [_opencode("user", _part(f"{c}\n{p}\n"))],
        typed_list=lambda prompt: _typed_history(f"/rel {prompt}"),
    ),
    Carrier(
        "headless prompt", lambda c, _: [_opencode("user", _part(c))], recognizable=False, typed_list=_typed_history
    ),
    Carrier("option label", _opencode_asked),
    Carrier("tool result", lambda c, p: [_opencode("assistant", _part(c)), _opencode("user", _part(p))]),
]


def _pi(number: int, role: str, text: str) -> dict[str, Any]:
    at = f"2026-11-03T09:00:{number:02}.000Z"
    message = {
        "role": role,
        "content": [{"type": "text", "text": text}],
        "timestamp": 1_793_696_400_000 + number * 1000,
    }
    return {"type": "message", "id": f"a{number}", "timestamp": at, "message": message}


_PI_HEAD = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-03T09:00:00.000Z", "cwd": "/w"}


def _pi_skill(content: str, prompt: str) -> Records:
    head = '<skill name="a" location="/w/a/SKILL.md">\nReferences are relative to /w/a.\n\n'
    alone = _pi(9, "user", f"{head}{content}\n</skill>")
    return [_PI_HEAD, alone, _pi(20, "user", f"{head}{content}\n</skill>\n\n{prompt}")]


PI: list[Carrier] = [
    Carrier("file", lambda c, p: [_PI_HEAD, _pi(9, "user", f'<file name="/w/a.md">\n{c}\n</file>\n{p}')]),
    Carrier(
        "file",
        lambda c, p: [
            _PI_HEAD,
            _pi(9, "user", f'<file name="/w/a.md">\n{c}\n</file>\n<file name="/w/b.md">\n{c}\n</file>\n'),
            _pi(20, "user", p),
        ],
    ),
    Carrier("skill", _pi_skill),
    Carrier(
        "prompt template",
        lambda c, p: [_PI_HEAD, _pi(9, "user", f"Release {p}\n{without_template_fields(c)}")],
        templates=(lambda c: f"---\nx: y\n---\nRelease $@\n{without_template_fields(c)}",),
    ),
    Carrier(
        "prompt template",
        lambda c, p: [_PI_HEAD, _pi(9, "user", f"- {without_template_fields(c)}"), _pi(20, "user", p)],
        templates=(lambda _: "Other $1", lambda c: f"- {without_template_fields(c)}"),
    ),
    Carrier("tool result", lambda c, p: [_PI_HEAD, _pi(9, "toolResult", c), _pi(20, "user", p)]),
]


def _cursor(*texts: str) -> dict[str, Any]:
    return {"role": "user", "message": {"content": [{"type": "text", "text": text} for text in texts]}}


def _context(tag: str) -> list[Carrier]:
    def block(content: str) -> str:
        return f"<{tag}>\n{content}\n</{tag}>"

    def query(prompt: str) -> str:
        return f"<user_query>\n{prompt}\n</user_query>"

    return [
        Carrier(tag, lambda c, p: [_cursor(block(c), query(p))]),
        Carrier(tag, lambda c, p: [_cursor(query(p), block(c))]),
        Carrier(tag, lambda c, p: [_cursor(f"{block(c)}\n{query(p)}")]),
        Carrier(tag, lambda c, p: [_cursor(f"{query(p)}\n{block(c)}")]),
        Carrier(tag, lambda c, p: [_cursor(block(c)), _cursor(query(p))]),
        Carrier(tag, lambda c, p: [_cursor(f"{block(c)}\n{query(p)}\n{block(c)}")], recognizable=False),
    ]


CURSOR: list[Carrier] = [
    *_context("attached_files"),
    *_context("open_and_recently_viewed_files"),
    *_context("git_diff_from_branch_to_main"),
    *_context("cursor_commands"),
]
