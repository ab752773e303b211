"""Somebody else's text in every wrapper of Claude Code, seen in 2.1.197 and 2.1.330, and in older ones where noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.carrier import Carrier, Records

_BASE = {"sessionId": "s1", "cwd": "/w", "version": "2.1.330", "entrypoint": "cli", "timestamp": "2026-11-18T09:00:01Z"}
_UNSIGNED: dict[str, Any] = {"version": "2.1.80"}  # the newest of the collected sessions in which no prompt is signed
_SIGNED: dict[str, Any] = {"origin": {"kind": "human"}, "promptSource": "typed"}
_REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)


def user(content: Any, number: int = 1, **fields: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": f"u{number}", **_BASE, "message": {"role": "user", "content": content}, **fields}


def typed(prompt: str) -> dict[str, Any]:
    return user(prompt, 99, **_SIGNED)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": "t1", "name": name, "input": arguments}
    return {"type": "assistant", "uuid": "a1", **_BASE, "message": {"role": "assistant", "content": [block]}}


def result(content: Any, *beside: dict[str, Any], error: bool = False, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": error}
    return user([block, *beside], 2, **fields)


def _in_text(tag: str) -> list[Carrier]:
    """A block of context in the prompt's own text (older versions, editors, the desktop app), or a block of its own."""

    def block(content: str) -> str:
        return f"<{tag}>{content}</{tag}>"

    shapes: list[Callable[[str, str], Records]] = [
        lambda c, p: [user(f"{block(c)}\n{p}", **_UNSIGNED)],
        lambda c, p: [user(f"\n{block(c)}\n{block(c)}\n\n{p}", **_SIGNED)],
        lambda c, p: [user(f"{p}\n\n{block(c)}\n", **_UNSIGNED)],
        lambda c, p: [user(f"{p}\n{block(c)}", **_SIGNED)],
        lambda c, p: [user([text(block(c)), text(p)], **_UNSIGNED)],
        lambda c, p: [user([text(p), text(block(c))], **_SIGNED)],
        lambda c, p: [user(block(c)), user(block(c), 2, **_SIGNED), typed(p)],
        lambda c, p: [call("Edit"), result("done", text(block(c)), text(p))],
        lambda c, p: [call("Edit"), result("done", text(f"{block(c)}\n{p}"))],
    ]
    between = Carrier(tag, lambda c, p: [user(f"{block(c)}\n{p}\n{block(c)}", **_UNSIGNED)], recognizable=False)
    return [*(Carrier(tag, shape) for shape in shapes), between]


def _paste(content: str) -> str:
    return f'\n\n<pasted_content id="8e71">\n{content}\n</pasted_content id="8e71">\n\n'


def _alone(tag: str) -> Carrier:
    """A record of the client's own, before a prompt."""
    return Carrier(tag, lambda c, p: [user(f"<{tag}>{c}</{tag}>"), typed(p)])


def _attached(kind: str, field: str) -> Carrier:
    return Carrier(
        f"attachment {kind}",
        lambda c, p: [typed(p), {"type": "attachment", "uuid": "x", **_BASE, "attachment": {"type": kind, field: c}}],
    )


def _queue(content: str, prompt: str, *, version: str = "2.1.330") -> Records:
    operation = {"type": "queue-operation", "sessionId": "s1", "timestamp": "2026-11-18T09:00:02Z"}
    start = {**typed(prompt), "timestamp": "2026-11-18T09:00:01Z", "version": version}
    return [start, {**operation, "operation": "enqueue", "content": content}, {"type": "mode", "mode": "normal"}]


def _asked(content: str, prompt: str) -> Records:
    picked, free = {"question": "Which?", "options": [{"label": content}]}, {"question": "Else?", "options": []}
    several = {"question": "Many?", "options": [{"label": content}, {"label": "b"}], "multiSelect": True}
    markup = content.strip()
    answers = {"Which?": markup, "Else?": prompt, "Many?": f"{markup}, b"}
    questions = [picked, free, several]
    return [call("AskUserQuestion"), result("answered", toolUseResult={"questions": questions, "answers": answers})]


def _command(content: str, prompt: str) -> Records:
    head = "<command-message>x</command-message>\n<command-name>/x</command-name>\n"
    body = user([text(content)], 2, isMeta=True)
    return [user(f"{head}<command-args>{prompt}</command-args>"), body]


def _contents(content: str, prompt: str) -> Records:
    """As 1.0 wrote it."""
    head = "<command-message>x</command-message>\n<command-name>/x</command-name>\n"
    return [
        user(f"{head}<command-args>{prompt}</command-args>\n<command-contents>{content}</command-contents>", version="")
    ]


CLAUDE: list[Carrier] = [
    *_in_text("system-reminder"),
    *_in_text("ide_selection"),
    *_in_text("ide_opened_file"),
    *_in_text("new-diagnostics"),
    *_in_text("user-prompt-submit-hook"),
    Carrier("pasted_content", lambda c, p: [user(_paste(c) + p, **_SIGNED)]),
    Carrier("pasted_content", lambda c, p: [user(p + _paste(c), **_SIGNED)]),
    Carrier("pasted_content", lambda c, p: [user(_paste(c), **_SIGNED), typed(p)]),
    *map(_alone, ("bash-stdout", "local-command-stdout", "task-notification", "teammate-message")),
    _attached("hook_success", "content"),
    _attached("selected_lines_in_ide", "content"),
    Carrier("tool result", lambda c, p: [call("Bash"), result(c), typed(p)]),
    Carrier("tool result", lambda c, p: [call("Bash"), result(c, error=True, toolUseResult=f"Error: {c}"), typed(p)]),
    Carrier(
        "tool result",
        lambda c, p: [
            call("mcp__x__y"),
            result(_REFUSED + c, error=True, toolUseResult=f"Error: {_REFUSED}"),
            typed(p),
        ],
    ),
    Carrier("skill body", lambda c, p: [typed(p), user(f"Base directory for this skill: /w/s\n\n{c}", isMeta=True)]),
    Carrier("command body", _command),
    Carrier("command-contents", _contents),
    Carrier("queue", _queue),
    Carrier("queue", lambda c, p: _queue(c, p, version="2.1.33")),
    Carrier("option label", _asked),
    Carrier(
        "blocking hook",
        lambda c, p: [
            {
                "type": "system",
                "uuid": "y",
                "subtype": "informational",
                **_BASE,
                "content": f"UserPromptSubmit operation blocked by hook:\n{c}\n\nOriginal prompt: {p}",
            }
        ],
    ),
    Carrier("compact summary", lambda c, p: [user(c, isCompactSummary=True), typed(p)]),
    Carrier("side chain", lambda c, p: [user(c, isSidechain=True), typed(p)]),
]
