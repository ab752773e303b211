"""The adapter for Gemini CLI: one JSONL file per session; up to about 0.38, one JSON document rewritten each time.

Lines of a session in, events out. Seen: 0.61.0. A message is written again when it grows; after an interrupted tool
call, the whole history is, with new ids. Nothing distinguishes `-p` from a typed prompt, so each is a claim that the
client's log of submitted prompts must prove, once; every interactive run creates that log (0.20.0, 0.61.0), so a folder
without it has no turns. `displayContent` is what was typed if `content` has more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import PurePath
from typing import Any

from skilld.agents.base import (
    AgentInfo,
    RecordParser,
    hash_name,
    items,
    mapping,
    objects,
    read_object,
    remember,
    short,
    string,
    utc,
)
from skilld.agents.gatherers import Document
from skilld.agents.skill_reads import uses_of_call
from skilld.agents.tools import bounded, outcome_of_shell
from skilld.agents.typed_history import Claim, Entry, ProvingParser
from skilld.agents.wrappers import Wrappers, option_labels, possible_picks, typed_answer
from skilld.clock import parse_time
from skilld.text import read_json
from skilld.types import (
    Event,
    How,
    Ignored,
    Reply,
    SkillUse,
    Span,
    ToolCall,
    ToolEvent,
    ToolOutcome,
    ToolResult,
    Turn,
)

# What was typed in a prompt to Gemini CLI or Qwen Code: the clients append the files named by an `@path`, as separate
# parts (Gemini CLI 0.61.0, Qwen Code 0.15.10) or, in older files, at the end between two marks. They always follow the
# prompt, so the first opening mark is the client's, or comes before it.

_FILES = "\n--- Content from referenced files ---"
WRAPPERS = Wrappers(opens=_FILES, closes="--- End of content ---", before=False)


def typed_text(content: object) -> str:
    """Return what was typed in a message's content: a string, a part, or a list of parts; thoughts are left out."""
    if isinstance(content, str):
        return WRAPPERS.typed_text(string(content))
    return "".join(takewhile(lambda text: not text.startswith(_FILES), map(_text, _parts(content))))


def whole_text(content: object) -> str:
    """Return all of a message's text."""
    return string(content) if isinstance(content, str) else "".join(map(_text, _parts(content)))


def _parts(content: object) -> list[Mapping[str, Any]]:
    return objects([content] if isinstance(content, dict) else content)


def _text(part: Mapping[str, Any]) -> str:
    return "" if part.get("thought") else string(part.get("text"))


# Answers to the agent's questions, `ask_user`: question and answer are in one record. Seen: 0.61.0.

_BUILT_IN_OPTIONS = ("Yes", "No")


