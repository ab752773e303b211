"""The adapter for GitHub Copilot CLI: one events.jsonl per session.

Lines of a session in, events out. Seen: 1.0.102. `content` of a `user.message` is what was typed, `transformedContent`
what the model got. Nothing distinguishes `-p` from a typed prompt, so each is a claim that the client's list of
submitted prompts must prove; the list keeps the last 50. Withdrawn prompts (Esc Esc) vanish: the file is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skilld.agents.base import AgentInfo, items, mapping, read_object, short, string
from skilld.agents.declared import (
    ANY,
    NONE,
    Condition,
    DeclaredAdapter,
    DeclaredParser,
    Format,
    Record,
    RecordKind,
    Role,
    value,
)
from skilld.agents.skill_reads import Use
from skilld.agents.typed_history import Claim, Entry
from skilld.agents.wrappers import possible_picks, typed_answer
from skilld.types import Event, How, Ignored, Span, ToolOutcome, Turn

# What a person typed in Copilot CLI's dialogs: why a call was refused, and answers to its questions. Seen: 1.0.102,
# which writes both as separate events with the person as their source, so no tool can imitate them.

_PERSON_SOURCE = "human_response"
Note = tuple[str, str, How]


def refusal_notes(data: Mapping[str, Any]) -> Iterator[Note]:
    """Yield name and words of the note in a `permission.completed`."""
    words = string(mapping(data.get("result")).get("feedback"))
    if data.get("decisionSource") == _PERSON_SOURCE and words.strip():
        yield short(data.get("requestId")), words, How.REJECTION


def answer_notes(data: Mapping[str, Any]) -> Iterator[Note]:
    """Yield name and words of each answer in a `human_response.recorded`."""
    response = mapping(data.get("response"))
    if data.get("actor") != _PERSON_SOURCE or response.get("responseKind") != "ask_user":
        return
    fields = mapping(mapping(response.get("requestedSchema")).get("properties"))
    for name, answer in mapping(response.get("content")).items():
        words = typed_answer(string(answer), possible_picks(_options(mapping(fields.get(name)))), several=False)
        is_picked = not isinstance(answer, str) or (bool(answer.strip()) and not words)
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
    wrappers=("transformedContent", "injected message", "headless prompt", "option label", "tool result"),
    instructions=(".github/copilot-instructions.md", "AGENTS.md"),
    verified="1.0.102 on 2026-11-30",
)


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
_EXIT_CODE = re.compile(r"<[^<>]{0,80}with exit code (-?\d{1,10})>")


def _outcome(data: Mapping[str, Any]) -> ToolOutcome:
    if data.get("success") is not True:
        return _ERRORS.get(string(mapping(data.get("error")).get("code")), ToolOutcome.FAILED)
    last = string(mapping(data.get("result")).get("content")).rstrip().rpartition("\n")[2]
    exited = _EXIT_CODE.fullmatch(last)
    code = int(exited[1]) if exited else mapping(data.get("shellExecution")).get("exitCode")
    return ToolOutcome.FAILED if code else ToolOutcome.OK


def _with_native_id(record: Record) -> Record:
    """Return a record with an id that is the same in every copy of a prompt."""
    native = short(value(record, "data.messageId")) or short(record.get("id"))
    return {**record, "native": native} if record.get("type") == "user.message" else record


def _invoked_skill(record: Record) -> Use | None:
    name = short(value(record, "data.name"))
    return (name, string(value(record, "data.path")) or None) if name else None


_TYPED_MESSAGE: Condition = {"type": "user.message", "data.source": ("user", NONE)}
_DIALOG_RECORD = RecordKind(Role.NOTHING, {"type": ("permission.completed", "human_response.recorded")})
FORMAT = Format(
    INFO.name,
    (
        RecordKind(Role.HEAD, {"type": ("session.start", "session.resume")}),
        RecordKind(Role.END, {"type": "session.shutdown"}),
        RecordKind(
            Role.PROMPT, {**_TYPED_MESSAGE, "data.delivery": ("steering", "queued")},
            text="data.content", key="native", how=How.QUEUED,
        ),
        RecordKind(Role.PROMPT, _TYPED_MESSAGE, text="data.content", key="native"),
        RecordKind(Role.NOTHING, {"type": "user.message"}, why="injected"),
        RecordKind(Role.REPLY, {"type": "assistant.message"}, text="data.content"),
        _DIALOG_RECORD,
        RecordKind(Role.SKILL, {"type": ("skill.invoked", "skill.invoked_ref")}, skill=_invoked_skill),
        RecordKind(
            Role.CALL, {"type": "tool.execution_start"},
            call="data.toolCallId", tool="data.toolName", input="data.arguments",
        ),
        RecordKind(
            Role.RESULT, {"type": "tool.execution_complete"}, call="data.toolCallId", failed={"data.success": NONE}
        ),
        RecordKind(Role.NOTHING, {"type": ANY}),
    ),
    session="data.sessionId",
    cwd="data.context.cwd",
    name=lambda path: path.parent.name,
    listed=True,
    shape=_with_native_id,
    result=lambda record: _outcome(mapping(record.get("data"))),
)  # fmt: skip


class CopilotParser(DeclaredParser):
    """Reads one session, including what was typed into its dialogs, excluding what a sub-agent says and reads."""

    def events_of(self, kind: RecordKind, record: Record, span: Span) -> Iterator[Event | Claim]:
        """Yield the events of a record, depending on who wrote it."""
        data, at = mapping(record.get("data")), self.format.time(record.get("timestamp"))
        aside = bool(record.get("agentId") or data.get("parentToolCallId"))
        if kind is _DIALOG_RECORD:  # it is in no list and needs none
            for name, words, how in (*refusal_notes(data), *answer_notes(data)):
                turn = Turn(f"{INFO.name}:{name}", INFO.name, self.session, words, at, how, span, self.cwd)
                yield turn if words else Ignored("picked-answer", span)
        elif aside and record.get("type") == "user.message":
            yield Ignored("subagent", span)
        elif not aside or kind.role not in {Role.REPLY, Role.SKILL, Role.RESULT}:
            yield from super().events_of(kind, record, span)


ADAPTER = DeclaredAdapter(INFO, FORMAT, entries=read_history, reads=CopilotParser)
