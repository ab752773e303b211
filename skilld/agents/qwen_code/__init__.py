"""The adapter for Qwen Code: one JSONL file per session, in the project's folder.

Lines of a session in, events out. Seen: 0.15.10 and 0.24.4. The first request after a prompt shows who sent it: its
telemetry names the prompt by session and number if there was a terminal, and by a random word otherwise. Newer
versions, whose records have a `provenance`, number every prompt, but take a snapshot of the files only with a terminal
(if the option for snapshots is off, nothing counts as typed). A slash command is a separate record, its expansion the
user record right after it. 0.15.10 does not record words typed while a tool ran.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, Folder, RecordParser, hash_name, mapping, objects, short, string, utc
from skilld.agents.gemini_cli import STATUS, tool_outcome, typed_text, whole_text
from skilld.agents.questions import OpenQuestion, OpenQuestions, Question, ToolOutput
from skilld.agents.skill_reads import PendingCalls, uses_of_call
from skilld.agents.tools import bounded
from skilld.agents.typed_history import COMMAND
from skilld.agents.wrappers import option_labels
from skilld.clock import parse_time
from skilld.text import fold
from skilld.types import Event, How, Ignored, Reply, SkillUse, Span, ToolCall, ToolEvent, ToolOutcome, ToolResult, Turn
from skilld.values import value_class

# Which skills' instructions entered a conversation: the `skill` tool, whose result starts with the folder, or a call
# that reads a SKILL.md.

_BASE_FOLDER = re.compile(r"\s*Base directory for this skill: ([^\n]+)\n")


def skill_path(text: str) -> str | None:
    """Return the path of the skill whose instructions a text contains, from the folder at its start."""
    base = _BASE_FOLDER.match(text)
    return f"{base[1].strip().rstrip('/')}/SKILL.md" if base else None


INFO = AgentInfo(
    name="qwen-code",
    title="Qwen Code",
    home=".qwen",
    home_variables=("QWEN_RUNTIME_DIR", "QWEN_HOME"),
    stores=("projects",),
    project_skills=(".qwen/skills", ".agents/skills"),
    user_skills=(".agents/skills",),
    skill_homes=(),
    skill_folders=(Folder(".qwen/skills", (("QWEN_HOME", "skills"),)),),
    wrappers=("files", "command", "hook", "notification", "option label", "tool result"),
    instructions=("QWEN.md", "AGENTS.md"),
    verified="0.15.10 on 2026-11-20, 0.24.4 on 2026-11-30",
)

_TYPED_SUBTYPES = frozenset(("", "mid_turn_user_message"))  # others are of notifications, schedules, goals
_EXPANSION_SECONDS = 1.0  # between the end of a slash command and its expansion: 0.01 measured


@value_class
class _Command:
    """A typed slash command, the time of its last record, and the span of its first one."""

    raw: str
    at: float | None
    span: Span


def is_transcript(path: PurePath) -> bool:
    """Whether this is a session's file, by its folder."""
    return path.parent.name == "chats" and path.suffix == ".jsonl"


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> QwenParser:
    """Return a parser for one session, fresh or resumed with the state of a checkpoint."""
    return QwenParser(path, state or {})


