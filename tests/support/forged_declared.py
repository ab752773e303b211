"""Somebody else's text in every wrapper of the agents whose adapters are tables, and of those like them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from support.carrier import Carrier, Records

_AT = "2026-11-22T16:{:02}:00.000Z"
_MS = 1_795_364_000_000


def _text(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


def _listed(field: str, prefix: str = "") -> Callable[[str], bytes]:
    return lambda prompt: json.dumps({field: prefix + prompt}).encode() + b"\n"


def _result(call: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


# Cline


def _manifest(kind: str) -> Callable[[str], dict[str, bytes]]:
    return lambda _: {"s.json": json.dumps({"interactive": kind == "terminal", "cwd": "/w"}).encode()}


_CLINE = {"head": {"agent": "lead", "sessionId": "s"}}


def _cline(number: int, role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"m{number}", "role": role, "content": list(content), "ts": _MS + number * 60_000}


def _input(words: str) -> dict[str, str]:
    return {"type": "text", "text": f'<user_input mode="act">{words}</user_input>'}


def _cline_asked(content: str, prompt: str) -> Records:
    records: Records = [_CLINE]
    for number, answer in ((1, content.strip()), (3, prompt)):
        asked = {"question": "Which?", "options": [content, "b"]}
        call = {"type": "tool_use", "id": f"q{number}", "name": "ask_question", "input": asked}
        result = _result(f"q{number}", answer, name="ask_question")
        records += [_cline(number, "assistant", call), _cline(number + 1, "user", result)]
    return records


CLINE: list[Carrier] = [
    Carrier(
        "user_input",
        lambda c, p: [
            _CLINE,
            _cline(1, "user", *_text(f"<file_content>{c}</file_content>")),
            _cline(2, "user", _input(p)),
        ],
        side_files=_manifest("terminal"),
    ),
    Carrier(
        "headless prompt",
        lambda c, p: [
            _CLINE,
            _cline(1, "user", _input(c)),
            _cline(2, "user", _input(p)),
            _cline(3, "assistant", *_text("ok")),
        ],
        typed_list=_listed("prompt"),
        side_files=_manifest("script"),
    ),
    Carrier("option label", _cline_asked, side_files=_manifest("terminal")),
    Carrier(
        "tool result",
        lambda c, p: [
            _CLINE,
            _cline(1, "assistant", {"type": "tool_use", "id": "t", "name": "run_commands", "input": {}}),
            _cline(2, "user", _result("t", c)),
            _cline(3, "user", _result("u", [{"type": "text", "text": c}])),
            _cline(4, "user", _input(p)),
        ],
        side_files=_manifest("terminal"),
    ),
]


# Droid


def _droid(number: int, role: str, *content: dict[str, Any], name: str = "m", **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": list(content), **more}
    return {"type": "message", "id": f"{name}{number}", "timestamp": _AT.format(number), "message": message}


_DROID = {"type": "session_start", "id": "s", "cwd": "/w"}
_TUI = {"userMessageSource": "cli_tui"}


def _droid_asked(content: str, prompt: str) -> Records:
    def asked(call: str, label: str, answer: str) -> Records:
        form = f"1. [question] Which?\n[topic] Format\n[option] {label}\n[option] b\n"
        use = {"type": "tool_use", "id": call, "name": "AskUser", "input": {"questionnaire": form}}
        said = f"1. [question] Which?\n[answer] {answer}"
        return [_droid(1, "assistant", use, **_TUI), _droid(2, "user", _result(call, said))]

    label = " ".join(content.split())
    return [_DROID, *asked("a", label, label), *asked("b", label, prompt)]


def _notified(content: str, prompt: str) -> str:
    skill = f'<skill filePath="/w/.factory/skills/a/SKILL.md">\n<name>a</name>\n{content}\n</skill>'
    return f"<system-notification>\nSkills provide more.\n{skill}\n</system-notification>\n\n{prompt}"


DROID: list[Carrier] = [
    Carrier("system-notification", lambda c, p: [_DROID, _droid(1, "user", *_text(_notified(c, p)), **_TUI)]),
    Carrier(
        "system-reminder",
        lambda c, p: [
            _DROID,
            _droid(1, "user", *_text(f"<system-reminder>\n{c}\n</system-reminder>"), name="context-"),
            _droid(2, "user", *_text(f"<system-reminder>\n{c}\n</system-reminder>", p), **_TUI),
        ],
    ),
    Carrier(
        "injected message",
        lambda c, p: [
            _DROID,
            _droid(1, "user", *_text(c), visibility="user_only", **_TUI),
            _droid(2, "user", *_text(p), **_TUI),
            _droid(3, "user", *_text(c), visibility="llm_only"),
        ],
    ),
    Carrier(
        "headless prompt", lambda c, p: [_DROID, _droid(1, "user", *_text(c)), _droid(2, "user", *_text(p), **_TUI)]
    ),
    Carrier("option label", _droid_asked),
    Carrier(
        "tool result",
        lambda c, p: [
            _DROID,
            _droid(1, "assistant", {"type": "tool_use", "id": "t", "name": "Read", "input": {}}, **_TUI),
            _droid(2, "user", _result("t", c), **_TUI),
            _droid(3, "user", *_text(p), **_TUI),
        ],
    ),
]


# Continue


def _continue(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"message": {"role": role, "content": content}, "contextItems": [], **more}


_CONTINUE = {"head": {"sessionId": "s", "workspaceDirectory": "/w"}}


def _state(call: str, tool: str, asked: dict[str, Any], output: str, status: str = "done") -> dict[str, Any]:
    function = {"function": {"name": tool, "arguments": json.dumps(asked)}}
    return {"toolCallId": call, "toolCall": function, "status": status, "output": [{"content": output, "name": "R"}]}


def _inputs(prompt: str) -> bytes:
    return json.dumps([{"text": "/exit", "timestamp": _MS + 2}, {"text": prompt, "timestamp": _MS}]).encode()


def _continue_asked(content: str, prompt: str) -> Records:
    asked = {"question": "Which?", "options": [content, "b"]}
    states = [
        _state(call, "AskQuestion", asked, f'User provided custom answer: "{answer}"')
        for call, answer in (("a", content.strip()), ("b", prompt))
    ]
    return [_CONTINUE, _continue("assistant", "", toolCallStates=states)]


CONTINUE: list[Carrier] = [
    Carrier("skill request", lambda c, p: [_CONTINUE, _continue("user", c), _continue("user", p)], typed_list=_inputs),
    Carrier(
        "headless prompt",
        lambda c, p: [_CONTINUE, _continue("user", p), _continue("user", c), _continue("assistant", "ok")],
        typed_list=_inputs,
    ),
    Carrier("option label", _continue_asked, typed_list=_inputs),
    Carrier(
        "tool result",
        lambda c, p: [
            _CONTINUE,
            _continue("assistant", "", toolCallStates=[_state("t", "Read", {"filepath": "/w/a"}, c)]),
            _continue("user", p),
        ],
        typed_list=_inputs,
    ),
]


# Kimi Code


def _kimi(kind: str, number: int, origin: dict[str, Any], words: str) -> dict[str, Any]:
    ids = {"promptId": f"p{number}"} if kind == "turn.prompt" else {"messageId": f"p{number}"}
    return {"type": kind, "input": _text(words), "origin": origin, "time": _MS + number, **ids}


def _loop(number: int, **event: Any) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "event": event, "time": _MS + number}


_USER = {"kind": "user"}
_CWD = {"../../state.json": json.dumps({"id": "s", "cwd": "/w"}).encode()}


def _activated(content: str, prompt: str) -> Records:
    origin = {"kind": "skill_activation", "skillName": "a", "skillPath": "/w/.agents/skills/a/SKILL.md"}
    loaded = f'<skill-loaded name="a" args="{content}">\n{content}\nARGUMENTS: {content}\n</skill-loaded>'
    by_model = _kimi("turn.steer", 1, {**origin, "trigger": "model-tool"}, loaded)
    return [by_model, _kimi("turn.prompt", 2, {**origin, "trigger": "user-slash", "skillArgs": prompt}, loaded)]


def _kimi_asked(content: str, prompt: str) -> Records:
    records: Records = []
    for call, answer in (("a", content.strip()), ("b", prompt)):
        asked = {"questions": [{"question": "Which?", "options": [{"label": content}, {"label": "b"}]}]}
        output = json.dumps({"answers": {"Which?": answer}})
        records += [
            _loop(1, type="tool.call", toolCallId=call, name="AskUserQuestion", args=asked),
            _loop(2, type="tool.result", toolCallId=call, result={"output": output}),
        ]
    return records


KIMI: list[Carrier] = [
    Carrier("skill-loaded", _activated, typed_list=_listed("content", "/a "), side_files=lambda _: _CWD),
    Carrier(
        "injected message",
        lambda c, p: [
            _kimi("turn.steer", 1, {"kind": "injection"}, c),
            _kimi("turn.prompt", 2, {"kind": "system_trigger"}, c),
            _kimi("turn.prompt", 3, {"kind": "shell_command"}, c),
            {"type": "prompt.steered", "content": _text(c), "time": _MS},
            _kimi("turn.steer", 4, {**_USER, "inTurn": True}, p),
        ],
        typed_list=_listed("content"),
    ),
    Carrier(
        "headless prompt",
        lambda c, p: [_kimi("turn.prompt", 1, _USER, c), _kimi("turn.prompt", 2, _USER, p)],
        typed_list=_listed("content"),
    ),
    Carrier("option label", _kimi_asked),
    Carrier(
        "tool result",
        lambda c, p: [
            _loop(1, type="tool.call", toolCallId="t", name="Bash", args={"command": c}),
            _loop(2, type="tool.result", toolCallId="t", result={"output": c}),
            _kimi("turn.prompt", 3, _USER, p),
        ],
        typed_list=_listed("content"),
    ),
]


# Grok Build


def _grok(number: int, event: int | None = None, **update: Any) -> dict[str, Any]:
    meta = {"eventId": f"s-{event or 10 * number}", "agentTimestampMs": _MS + number * 1000}
    return {"method": "session/update", "params": {"sessionId": "s", "update": update, "_meta": meta}}


def _chunk(number: int, words: str, event: int | None = None, **meta: Any) -> dict[str, Any]:
    content = {"type": "text", "text": words, **({"_meta": meta} if meta else {})}
    said = {"sessionUpdate": "user_message_chunk", "content": content, "_meta": {"promptIndex": number}}
    return _grok(number, event, **said)


def _called(number: int, call: str, tool: str, asked: Any, text: str) -> Records:
    return [
        _grok(number, sessionUpdate="tool_call", toolCallId=call, title=tool, rawInput=asked),
        _grok(
            number + 1,
            sessionUpdate="tool_call_update",
            toolCallId=call,
            status="completed",
            content=[{"type": "content", "content": {"type": "text", "text": text}}],
        ),
    ]


def _grok_asked(content: str, prompt: str) -> Records:
    records: Records = []
    for number, answer in ((1, content.strip()), (3, prompt)):
        asked = {"questions": [{"question": f"{content}?", "options": [{"label": content}, {"label": "b"}]}]}
        said = f'User has answered your questions: "{content}?"="{answer}". You can now continue.'
        records += _called(number, f"q{number}", "ask_user_question", asked, said)
    return records


GROK: list[Carrier] = [
    Carrier("shell", lambda c, p: [_chunk(1, c, bash_command=c), _chunk(2, p)]),
    Carrier(
        "headless prompt",
        lambda c, p: [_chunk(5, p), _grok(6, event=2, sessionUpdate="background_tasks"), _chunk(7, c, event=4)],
    ),
    Carrier("option label", _grok_asked, recognizable=False),
    Carrier("tool result", lambda c, p: [*_called(1, "t", "run_terminal_command", {"command": c}, c), _chunk(3, p)]),
]


# Mistral Vibe


def _vibe(number: int, *texts: str, name: str = "rs-", **more: Any) -> dict[str, Any]:
    said = {
        "type": "message",
        "role": "user",
        "source": "turn_start",
        "id": f"{name}{number}",
        "content": _text(*texts),
    }
    return {**said, "createdAt": _MS + number, **more}


def _effect(number: int, tool: str, asked: Any, text: str, content: Any = None) -> dict[str, Any]:
    state = {"status": "completed", "outputText": text, "display": {"success": True}}
    output = {"output": {"structured_content": content}}
    detail = {"kind": "tool", "toolName": tool, "input": asked}
    return {"type": "effect", "id": f"e{number}", "createdAt": _MS, "detail": detail, "state": {**state, **output}}


_VIBE = {"type": "head", "session": "s", "cwd": "/w", "parent": None}


def _vibe_asked(content: str, prompt: str) -> Records:
    asked = {"questions": [{"question": "Which?", "options": [{"label": content}, {"label": "b"}]}]}
    answers = [{"answers": [{"question": "Which?", "answer": each}]} for each in (content.strip(), prompt)]
    return [_VIBE, *(_effect(n, "ui.ask_user_question", asked, "", answer) for n, answer in enumerate(answers))]


def _invoked(content: str, prompt: str) -> Records:
    where = "Base directory for this skill: /w/.agents/skills/a\nRelative paths in this skill are so."
    body = f'<skill_content name="a">\n{content}\n{where}\n</skill_content>'
    shown = {"content": [{"name": "a", "type": "vibe.skill_invocation"}]}
    return [
        _VIBE,
        _effect(1, "skill.read", {"name": "a"}, body),
        _vibe(2, f"/a {prompt}", body, userDisplayContent=shown),
    ]


VIBE: list[Carrier] = [
    Carrier("skill_content", _invoked),
    Carrier("headless prompt", lambda c, p: [_VIBE, _vibe(1, c, name="user-turn-"), _vibe(2, p)]),
    Carrier("option label", _vibe_asked),
    Carrier("tool result", lambda c, p: [_VIBE, _effect(1, "file_system.bash", {"command": c}, c), _vibe(2, p)]),
]


# Letta Code, OpenHands, Antigravity, Kiro, Goose


def _letta(number: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "captured_at": _AT.format(number), "source_line_id": f"l{number}", **more}


LETTA: list[Carrier] = [
    Carrier(
        "tool result",
        lambda c, p: [
            _letta(1, "tool_call", name="Bash", argsText=json.dumps({"command": c}), resultText=c, resultOk=True),
            _letta(2, "assistant", text=c),
            _letta(3, "user", text=p),
        ],
    )
]


def _hands(number: int, kind: str, source: str, **more: Any) -> dict[str, Any]:
    return {"id": f"h{number}", "kind": kind, "source": source, "timestamp": f"2026-11-22T16:{number:02}:00.5", **more}


def _asks(number: int, words: str, **more: Any) -> dict[str, Any]:
    return _hands(number, "MessageEvent", "user", llm_message={"role": "user", "content": _text(words)}, **more)


_HANDS = {"head": {"attended": True}}
OPENHANDS: list[Carrier] = [
    Carrier("extended_content", lambda c, p: [_HANDS, _asks(1, p, activated_skills=["a"], extended_content=_text(c))]),
    Carrier("headless prompt", lambda c, _: [{"head": {"attended": False}}, _asks(1, c)], recognizable=False),
    Carrier(
        "tool result",
        lambda c, p: [
            _HANDS,
            _hands(1, "ActionEvent", "agent", tool_name="terminal", tool_call_id="t", action={"command": c}),
            _hands(2, "ObservationEvent", "environment", tool_call_id="t", observation={"content": _text(c)}),
            _asks(3, p),
        ],
    ),
]


def _step(number: int, kind: str, source: str, content: str) -> dict[str, Any]:
    step = {"step_index": number, "source": source, "type": kind, "status": "DONE", "content": content}
    return {**step, "created_at": _AT.format(number)}


def _request(number: int, prompt: str, *behind: str) -> dict[str, Any]:
    text = "\n".join((f"<USER_REQUEST>\n{prompt}\n</USER_REQUEST>", *behind))
    return _step(number, "USER_INPUT", "USER_EXPLICIT", text)


def _behind(tag: str) -> Carrier:
    return Carrier(tag, lambda c, p: [_request(1, p, f"<{tag}>\n{c}\n</{tag}>")])


def _display(prompt: str) -> bytes:
    return json.dumps({"display": prompt, "conversationId": "x", "workspace": "/w"}).encode() + b"\n"


ANTIGRAVITY: list[Carrier] = [
    _behind("ADDITIONAL_METADATA"),
    _behind("USER_SETTINGS_CHANGE"),
    Carrier(
        "headless prompt",
        lambda c, p: [_request(1, c), _request(2, p), _step(3, "PLANNER_RESPONSE", "MODEL", "ok")],
        typed_list=_display,
        file="x/.system_generated/logs/transcript.jsonl",
    ),
    Carrier(
        "tool result",
        lambda c, p: [_step(1, "RUN_COMMAND", "MODEL", c), _step(2, "USER_INPUT", "SYSTEM", c), _request(3, p)],
    ),
]


def _kiro(kind: str, name: str, *content: dict[str, Any]) -> dict[str, Any]:
    data = {"message_id": name, "content": list(content), "meta": {"timestamp": 1_780_612_717}}
    return {"version": "v1", "kind": kind, "data": data}


KIRO: list[Carrier] = [
    Carrier(
        "tool result",
        lambda c, p: [
            _kiro("AssistantMessage", "a", {"kind": "text", "data": c}),
            _kiro("ToolResults", "b", {"kind": "toolResult", "data": {"toolUseId": "t", "content": c}}),
            _kiro("Prompt", "c", {"kind": "text", "data": p}),
        ],
    )
]


def _goose(number: int, role: str, *content: dict[str, Any], visible: bool = True) -> dict[str, Any]:
    row = {"session": "s", "directory": "/w", "role": role, "created": _MS // 1000 + number}
    return {"message": [{**row, "content": json.dumps(content), "metadata": json.dumps({"userVisible": visible})}]}


def _rustyline(prompt: str) -> bytes:
    return b"#V2\n" + prompt.replace("\\", "\\\\").replace("\n", "\\n").encode() + b"\n"


GOOSE: list[Carrier] = [
    Carrier(
        "headless prompt",
        lambda c, p: [_goose(1, "user", *_text(c)), _goose(2, "user", *_text(p)), _goose(3, "assistant", *_text("ok"))],
        typed_list=_rustyline,
    ),
    Carrier(
        "tool result",
        lambda c, p: [
            _goose(1, "user", {"type": "toolResponse", "id": "t", "toolResult": {"value": _text(c)}}),
            _goose(2, "user", *_text(c), visible=False),
            _goose(3, "user", *_text(p)),
        ],
        typed_list=_rustyline,
    ),
]
