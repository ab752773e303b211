"""The adapter for GitHub Copilot CLI: one events.jsonl per session.

Lines of a session in, events out. Seen: 1.0.102. `content` of a `user.message` is what was typed, `transformedContent`
what the model got. Nothing tells `-p` from a typed prompt, so each is a claim that the client's list of submitted
prompts must prove; the list keeps the last 50. Withdrawn prompts (Esc Esc) vanish: the file is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, RecordParser, items, mapping, named_by, read_object, short, string, utc
from skilld.agents.skill_reads import PendingCalls, Use, uses_of
from skilld.agents.tools import bounded
from skilld.agents.typed_history import Claim, Entry, ProvingParser
from skilld.agents.wrapped import picks_of, typed_answer
from skilld.types import (
    Event,
    How,
    Ignored,
    Reply,
    SessionEnd,
    SkillUse,
    Span,
    ToolCall,
    ToolEvent,
    ToolOutcome,
    ToolResult,
    Turn,
)

# What a person told Copilot CLI in its dialogs: why a call was refused, and answers to its questions. Data of an event
# in, words out, each with how they were said ("" where an option was picked). Seen: 1.0.102, which writes both as
# events of their own and names the person as their source, so no tool can imitate them.

_PERSON = "human_response"
Note = tuple[str, str, How]


def refusal(data: Mapping[str, Any]) -> Iterator[Note]:
    """Yield name and words of the note in a `permission.completed`."""
    words = string(mapping(data.get("result")).get("feedback"))
    if data.get("decisionSource") == _PERSON and words.strip():
        yield short(data.get("requestId")), words, How.REJECTION


def answers(data: Mapping[str, Any]) -> Iterator[Note]:
    """Yield name and words of each answer in a `human_response.recorded`."""
    response = mapping(data.get("response"))
    if data.get("actor") != _PERSON or response.get("responseKind") != "ask_user":
        return
    fields = mapping(mapping(response.get("requestedSchema")).get("properties"))
    for name, value in mapping(response.get("content")).items():
        words = typed_answer(string(value), picks_of(_options(mapping(fields.get(name)))), several=False)
        is_picked = not isinstance(value, str) or (bool(value.strip()) and not words)
        if is_picked or words.strip():
            yield f"{short(data.get('requestId'))}.{short(name)}", words, How.ANSWER


def _options(field: Mapping[str, Any]) -> Iterator[str]:
    for key in ("enum", "enumNames", "oneOf", "anyOf"):
        for option in items(field.get(key)):
            yield from (string(value) for value in (option, *mapping(option).values()))


INFO = AgentInfo(
    name="copilot-cli",
    title="Copilot CLI",
    home=".copilot",
    home_variables=("COPILOT_HOME",),
    stores=("session-state",),
    session_place="events.jsonl",
    typed_list=("../../command-history-state.json",),
    project_skills=(".github/skills", ".claude/skills", ".agents/skills"),
    user_skills=(".claude/skills", ".agents/skills"),
    skill_homes=("skills",),
    wrappers=("transformedContent", "injected message", "headless prompt", "option label", "tool result"),
    instructions=(".github/copilot-instructions.md", "AGENTS.md"),
    verified="1.0.102 on 2026-11-20",
)

_HOW = {"steering": How.QUEUED, "queued": How.QUEUED}


def is_transcript(path: PurePath) -> bool:
    """Whether this is the event file of a session."""
    return INFO.is_session(path)


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> ProvingParser:
    """Return a parser for one session, fresh or resumed with the state of a checkpoint."""
    known = state or {}
    return ProvingParser(CopilotParser(path, known), read_history, known)


def read_history(data: bytes) -> Sequence[Entry] | None:
    """Return the entries of command-history-state.json (its newest come first), None if it is half written."""
    if not data:
        return []
    history = (read_object(data) or {}).get("commandHistory")
    if not isinstance(history, list):
        return None
    return [Entry(text) for text in reversed(history) if isinstance(text, str)]


_ERRORS = {"rejected": ToolOutcome.REJECTED, "denied": ToolOutcome.REJECTED} | dict.fromkeys(
    ("aborted", "cancelled", "interrupted"), ToolOutcome.INTERRUPTED
)
_EXITED = re.compile(r"<[^<>]{0,80}with exit code (-?\d{1,10})>")


def tool_events(record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
    """Yield the tool events of one record."""
    data, at = mapping(record.get("data")), utc(record.get("timestamp"))
    call_id = short(data.get("toolCallId"))
    if record.get("type") == "tool.execution_start":
        yield ToolCall(session_id, call_id, short(data.get("toolName")), bounded(data.get("arguments")), at, span)
    elif record.get("type") == "tool.execution_complete":
        yield ToolResult(session_id, call_id, _outcome(data), at, span)


def _outcome(data: Mapping[str, Any]) -> ToolOutcome:
    if data.get("success") is not True:
        return _ERRORS.get(string(mapping(data.get("error")).get("code")), ToolOutcome.FAILED)
    last = string(mapping(data.get("result")).get("content")).rstrip().rpartition("\n")[2]
    exited = _EXITED.fullmatch(last)
    code = int(exited[1]) if exited else mapping(data.get("shellExecution")).get("exitCode")
    return ToolOutcome.FAILED if code else ToolOutcome.OK


class CopilotParser(RecordParser[Event | Claim]):
    """Reads one session, line by line."""

    def __init__(self, path: PurePath, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        self._session = short(state.get("session")) or path.parent.name
        self._cwd = string(state.get("cwd")) or None
        self._calls = PendingCalls(state.get("calls"))
        self._handlers: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any], Span], list[Event | Claim]]] = {
            "session.start": self._on_start,
            "session.resume": self._on_start,
            "session.shutdown": self._on_shutdown,
            "user.message": self._on_user,
            "assistant.message": self._on_reply,
            "permission.completed": self._on_dialog,
            "human_response.recorded": self._on_dialog,
            "skill.invoked": self._on_skill,
            "skill.invoked_ref": self._on_skill,
            "tool.execution_start": self._on_call,
            "tool.execution_complete": self._on_result,
        }

    def _read(self, record: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        handle = self._handlers.get(string(record.get("type")))
        return handle(record, mapping(record.get("data")), span) if handle else []

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, and the state."""
        return end, {"session": self._session, "cwd": self._cwd, "calls": self._calls.state()}

    def _on_start(self, record: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        del record, span
        self._session = short(data.get("sessionId")) or self._session
        self._cwd = string(mapping(data.get("context")).get("cwd")) or self._cwd
        return []

    def _on_shutdown(self, record: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        del record, data
        return [SessionEnd(self._session, span)]

    def _on_user(self, record: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        text = string(data.get("content"))
        if _is_of_a_subagent(record):
            return [Ignored("subagent", span)]
        if string(data.get("source")) not in {"", "user"}:
            return [Ignored("injected", span)]
        if not text.strip():
            return [Ignored("empty", span)]
        key = short(data.get("messageId")) or short(record.get("id"))
        key = key or named_by(self._session, record.get("timestamp"), text)
        how = _HOW.get(string(data.get("delivery")), How.TYPED)
        at = utc(record.get("timestamp"))
        return [Claim(Turn(f"{INFO.name}:{key}", INFO.name, self._session, text, at, how, span, self._cwd))]

    def _on_dialog(self, record: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        """Return the turns of what was typed into a dialog: it stands in no list and needs none."""
        at = utc(record.get("timestamp"))
        return [
            Turn(f"{INFO.name}:{name}", INFO.name, self._session, words, at, how, span, self._cwd)
            if words
            else Ignored("picked-answer", span)
            for name, words, how in (*refusal(data), *answers(data))
        ]

    def _on_reply(self, record: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        text = string(data.get("content"))
        if not text.strip() or _is_of_a_subagent(record):
            return []
        return [Reply(self._session, text, utc(record.get("timestamp")), span)]

    def _on_skill(self, record: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        name, path = short(data.get("name")), string(data.get("path")) or None
        return self._used([(name, path)] if name else [], record, span)

    def _on_call(self, record: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        del record, span
        uses = uses_of(string(data.get("toolName")), mapping(data.get("arguments")), self._cwd)
        self._calls.add(short(data.get("toolCallId")), list(uses))
        return []

    def _on_result(self, record: Mapping[str, Any], data: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        uses = self._calls.end(short(data.get("toolCallId")), well=data.get("success") is True)
        return self._used(uses, record, span)

    def _used(self, uses: Sequence[Use], record: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        if _is_of_a_subagent(record):
            return []
        at = utc(record.get("timestamp"))
        return [SkillUse(self._session, short(name), path, at, span, self._cwd) for name, path in uses]


def _is_of_a_subagent(record: Mapping[str, Any]) -> bool:
    data = mapping(record.get("data"))
    return bool(record.get("agentId") or data.get("parentToolCallId"))