def tool_events(record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
    """Yield the tool events of one record: the model's calls, or a result."""
    at = utc(record.get("timestamp"))
    for part in _parts(record):
        call, response = mapping(part.get("functionCall")), mapping(part.get("functionResponse"))
        if call:
            yield ToolCall(
                session_id, short(call.get("id")), short(call.get("name")), bounded(call.get("args")), at, span
            )
        if response:
            given = mapping(response.get("response"))
            status = STATUS.get(string(mapping(record.get("toolCallResult")).get("status")))
            status = status or (ToolOutcome.FAILED if "error" in given else ToolOutcome.OK)
            outcome = tool_outcome(status, short(response.get("name")), [given])
            yield ToolResult(session_id, short(response.get("id")), outcome, at, span)


# Answers to the agent's questions, each after the title of its question. Seen: 0.15.10.

_TITLE = re.compile(r"(?:\A|\n)\*\*([^\n]+?)\*\*: ")
_TITLE_MARK = "**: "
_ANSWERS = "User has provided the following answers:\n\n"


def _answers(result: ToolOutput, waiting: OpenQuestion) -> Iterator[str]:
    """Yield the answers; none if they cannot be separated."""
    text = result.text.removeprefix(_ANSWERS)
    titles = [title for title in _TITLE.finditer(text) if waiting.asks(fold(title[1]))]
    if not titles or text == result.text or len({fold(title[1]) for title in titles}) < len(titles):
        return
    ends = [*(title.start() for title in titles[1:]), len(text)]
    for title, end in zip(titles, ends, strict=True):
        yield text[title.end() : end]


def _titles(asked: Mapping[str, Any]) -> list[str]:
    return [fold(string(question.get("header"))) for question in objects(asked.get("questions"))]


_QUESTIONS = {"one": Question(_answers, titles=_titles, several=False), "several": Question(_answers, titles=_titles)}


class QwenParser(RecordParser[Event]):
    """Reads one session, line by line."""

    def __init__(self, path: PurePath, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        self._session = short(state.get("session")) or path.stem
        self._cwd = string(state.get("cwd")) or None
        self._terminal = short(state.get("terminal"))  # the newest prompt that a snapshot shows was typed in one
        self._calls = PendingCalls(state.get("calls"))
        self._questions = OpenQuestions(state.get("questions"))
        self._command: _Command | None = None
        self._open: list[Turn | SkillUse | Ignored] = []  # prompts that wait for the request that shows who sent them
        self._handlers: dict[str, Callable[[Mapping[str, Any], Span], list[Event]]] = {
            "user": self._on_user,
            "assistant": self._on_assistant,
            "tool_result": self._on_result,
            "system": self._on_system,
        }

    def _read(self, record: Mapping[str, Any], span: Span) -> list[Event]:
        self._session = short(record.get("sessionId")) or self._session
        self._cwd = string(record.get("cwd")) or self._cwd
        handle = self._handlers.get(string(record.get("type")))
        return handle(record, span) if handle else []

    def flush(self) -> list[Event]:
        """Ignore prompts without a request: nothing shows who sent them."""
        self._command = None
        return self._resolve_open(typed=False)

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, no later than a prompt that waits, and the state."""
        waiting = [self._command.span] if self._command else []
        waiting += [event.span for event in self._open]
        offset = min((span.start for span in waiting), default=end)
        return offset, {"session": self._session, "cwd": self._cwd, "calls": self._calls.state()} | {
            "questions": self._questions.state(),
            "terminal": self._terminal,
        }

    def _on_user(self, record: Mapping[str, Any], span: Span) -> list[Event]:
        written = typed_text(_parts(record))
        shown = mapping(record.get("systemPayload")).get("displayText")  # before a hook added to it
        text = string(shown) if isinstance(shown, str) else written
        if not text.strip() and self._command is not None:
            text = whole_text(_parts(record))  # a template that only names a file
        if not text.strip():
            return self._on_result(record, span)  # up to 0.1x tool results were user records
        if record.get("provenance", "real_user") != "real_user" or string(record.get("subtype")) not in _TYPED_SUBTYPES:
            return [Ignored("injected", span)]
        command, self._command = self._command, None
        at = utc(record.get("timestamp"))
        turn = Turn(_key(record, text), INFO.name, self._session, text, at, How.TYPED, span, self._cwd)
        if command is not None and _is_expansion(command, turn):
            words = COMMAND.fullmatch(command.raw)
            arguments = (words[1] or "").strip() if words else ""
            if path := skill_path(written):
                self._open.append(SkillUse(self._session, path.rsplit("/", 2)[-2], path, at, span, self._cwd))
            turn = Turn(turn.key, INFO.name, self._session, arguments, at, How.COMMAND, command.span, self._cwd)
        elif not written.strip():
            return [Ignored("empty", span)]
        self._open.append(turn if turn.text else Ignored("bare-command", turn.span))
        return []

    def _on_system(self, record: Mapping[str, Any], span: Span) -> list[Event]:
        body = mapping(record.get("systemPayload"))
        if record.get("subtype") == "slash_command":
            self._on_command(body, parse_time(utc(record.get("timestamp"))), span)
        if record.get("subtype") == "file_history_snapshot":
            return self._on_snapshot(body)
        event = mapping(body.get("uiEvent"))
        prompt = string(event.get("prompt_id"))
        if record.get("subtype") != "ui_telemetry" or not prompt or event.get("subagent_name"):
            return []
        numbered = self._is_numbered(prompt)
        if "provenance" not in record:
            return self._resolve_open(typed=numbered)
        if not numbered:  # a request of the client's own
            return []
        return self._resolve_open(typed=prompt == self._terminal)

    def _on_command(self, body: Mapping[str, Any], at: float | None, span: Span) -> None:
        """Wait for a command's expansion from its end on: a template that runs programs takes time."""
        raw = string(body.get("rawCommand")).strip()
        if body.get("phase") == "invocation":
            self._command = _Command(raw, at, span)
        elif self._command is not None and self._command.raw == raw:
            self._command = replace(self._command, at=at)

    def _on_snapshot(self, body: Mapping[str, Any]) -> list[Event]:
        """Treat the prompt before a snapshot as typed; several snapshots at once are those of a resumed session."""
        taken = objects(body.get("snapshots"))
        prompt = short(taken[-1].get("promptId")) if taken else ""
        if len(taken) != 1 or not self._is_numbered(prompt):
            return []
        self._terminal = prompt
        return self._resolve_open(typed=True)

    def _is_numbered(self, prompt: str) -> bool:
        return re.fullmatch(re.escape(self._session) + r"#{8}\d+", prompt) is not None

    def _resolve_open(self, *, typed: bool) -> list[Event]:
        decided, self._open = self._open, []
        if typed:
            return [*decided]
        left = [event for event in decided if not isinstance(event, SkillUse)]
        return [event if isinstance(event, Ignored) else Ignored("headless", event.span) for event in left]

    def _on_assistant(self, record: Mapping[str, Any], span: Span) -> list[Event]:
        for call in (mapping(part.get("functionCall")) for part in _parts(record)):
            name, arguments = string(call.get("name")), mapping(call.get("args"))
            skill = short(arguments.get("skill")) or short(arguments.get("name"))
            uses = [(skill, None)] if name == "skill" and skill else uses_of_call(name, arguments, self._cwd)
            self._calls.add(short(call.get("id")), list(uses))
            self._note_question(call)
        text = whole_text(_parts(record))
        return [Reply(self._session, text, utc(record.get("timestamp")), span)] if text.strip() else []

    def _note_question(self, call: Mapping[str, Any]) -> None:
        """Record a call that asks the person, unless one of its labels could pass for the title of an answer."""
        asked = mapping(call.get("args"))
        questions = objects(asked.get("questions"))
        if call.get("name") == "ask_user_question" and not any(_TITLE_MARK in one for one in option_labels(questions)):
            kind = "several" if any(question.get("multiSelect") is True for question in questions) else "one"
            self._questions.add(short(call.get("id")), kind, _QUESTIONS[kind], asked)

    def _on_result(self, record: Mapping[str, Any], span: Span) -> list[Event]:
        failed = string(mapping(record.get("toolCallResult")).get("status")) not in {"", "success"}
        at = utc(record.get("timestamp"))
        events: list[Event] = []
        for response in (mapping(part.get("functionResponse")) for part in _parts(record)):
            call, given = short(response.get("id")), mapping(response.get("response"))
            output = string(given.get("output"))
            for name, known in self._calls.pop(call, well=not failed and "error" not in given):
                # A `skill` call without a folder in its result has loaded nothing.
                if path := known or skill_path(output):
                    events.append(SkillUse(self._session, name, path, at, span, self._cwd))
            for number, words in self._questions.answers(call, ToolOutput(output, response), _QUESTIONS):
                key = f"{INFO.name}:{call}.{number}"  # asked in a terminal only
                turn = Turn(key, INFO.name, self._session, words, at, How.ANSWER, span, self._cwd)
                events.append(turn if words else Ignored("picked-answer", span))
        return events


def _is_expansion(command: _Command, turn: Turn) -> bool:
    """Whether a user record is what a slash command became, not the next prompt after one that asked no model."""
    at = parse_time(turn.at)
    is_prompt = command.at is not None and at is not None and at - command.at < _EXPANSION_SECONDS
    return is_prompt or turn.text.rstrip().endswith(command.raw)


def _parts(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return objects(mapping(record.get("message")).get("parts"))


def _key(record: Mapping[str, Any], text: str) -> str:
    native = short(record.get("uuid")) or hash_name(record.get("sessionId"), record.get("timestamp"), text)
    return f"{INFO.name}:{native}"
