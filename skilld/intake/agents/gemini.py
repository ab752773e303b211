"""The adapter for Gemini CLI: one JSONL file per session; up to about 0.38 one JSON document, rewritten as a whole.

Lines of a session in, events out. Seen: 0.61.0. A message is written again when it grows; after an interrupted tool
call the whole history is, with new ids. Nothing tells `-p` from a typed prompt, so each is a claim that the client's
log of submitted prompts must prove, once. `displayContent` is what was typed where `content` has more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from skilld.intake.agents.base import AgentInfo
from skilld.intake.agents.fields import mapping, named_by, objects, read_object, short, string, utc
from skilld.intake.agents.gemini_answers import gemini_answers
from skilld.intake.agents.gemini_document import Document
from skilld.intake.agents.gemini_lists import read_log
from skilld.intake.agents.gemini_prompts import typed_text, whole_text
from skilld.intake.agents.gemini_skills import uses_in
from skilld.intake.agents.typed_list import Claim, Proving
from skilld.types import Event, How, Ignored, Malformed, RawLine, Reply, SkillUse, Span, Turn

INFO = AgentInfo(
    name="gemini-cli",
    title="Gemini CLI",
    home=".gemini",
    home_variables=(),
    home_parents=(("GEMINI_CLI_HOME", ".gemini"),),
    stores=("tmp",),
    suffixes=(".jsonl", ".json"),
    typed_list=("../logs.json",),
    project_skills=(".gemini/skills", ".agents/skills"),
    user_skills=(".agents/skills",),
    skill_homes=("skills",),
    wrappers=("files", "session_context", "headless prompt", "command", "option label", "tool result"),
    instructions=("GEMINI.md",),
    verified="0.61.0 on 2026-11-20",
    kept_as="lines, appended, messages again as they grow; older: one document, rewritten",
    typed_by="`user` messages that stand in `logs.json`, too",
    unattended="prompts missing from that log; `kind` of the session",
    skill_use="an `activate_skill` call that went well, or a call that reads a SKILL.md",
    own_runs="a `GEMINI_CLI_HOME` of their own",
)

_NAME = re.compile(r"session-.+\.jsonl?")
_FOLDER = re.compile(r"Workspace Directories:\*\*\n\s*- ([^\n]+)")
_STEERING = re.compile(r"User steering update:\n<user_input>\n(.*)\n</user_input>\nInternal instruction: .*", re.DOTALL)
_KEPT = 32


def is_transcript(path: PurePath) -> bool:
    """Whether this is a main session's file: those of sub-agents lie one folder deeper."""
    return path.parent.name == "chats" and _NAME.fullmatch(path.name) is not None


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> Proving:
    """Return a parser for one session, fresh or resumed with the state of a checkpoint."""
    known = state or {}
    return Proving(GeminiParser(path, known), read_log, known)


class GeminiParser:
    """Reads one session, line by line."""

    def __init__(self, path: PurePath, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        self._session = short(state.get("session")) or path.stem
        self._cwd = string(state.get("cwd")) or None
        self._subagent = state.get("subagent") is True
        seen = state.get("seen")
        self._seen = [short(mark) for mark in seen][-_KEPT:] if isinstance(seen, list) else []
        self._document = Document() if path.suffix == ".json" else None

    def feed(self, line: RawLine) -> list[Event | Claim]:
        """Return the events of one line; a line that is no record gives Malformed."""
        span = Span(line.start, line.end)
        if self._document is not None:
            return [event for record, place in self._document.feed(line) for event in self._read(record, place)]
        record = read_object(line.data)
        if record is None:
            return [Malformed(span)] if line.data.strip() else []
        return self._read(record, span)

    def flush(self) -> list[Event | Claim]:
        """Return nothing: no line waits for another."""
        return []

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, no later than a message of a document that is not whole, and the state."""
        offset = self._document.waits_from(end) if self._document is not None else end
        state = {"session": self._session, "cwd": self._cwd, "subagent": self._subagent, "seen": list(self._seen)}
        return offset, state

    def _read(self, record: Mapping[str, Any] | None, span: Span) -> list[Event | Claim]:
        if record is None:
            return [Malformed(span)]
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
        native = short(record.get("id")) or named_by(self._session, record.get("timestamp"), text)
        if not self._is_new(native):
            return []
        steering = _STEERING.fullmatch(text.strip())
        at, how = utc(record.get("timestamp")), How.QUEUED if steering else How.TYPED
        words = steering[1] if steering else text
        turn = Turn(f"{INFO.name}:{native}", INFO.name, self._session, words, at, how, span, self._cwd)
        return [turn if steering else Claim(turn)]  # only a terminal offers to steer, and it logs nothing

    def _on_model(self, record: Mapping[str, Any], span: Span) -> list[Event | Claim]:
        at = utc(record.get("timestamp"))
        events: list[Event | Claim] = []
        for call, name, path in uses_in(record, self._cwd):
            if not self._subagent and self._is_new(f"{call}.{name}"):
                events.append(SkillUse(self._session, name, path, at, span, self._cwd))
        if not self._subagent:
            events += self._answers(record, at, span)
        content = record.get("content")  # a list where history was written again
        text = string(content)
        if text.strip() and not self._subagent and self._is_new(f"{short(record.get('id'))}.said"):
            events.append(Reply(self._session, text, at, span))
        return events

    def _answers(self, record: Mapping[str, Any], at: str | None, span: Span) -> Iterator[Event]:
        """Yield the answers to the agent's questions: they are asked in a terminal only, and logged nowhere else."""
        for call in objects(record.get("toolCalls")):
            for answer in gemini_answers(call):
                native = f"{short(call.get('id'))}.{answer.name}"
                if self._is_new(native):
                    key = f"{INFO.name}:{native}"
                    turn = Turn(key, INFO.name, self._session, answer.text, at, How.ANSWER, span, self._cwd)
                    yield Ignored("picked-answer", span) if answer.picked else turn

    def _is_new(self, mark: str) -> bool:
        if mark in self._seen:
            return False
        self._seen = [*self._seen[1 - _KEPT :], mark]
        return True