def _find_answers(call: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the number of each answer in an entry of `toolCalls`, and what of it was typed: "" if it was picked.

    Yields nothing for another tool or a call that failed.
    """
    if call.get("name") != "ask_user" or call.get("status") != "success":
        return
    questions = objects(mapping(call.get("args")).get("questions"))
    for part in objects(call.get("result")):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        answers = mapping((read_object(string(response.get("output"))) or {}).get("answers"))
        picks = possible_picks([*_BUILT_IN_OPTIONS, *option_labels(questions)])
        for number, question in enumerate(questions):
            text = string(answers.get(str(number)))
            if text.strip():
                yield str(number), typed_answer(text, picks, several=question.get("multiSelect") is True)


def read_log(data: bytes) -> Sequence[Entry] | None:
    """Return what was submitted in the terminal, in all sessions of a project; None if logs.json is half written.

    Seen: 0.61.0; it is rewritten at every prompt, before the model is asked.
    """
    log = read_json(data or b"[]")
    if log is None:
        return None
    return [
        Entry(string(line.get("message")), short(line.get("sessionId")), parse_time(utc(line.get("timestamp"))))
        for line in objects(log)
        if line.get("type") == "user"
    ]


# Which skills' instructions entered a conversation: `activate_skill`, or a call that reads a SKILL.md. The skill's
# folder is in the text shown to the person and in the list that the model gets.

_RESOURCE_FOLDER = re.compile(r"Resources loaded from `([^`\n]+)`")
_LISTED_FOLDER = re.compile(r"\n\n(/[^\n]+)")


def find_uses(message: Mapping[str, Any], cwd: str | None) -> Iterator[tuple[str, str, str | None]]:
    """Yield the call's id, the skill's name and its SKILL.md for each successful call in a message."""
    for call in objects(message.get("toolCalls")):
        if call.get("status") != "success":
            continue
        number, tool, arguments = short(call.get("id")), string(call.get("name")), mapping(call.get("args"))
        if tool == "activate_skill" and short(arguments.get("name")):
            yield number, short(arguments.get("name")), _folder(call)
        else:
            for name, path in uses_of_call(tool, arguments, cwd):
                yield number, name, path


def _folder(call: Mapping[str, Any]) -> str | None:
    outputs = (mapping(mapping(part.get("functionResponse")).get("response")) for part in objects(call.get("result")))
    shown = _RESOURCE_FOLDER.search(string(call.get("resultDisplay")))
    listings = (string(output.get("output")).partition("<available_resources>")[2] for output in outputs)
    listed = next(filter(None, map(_LISTED_FOLDER.search, listings)), None)
    folder = shown or listed
    return f"{folder[1].rstrip('/')}/SKILL.md" if folder else None


INFO = AgentInfo(
    name="gemini-cli",
    title="Gemini CLI",
    home=".gemini",
    home_parents=(("GEMINI_CLI_HOME", ".gemini"),),
    stores=("tmp",),
    suffixes=(".jsonl", ".json"),
    gather=Document("messages", ("sessionId", "kind")),
    gathered=".json",
    typed_list=("../logs.json",),
    project_skills=(".gemini/skills", ".agents/skills"),
    user_skills=(".agents/skills",),
    wrappers=("files", "session_context", "headless prompt", "command", "option label", "tool result"),
    instructions=("GEMINI.md",),
    verified="0.61.0 on 2026-11-30",
)

_NAME = re.compile(r"session-.+\.jsonl?")
_FOLDER = re.compile(r"Workspace Directories:\*\*\n\s*- ([^\n]+)")
_STEERING = re.compile(r"User steering update:\n<user_input>\n(.*)\n</user_input>\nInternal instruction: .*", re.DOTALL)
_MAX_SEEN = 32
_SHELL = "run_shell_command"


def is_transcript(path: PurePath) -> bool:
    """Whether this is a main session's file: those of sub-agents are one folder deeper."""
    return path.parent.name == "chats" and _NAME.fullmatch(path.name) is not None


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> ProvingParser:
    """Return a parser for one session, fresh or resumed with the state of a checkpoint."""
    known = state or {}
    return ProvingParser(GeminiParser(path, known), read_log, known)


STATUS = {"success": ToolOutcome.OK, "error": ToolOutcome.FAILED, "cancelled": ToolOutcome.INTERRUPTED}


def tool_events(record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
    """Yield the tool events of one message: it has calls with their results."""
    for call in objects(record.get("toolCalls")) if record.get("type") == "gemini" else []:
        call_id, name, at = short(call.get("id")), short(call.get("name")), utc(call.get("timestamp"))
        at = at or utc(record.get("timestamp"))
        yield ToolCall(session_id, call_id, name, bounded(call.get("args")), at, span)
        results = (mapping(part.get("functionResponse")) for part in objects(call.get("result")))
        responses = [mapping(result.get("response")) for result in results]
        outcome = tool_outcome(STATUS.get(string(call.get("status"))), name, responses)
        if outcome is not ToolOutcome.UNKNOWN:
            yield ToolResult(session_id, call_id, outcome, at, span)


def tool_outcome(status: ToolOutcome | None, name: str, responses: Sequence[Mapping[str, Any]]) -> ToolOutcome:
    """Return the outcome of a call from its status and what the model got; Qwen Code writes the same."""
    if status is ToolOutcome.INTERRUPTED and any("did not allow" in string(each.get("error")) for each in responses):
        return ToolOutcome.REJECTED
    if status is ToolOutcome.OK and name == _SHELL:
        return outcome_of_shell("\n".join(string(each.get("output")) for each in responses))
    return status or ToolOutcome.UNKNOWN


class GeminiParser(RecordParser[Event | Claim]):
    """Reads one session, line by line."""

    def __init__(self, path: PurePath, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        self._session = short(state.get("session")) or path.stem
        self._cwd = string(state.get("cwd")) or None
        self._subagent = state.get("subagent") is True
        self._seen = dict.fromkeys(map(short, items(state.get("seen"))[-_MAX_SEEN:]))

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, and the state."""
        state = {"session": self._session, "cwd": self._cwd, "subagent": self._subagent, "seen": list(self._seen)}
        return end, state

    def _read(self, record: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        record = mapping(record.get("head")) or record
        change = mapping(record.get("$set"))
        if "sessionId" in record:
            self._session = short(record.get("sessionId")) or self._session
            self._subagent = record.get("kind") == "subagent"
        folders = record.get("directories") or change.get("directories")
        if isinstance(folders, list) and folders:
            self._cwd = string(folders[0]) or self._cwd
        for message in objects(change.get("messages"))[:1]:
            place = _FOLDER.search(whole_text(message.get("content")))
            self._cwd = place[1].strip() if place else self._cwd
        if record.get("type") == "user":
            return self._on_user(record, span)
        return self._on_model(record, span) if record.get("type") == "gemini" else []

    def _on_user(self, record: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        text = typed_text(record.get("displayContent")) or typed_text(record.get("content"))
        if not text.strip():
            return []  # a tool's result
        if self._subagent:
            return [Ignored("subagent", span)]
        if text.lstrip().startswith("<session_context>"):
            return [Ignored("injected", span)]
        native = short(record.get("id")) or hash_name(self._session, record.get("timestamp"), text)
        if not self._is_new(native):
            return []
        steering = _STEERING.fullmatch(text.strip())
        at, how = utc(record.get("timestamp")), How.QUEUED if steering else How.TYPED
        words = steering[1] if steering else text
        turn = Turn(f"{INFO.name}:{native}", INFO.name, self._session, words, at, how, span, self._cwd)
        return [Claim(turn, listed=not steering)]

    def _on_model(self, record: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        at = utc(record.get("timestamp"))
        events: list[Event | Claim] = []
        for call, name, path in find_uses(record, self._cwd):
            if not self._subagent and self._is_new(f"{call}.{name}"):
                events.append(SkillUse(self._session, name, path, at, span, self._cwd))
        if not self._subagent:
            events += self._answers(record, at, span)
        content = record.get("content")  # a list if the history was rewritten
        text = string(content)
        if text.strip() and not self._subagent and self._is_new(f"{short(record.get('id'))}.said"):
            events.append(Reply(self._session, text, at, span))
        return events

    def _answers(self, record: Mapping[str, Any], at: str | None, span: Span) -> Iterator[Event]:
        """Yield the answers to the agent's questions: they are asked only in a terminal, and logged nowhere else."""
        for call in objects(record.get("toolCalls")):
            for number, words in _find_answers(call):
                native = f"{short(call.get('id'))}.{number}"
                if self._is_new(native):
                    key = f"{INFO.name}:{native}"
                    turn = Turn(key, INFO.name, self._session, words, at, How.ANSWER, span, self._cwd)
                    yield turn if words else Ignored("picked-answer", span)

    def _is_new(self, mark: str) -> bool:
        if mark in self._seen:
            return False
        remember(self._seen, mark, None, _MAX_SEEN)
        return True
