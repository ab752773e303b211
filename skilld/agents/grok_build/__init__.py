"""The adapter for Grok Build: one append-only updates.jsonl per session, sub-agents in folders next to it.

Seen: 1.0.41. `summary.json` identifies a headless session. `prompt_context.json` is about the newest run: it says
`is_non_interactive` after `grok -p -c` continued a person's session (tests/live/test_more_agents.py). Such a run
numbers its events from the start, a terminal continues. A fork copies events with the number and name of the session
that wrote them. The note on a refusal is written twice, at one time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, ReadFile, mapping, read_object, short, string
from skilld.agents.declared import (
    ANY,
    NONE,
    DeclaredAdapter,
    DeclaredParser,
    Facts,
    Format,
    Record,
    RecordKind,
    Role,
    milliseconds,
    value,
)
from skilld.agents.questions import Question, quoted_answers
from skilld.agents.skill_reads import Use
from skilld.agents.typed_history import Claim
from skilld.types import Event, How, Ignored, Span

_NUMBER = re.compile(r"(.*)-(\d{1,15})")
_COMMAND = re.compile(r"/([\w:.-]+)")


def _facts(_path: PurePath, read: ReadFile) -> Facts:
    summary, context = (mapping(read_object(read(name) or b"")) for name in ("summary.json", "prompt_context.json"))
    info, kind = mapping(summary.get("info")), summary.get("session_kind")
    return Facts(
        session=short(info.get("id")) or None,
        cwd=string(info.get("cwd")) or None,
        headless=kind == "headless" or (not summary and context.get("is_non_interactive") is True),
        subagent=kind == "subagent" or context.get("audience") == "subagent",
    )


def _slash_skill(record: Record) -> Use | None:
    found = _COMMAND.match(string(value(record, "params.update.content.text")))
    return (found[1], None) if found else None


class GrokParser(DeclaredParser):
    """Parses one session, and recognizes which run of the client wrote an event."""

    def __init__(self, declared: Format, path: PurePath, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state."""
        super().__init__(declared, path, state)
        numbers = [state.get(name) for name in ("last", "top")]
        self._last, self._top = (number if isinstance(number, int) else 0 for number in numbers)
        self._scripted = state.get("scripted") is True

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, and the state."""
        offset, state = super().checkpoint(end)
        return offset, {**state, "last": self._last, "top": self._top, "scripted": self._scripted}

    def events_of(self, kind: RecordKind, record: Record, span: Span) -> Iterator[Event | Claim]:
        """Yield the events of a record, after recording its number."""
        found = _NUMBER.fullmatch(string(value(record, "params._meta.eventId")))
        self.writer = short(found[1]) if found else ""
        if found and (number := int(found[2])) != self._last:
            begins = value(record, "params.update.sessionUpdate") == "background_tasks"
            if number < self._last and (number <= _MAX_FIRST or 2 * number < self._last):
                self._scripted, self._top, self._last = True, max(self._top, self._last), number
            elif self._scripted and number > self._top and (begins or number > self._last + _MAX_STEP):
                self._scripted = False
            self._last = max(self._last, number)
        if self._scripted and kind.role is Role.PROMPT:
            self.scripted = True
            yield Ignored("headless", span)
        else:
            yield from super().events_of(kind, record, span)


_MAX_FIRST = 4  # numbers of the first events of a run; with parallel calls a later one may come first
_MAX_STEP = 20  # numbers that one run skips between two events
_UPDATE = "params.update.sessionUpdate"
_CHUNK = {_UPDATE: "user_message_chunk"}
_TEXT = "params.update.content.text"
FORMAT = Format(
    "grok-build",
    (
        RecordKind(Role.NOTHING, {**_CHUNK, "params.update.content._meta.bash_command": ANY}, why="shell"),
        RecordKind(
            Role.SKILL, {**_CHUNK, "params.update.content._meta.displayAsSkill": "true"}, skill=_slash_skill, more=True
        ),
        RecordKind(Role.PROMPT, {**_CHUNK, "params.update._meta.promptIndex": ANY}, text=_TEXT),
        RecordKind(Role.PROMPT, {**_CHUNK, "params.update._meta.promptIndex": NONE}, text=_TEXT, how=How.REJECTION),
        RecordKind(Role.REPLY, {_UPDATE: "agent_message_chunk"}, text="params.update.content"),
        RecordKind(
            Role.CALL, {_UPDATE: "tool_call"},
            call="params.update.toolCallId", tool="params.update.title", input="params.update.rawInput",
        ),
        RecordKind(
            Role.RESULT, {_UPDATE: "tool_call_update", "params.update.status": ("completed", "failed")},
            call="params.update.toolCallId", text="params.update.content", failed={"params.update.status": "failed"},
        ),
        RecordKind(Role.NOTHING, {"params.update.sessionUpdate": ANY}),
    ),
    at="params._meta.agentTimestampMs",
    time=milliseconds,
    questions={"ask_user_question": Question(answers=quoted_answers)},
    own_skills=True,
    refused=("The user elected to avoid running",),
    facts=_facts,
    name=lambda path: path.parent.name,
)  # fmt: skip
INFO = AgentInfo(
    name="grok-build",
    title="Grok Build",
    home=".grok",
    home_variables=("GROK_HOME",),
    stores=("sessions",),
    session_place="updates.jsonl",
    project_skills=(".grok/skills", ".agents/skills", ".claude/skills", ".cursor/skills"),
    user_skills=(".claude/skills", ".cursor/skills", ".agents/skills"),
    wrappers=("shell", "headless prompt", "option label", "tool result"),
    instructions=("AGENTS.md", "CLAUDE.md"),
    verified="1.0.41 on 2026-11-30",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT, reads=GrokParser)
