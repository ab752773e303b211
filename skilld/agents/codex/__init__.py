"""The adapter for Codex (terminal, editor extension and desktop app: one store).

Lines of a rollout in, events out. Reads both generations, even in one file: the legacy one, where a prompt is an
event_msg/user_message, and the paginated one (since about 0.145), where it is a completed UserMessage item; also old
files that have neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, hash_name, items, mapping, objects, read_object, remember, short, string
from skilld.agents.codex.records import Record, Session, as_record, read_record
from skilld.agents.codex.skills import (
    CODE_COMMENT,
    CODE_STRING,
    MAX_CODE,
    block_use,
    call_uses,
    execution_uses,
    mention_uses,
    unescaped,
)
from skilld.agents.codex.user_messages import MirrorCounter, PromptReader
from skilld.agents.skill_reads import Use
from skilld.agents.tools import bounded
from skilld.agents.wrappers import TemplateLookup
from skilld.types import (
    Event,
    Malformed,
    RawLine,
    Reply,
    SessionEnd,
    SkillUse,
    Span,
    ToolCall,
    ToolEvent,
    ToolOutcome,
    ToolResult,
)

# A tool call and its output are response items; newer clients repeat the outcome in an event or a completed item. A
# program that the agent ran (`exec`) may call tools itself: the log holds its text, but not their outcomes.

_PROGRAM = "exec"
_MAX_NESTED = 64
_MAX_HEAD = 600  # characters of an output in which the client gives the outcome
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,10})$", re.MULTILINE)
_SCRIPT = re.compile(r"Script (completed|failed|running)\b")
_STILL_RUNS = re.compile(r"^(?:Process|Script) running with ", re.MULTILINE)
_ABORTED = re.compile(r"^aborted(?: by user)?\b", re.MULTILINE)
_REJECTION = re.compile(r"[\w ]{1,40}\brejected by user|This action was rejected|[^\n]{0,400}\bRejected\(")
_FAILURE = re.compile(r"(?:\w+ ){0,3}(?:failed(?: for|:| to)|call failed)|unsupported call|err: |execution error: ")
_TOOL_RECORD_SUFFIXES = ("_call", "_call_output", "_end", "item_completed")
_STATUS = {"completed": ToolOutcome.OK, "failed": ToolOutcome.FAILED, "declined": ToolOutcome.REJECTED}
_PROGRAM_TOKEN = re.compile(
    rf"{CODE_COMMENT}|\btools\.(?P<tool>\w{{1,128}})\s{{0,99}}\("
    rf"|\b(?P<key>[A-Za-z_]\w{{0,63}})\s{{0,9}}:|{CODE_STRING}(?P<colon>\s{{0,9}}:)?",
    re.DOTALL,
)


def tool_events(record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
    """Yield the tool events of one record."""
    if not string(mapping(record.get("payload", record)).get("type")).endswith(_TOOL_RECORD_SUFFIXES):
        return
    read = as_record(record, span)
    family, _, kind = read.kind.partition(".")
    if family == "response":
        yield from _response_events(read, kind, session_id)
    elif outcome := _mirrored_outcome(read.body, family, kind):
        yield ToolResult(session_id, _call_id(read.body), outcome, read.at, span)


def _response_events(read: Record, kind: str, session_id: str) -> Iterator[ToolEvent]:
    body, call_id = read.body, _call_id(read.body) or f"@{read.span.start}"
    if kind.endswith("_call_output"):
        yield ToolResult(session_id, call_id, outcome_of(body.get("output")), read.at, read.span)
    elif kind.endswith("_call"):
        name = short(body.get("name")) or short(kind.removesuffix("_call"))
        yield ToolCall(session_id, call_id, name, bounded(_input(body)), read.at, read.span)
        if "call_id" not in body and (outcome := _STATUS.get(string(body.get("status")))):
            yield ToolResult(session_id, call_id, outcome, read.at, read.span)  # its output is in no record
        if kind == "custom_tool_call" and name == _PROGRAM:
            for number, (tool, arguments) in enumerate(nested_calls(string(body.get("input"))), 1):
                nested = f"{call_id}.{number}"
                yield ToolCall(session_id, nested, short(tool), bounded(arguments), read.at, read.span)


def _call_id(body: Mapping[str, Any]) -> str:
    return short(body.get("call_id")) or short(body.get("id"))  # older searches of the web have neither


def _input(body: Mapping[str, Any]) -> Mapping[str, Any]:
    given = body.get("action") or body.get("arguments", body.get("input"))
    found = given if isinstance(given, dict) else read_object(string(given))
    return found if found is not None else {"input": string(given)}


def _mirrored_outcome(body: Mapping[str, Any], family: str, kind: str) -> ToolOutcome | None:
    """Return the outcome that an event or item repeats, None if it has none."""
    if family == "item":
        return _STATUS.get(string(body.get("status")))
    if kind == "exec_command_end":
        code = body.get("exit_code")
        declined = _STATUS.get(string(body.get("status"))) is ToolOutcome.REJECTED
        outcome = ToolOutcome.OK if code == 0 else ToolOutcome.FAILED
        return ToolOutcome.REJECTED if declined else outcome if isinstance(code, int) else None
    if kind == "patch_apply_end":
        return ToolOutcome.OK if body.get("success") is True else ToolOutcome.FAILED
    if kind == "mcp_tool_call_end":
        result = mapping(body.get("result"))
        failed = "Err" in result or mapping(result.get("Ok")).get("isError") is True
        return ToolOutcome.FAILED if failed else ToolOutcome.OK
    return None


def outcome_of(output: object) -> ToolOutcome:
    """Return the outcome of a call from what the client put before its output; OK unless that says otherwise."""
    if isinstance(output, dict):
        return ToolOutcome.FAILED if output.get("success") is False else outcome_of(output.get("content"))
    text = string(output) or next((string(part.get("text")) for part in objects(output)), "")
    if text.startswith('{"output":'):
        code = mapping(mapping(read_object(text)).get("metadata")).get("exit_code")
        return ToolOutcome.FAILED if isinstance(code, int) and code else ToolOutcome.OK
    head = text[:_MAX_HEAD].partition("\nOutput:")[0]
    if exit_code := _EXIT_CODE.search(head):
        return ToolOutcome.FAILED if int(exit_code[1]) else ToolOutcome.OK
    if script := _SCRIPT.match(head):
        return {"completed": ToolOutcome.OK, "failed": ToolOutcome.FAILED}.get(script[1], ToolOutcome.UNKNOWN)
    if _STILL_RUNS.search(head):
        return ToolOutcome.UNKNOWN
    if _ABORTED.search(head):
        return ToolOutcome.INTERRUPTED
    if _REJECTION.match(head):
        return ToolOutcome.REJECTED
    return ToolOutcome.FAILED if _FAILURE.match(head) else ToolOutcome.OK


def nested_calls(code: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the tools that a program calls, each with its arguments that are plain strings."""
    calls: list[tuple[str, dict[str, str]]] = []
    key = ""
    for token in _PROGRAM_TOKEN.finditer(code[:MAX_CODE]):
        text = token["double"] or token["single"] or token["template"] or ""
        if token["tool"]:
            calls.append((token["tool"], {}))
            key = ""
        elif token["key"]:
            key = token["key"]
        elif token["colon"]:
            key = unescaped(text)
        elif calls and key and token[0][0] in "\"'`":
            calls[-1][1].setdefault(key, unescaped(text))
            key = ""
    yield from calls[:_MAX_NESTED]


