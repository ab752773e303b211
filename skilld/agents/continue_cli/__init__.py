"""The adapter for Continue's command line: one JSON document per session, rewritten each time, without ids or times.

Seen: 1.5.47. Nothing in the file distinguishes `cn -p` from a typed prompt, so each must be in `input_history.json`,
which also has the times: one before the start of the session is a copy in a fork. A prompt typed while a tool runs
removes the turn before it from the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from skilld.agents.base import AgentInfo, ReadFile, objects, string
from skilld.agents.declared import ANY, DeclaredAdapter, Facts, Format, RecordKind, Role
from skilld.agents.gatherers import Document
from skilld.agents.questions import OpenQuestion, Question, ToolOutput
from skilld.agents.typed_history import Entry
from skilld.agents.wrappers import option_labels
from skilld.text import read_json

_CREATED = re.compile(rb'"dateCreated":\s*"?(\d{1,15})\b')
_MAX_ENTRY_BYTES = 4096  # bytes
_CUSTOM = re.compile(r'User provided custom answer: "(.*)"\s*', re.DOTALL)


def _answer(result: ToolOutput, _: OpenQuestion) -> list[str]:
    found = _CUSTOM.fullmatch(result.text)
    return [found[1]] if found else []


def _facts(path: PurePath, read: ReadFile) -> Facts:
    """Return when the session began: the index of all sessions has it, after the id and the title."""
    index = read("sessions.json") or b""
    name = path.stem.encode("utf-8", "replace")
    at = max(index.find(b'"sessionId":%b"%b"' % (blank, name)) for blank in (b" ", b""))
    found = _CREATED.search(index, at, at + _MAX_ENTRY_BYTES) if at >= 0 else None
    return Facts(began=int(found[1]) / 1000 if found else 0.0)


def read_history(data: bytes) -> Sequence[Entry] | None:
    """Return the entries of input_history.json (its newest come first), None if it is half written."""
    listed = read_json(data or b"[]")
    if listed is None:
        return None
    times = ((entry, entry.get("timestamp")) for entry in reversed(objects(listed)))
    return [Entry(string(each.get("text")), None, at / 1000 if isinstance(at, int) else None) for each, at in times]


_USER = {"message.role": "user"}
_ASSISTANT = {"message.role": "assistant"}
FORMAT = Format(
    "continue",
    (
        RecordKind(Role.HEAD, {"head": ANY}),
        RecordKind(Role.PROMPT, _USER, text="message.content"),
        RecordKind(Role.REPLY, _ASSISTANT, text="message.content", more=True),
        RecordKind(
            Role.CALL, _ASSISTANT, "toolCallStates", more=True,
            call="toolCallId", tool="toolCall.function.name", input="toolCall.function.arguments",
        ),
        RecordKind(
            Role.RESULT, _ASSISTANT, "toolCallStates", {"status": ("done", "canceled", "errored")},
            call="toolCallId", text="output", failed={"status": ("canceled", "errored")}, more=True,
        ),
        RecordKind(Role.NOTHING, _ASSISTANT),
    ),
    session="head.sessionId",
    cwd="head.workspaceDirectory",
    at="",
    skills={"Skills": "skill_name"},
    shows={"Read": "filepath"},
    questions={
        "AskQuestion": Question(
            answers=_answer,
            labels=lambda asked: option_labels([asked]),
            titles=lambda asked: [string(asked.get("question"))],
        )
    },
    refused=("Permission denied by user",),
    facts=_facts,
    listed=True,
)  # fmt: skip
INFO = AgentInfo(
    name="continue",
    title="Continue",
    home=".continue",
    home_variables=("CONTINUE_GLOBAL_DIR",),
    stores=("sessions",),
    suffixes=(".json",),
    flat=True,
    gather=Document("history", ("sessionId", "workspaceDirectory")),
    typed_list=("../input_history.json",),
    project_skills=(".continue/skills", ".claude/skills"),
    wrappers=("skill request", "headless prompt", "option label", "tool result"),
    instructions=("AGENTS.md",),
    verified="1.5.47 on 2026-11-30",
)
ADAPTER = DeclaredAdapter(
    INFO, FORMAT, lambda path: path.parent.name == "sessions" and path.stem != path.parent.name, read_history
)
