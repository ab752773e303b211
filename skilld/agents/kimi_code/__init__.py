"""The adapter for Kimi Code: one append-only wire.jsonl per agent in a session; the person talks to the main one.

Seen: 2.1.0. `origin` says who sent a prompt; `kimi -p` writes the same as a terminal, so prompts must be in the
folder's `user-history`. Queued lines are sent as one prompt. Only a terminal can steer a running turn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import PurePath

from skilld.agents.base import AgentInfo, ReadFile, mapping, read_object, short, string
from skilld.agents.declared import (
    DeclaredAdapter,
    Facts,
    Format,
    Record,
    RecordKind,
    Role,
    milliseconds,
    read_entries,
    value,
)
from skilld.agents.questions import OpenQuestion, Question, ToolOutput
from skilld.agents.skill_reads import Use
from skilld.types import How

_STATE = "../../state.json"


def _facts(_path: PurePath, read: ReadFile) -> Facts:
    state = mapping(read_object(read(_STATE) or b""))
    return Facts(session=short(state.get("id")) or None, cwd=string(state.get("cwd")) or None)


def _history_place(path: PurePath, read: ReadFile) -> str:
    cwd = _facts(path, read).cwd or ""
    name = hashlib.md5(cwd.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    return f"../../../../../user-history/{name}.jsonl"


def _activated_skill(record: Record) -> Use | None:
    name = short(value(record, "origin.skillName"))
    return (name, string(value(record, "origin.skillPath")) or None) if name else None


def _slash_text(record: Record) -> str:
    name, words = short(value(record, "origin.skillName")), string(value(record, "origin.skillArgs"))
    return f"/{name} {words}".rstrip()


def _answers(result: ToolOutput, _: OpenQuestion) -> Iterator[str]:
    yield from map(string, mapping(mapping(read_object(result.text)).get("answers")).values())


_LOOP = {"type": "context.append_loop_event"}
_SKILL = {"origin.kind": "skill_activation"}
FORMAT = Format(
    "kimi-code",
    (
        RecordKind(Role.PROMPT, {"type": "turn.prompt", "origin.kind": "user"}, text="input", key="promptId"),
        RecordKind(
            Role.PROMPT, {"type": "turn.steer", "origin.kind": "user"},
            text="input", key="messageId", how=How.QUEUED, listed=False,
        ),
        RecordKind(Role.SKILL, {"type": ("turn.prompt", "turn.steer"), **_SKILL}, skill=_activated_skill, more=True),
        RecordKind(
            Role.PROMPT, {"type": "turn.prompt", **_SKILL, "origin.trigger": "user-slash"},
            words=_slash_text, key="promptId",
        ),
        RecordKind(Role.NOTHING, {"type": ("turn.prompt", "turn.steer")}, why="injected"),
        RecordKind(Role.REPLY, {**_LOOP, "event.type": "content.part", "event.part.type": "text"}, text="event.part"),
        RecordKind(
            Role.CALL, {**_LOOP, "event.type": "tool.call"},
            call="event.toolCallId", tool="event.name", input="event.args",
        ),
        RecordKind(
            Role.RESULT, {**_LOOP, "event.type": "tool.result"},
            call="event.toolCallId", text="event.result.output", failed={"event.result.isError": "true"},
        ),
        RecordKind(
            Role.NOTHING, {"type": ("context.*", "agent.*", "turn.*", "prompt.*", "llm.*", "usage.*", "metadata")}
        ),
        RecordKind(Role.NOTHING, {"type": ("token_counting.*", "runtime.*", "profile.*", "permission.*", "plugin.*")}),
        RecordKind(Role.NOTHING, {"type": ("subagent.*", "interaction.*")}),
    ),
    at="time",
    time=milliseconds,
    questions={"AskUserQuestion": Question(answers=_answers)},
    facts=_facts,
    name=lambda path: path.parents[min(2, len(path.parents) - 1)].name,
    listed=True,
)  # fmt: skip
INFO = AgentInfo(
    name="kimi-code",
    title="Kimi Code",
    home=".kimi-code",
    home_variables=("KIMI_CODE_HOME",),
    stores=("sessions",),
    session_place="agents/main/wire.jsonl",
    typed_place=_history_place,
    project_skills=(".kimi-code/skills", ".agents/skills"),
    user_skills=(".agents/skills",),
    wrappers=("skill-loaded", "injected message", "headless prompt", "option label", "tool result"),
    instructions=("AGENTS.md",),
    verified="2.1.0 on 2026-11-30",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT, entries=lambda data: read_entries(data, "content"), joins=True)