__all__ = ["INFO", "CodexParser", "is_transcript", "parser", "tool_events"]

INFO = AgentInfo(
    name="codex",
    title="Codex",
    home=".codex",
    home_variables=("CODEX_HOME",),
    stores=("sessions", "archived_sessions"),
    project_skills=(".agents/skills", ".codex/skills"),
    user_skills=(".agents/skills",),
    templates=("../../../../prompts", "../prompts"),
    wrappers=(
        "Context from my IDE setup",
        "Files mentioned by the user",
        "Diff comments",
        "AGENTS.md",
        "environment_context",
        "hook_prompt",
        "user_shell_command",
        "skill",
        "prompt file",
        "option label",
        "tool result",
    ),
    instructions=("AGENTS.md", "AGENTS.override.md"),
    verified="0.169.0 on 2026-11-20, 0.171.0 on 2026-11-30",
)

_MAX_SKILLS = 32
# Kinds of records that may come between a prompt and its mirror.
_BETWEEN_MIRRORS = frozenset({"event.user_message", "item.UserMessage", "turn_context"})


def is_transcript(path: PurePath) -> bool:
    """Whether this is a rollout. A sub-agent's has such a name too; only its first line shows that it is one."""
    return path.name.startswith("rollout-") and path.name.endswith(".jsonl")


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> CodexParser:
    """Return a parser for one rollout, fresh or resumed with the state of a checkpoint."""
    return CodexParser(path, state or {})


class CodexParser:
    """Reads one rollout, line by line."""

    def __init__(self, path: PurePath, state: Mapping[str, Any], agent: str = "codex") -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start. `agent` wrote the rollout."""
        self._session = Session.from_state(mapping(state.get("session")), path)
        self._prompts = PromptReader(self._session, mapping(state.get("speech")), agent)
        self._replies = MirrorCounter(state.get("replies"))
        self._skills = dict.fromkeys(map(short, items(state.get("skills"))[-_MAX_SKILLS:]))
        self._handlers: dict[str, Callable[[Record], list[Event] | None]] = {
            "session_meta": self._session.on_meta,
            "turn_context": self._session.on_context,
            "retained_context": self._prompts.on_retained,
            "event.task_started": self._on_start,
            "event.task_complete": self._session.on_turn_end,
            "event.turn_aborted": self._session.on_turn_end,
            "event.shutdown_complete": self._on_shutdown,
            "event.user_message": self._prompts.on_event,
            "event.agent_message": self._on_agent_message,
            "event.entered_review_mode": self._prompts.on_review,
            "event.exited_review_mode": self._session.on_review_end,
            "event.exec_command_end": self._on_execution,
            "item.UserMessage": self._on_user_item,
            "item.AgentMessage": self._on_agent_item,
            "item.CommandExecution": self._on_execution,
            "item.EnteredReviewMode": self._prompts.on_review,
            "item.ExitedReviewMode": self._session.on_review_end,
            "response.message": self._on_message,
            "response.function_call": self._on_call,
            "response.custom_tool_call": self._on_call,
            "response.local_shell_call": self._on_call,
            "response.function_call_output": self._prompts.on_output,
        }

    def set_templates(self, templates: TemplateLookup) -> None:
        """Set the lookup for the person's own prompt files."""
        self._prompts.templates = templates

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one line; a line that is not a record gives Malformed."""
        record = read_record(line)
        if record is None:
            return [Malformed(Span(line.start, line.end))] if line.data.strip() else []
        handle = self._handlers.get(record.kind)
        if handle is None:
            return []
        held = [] if record.kind in _BETWEEN_MIRRORS else self._prompts.release_pending()
        return held + (handle(record) or [])

    def flush(self) -> list[Event]:
        """Return a prompt whose mirror was never written."""
        return self._prompts.release_pending()

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, no later than a prompt that waits for its mirror, and the state."""
        state = {
            "session": self._session.state(),
            "speech": self._prompts.state(),
            "replies": self._replies.state(),
            "skills": list(self._skills),
        }
        return self._prompts.pending_start(end), state

    def _on_start(self, record: Record) -> None:
        self._session.on_turn_start(record)
        self._prompts.on_turn()
        self._replies.clear()

    def _on_shutdown(self, record: Record) -> list[Event]:
        return [SessionEnd(self._session.thread, record.span)]

    def _on_user_item(self, record: Record) -> list[Event]:
        events = self._prompts.on_item(record)
        return events + self._new_uses(record, mention_uses(record.body))

    def _on_message(self, record: Record) -> list[Event]:
        role, content = record.body.get("role"), record.body.get("content")
        texts = [string(content)] if isinstance(content, str) else [string(p.get("text")) for p in objects(content)]
        if role == "assistant":
            return self._reply(record, "response", "".join(texts))
        if role != "user":
            return []
        ignored = self._prompts.on_response(record, texts)
        # A block that a person pasted is not a skill use: it is held as a prompt, not ignored.
        blocks = (block_use(text) for text in texts if ignored)
        return ignored + self._new_uses(record, (use for use in blocks if use is not None))

    def _on_agent_message(self, record: Record) -> list[Event]:
        return self._reply(record, "event", string(record.body.get("message")))

    def _on_agent_item(self, record: Record) -> list[Event]:
        self._prompts.questions.add_options(objects(record.body.get("questions")))
        texts = (string(part.get("text")) for part in objects(record.body.get("content")))
        return self._reply(record, "item", "".join(texts))

    def _reply(self, record: Record, carrier: str, text: str) -> list[Event]:
        if self._session.is_silent or not text.strip():
            return []
        self._session.answered = True
        is_new = self._replies.is_new(hash_name(text), carrier)
        return [Reply(self._session.thread, text, record.at, record.span)] if is_new else []

    def _on_call(self, record: Record) -> list[Event]:
        self._prompts.questions.on_call(record.body)
        return self._new_uses(record, call_uses(record.body, self._session.cwd or None))

    def _on_execution(self, record: Record) -> list[Event]:
        return self._new_uses(record, execution_uses(record.body, self._session.cwd or None))

    def _new_uses(self, record: Record, uses: Iterable[Use]) -> list[Event]:
        """Return each use once per prompt: a call has a mirror, and a mention also adds the block."""
        session = self._session
        events: list[Event] = []
        for name, path in () if session.is_silent else uses:
            mark = hash_name(str(session.order), path or name)
            if mark not in self._skills:
                remember(self._skills, mark, None, _MAX_SKILLS)
                events.append(SkillUse(session.thread, name, path, record.at, record.span, session.cwd or None))
        return events
