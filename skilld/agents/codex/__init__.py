"""The adapter for Codex (terminal, editor extension and desktop app: one store).

Lines of a rollout in, events out. Reads both generations in any file: the legacy one, where a prompt is an
event_msg/user_message, and the paginated one (about 0.145 on), where it is a completed UserMessage item; and the old
files that have neither. What a person said is found by codex_speech, who may be speaking by codex_session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, mapping, objects, short, string
from skilld.agents.codex.records import Record, Session, read_record
from skilld.agents.codex.skills import Use, block_use, call_uses, execution_uses, mention_uses
from skilld.agents.codex.tools import tool_events
from skilld.agents.codex.user_messages import Mirrors, Speech, digest
from skilld.agents.wrapped import Lookup
from skilld.types import Event, Malformed, RawLine, Reply, SessionEnd, SkillUse, Span

__all__ = ["INFO", "CodexParser", "is_transcript", "parser", "tool_events"]

INFO = AgentInfo(
    name="codex",
    title="Codex",
    home=".codex",
    home_variables=("CODEX_HOME",),
    stores=("sessions", "archived_sessions"),
    project_skills=(".agents/skills", ".codex/skills"),
    user_skills=(".agents/skills",),
    skill_homes=("skills",),
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
    verified="0.169.0 on 2026-11-20",
    typed_by="`user_message` events, or `UserMessage` items with a `client_id`",
    unattended="`source` of the session and the trigger of each turn",
    skill_use="the `<skill>` block, or a shell command that reads a SKILL.md",
    tool_calls="calls and what stands before their output; of calls within a program no outcome",
    own_runs="`--ephemeral`, which writes nothing",
)

_SKILLS_KEPT = 32
# Kinds of records that may stand between a prompt and its mirror.
_WITHIN_A_PROMPT = frozenset({"event.user_message", "item.UserMessage", "turn_context"})


def is_transcript(path: PurePath) -> bool:
    """Whether this is a rollout that may still grow. A sub-agent's has such a name, too: its first line tells."""
    return path.name.startswith("rollout-") and path.name.endswith(".jsonl")


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> CodexParser:
    """Return a parser for one rollout, fresh or resumed with the state of a checkpoint."""
    return CodexParser(path, state or {})


class CodexParser:
    """Reads one rollout, line by line."""

    def __init__(self, path: PurePath, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        self._session = Session.resumed(mapping(state.get("session")), path)
        self._speech = Speech(self._session, mapping(state.get("speech")))
        self._replies = Mirrors(state.get("replies"))
        skills = state.get("skills")
        self._skills = [short(skill) for skill in skills][-_SKILLS_KEPT:] if isinstance(skills, list) else []
        self._handlers: dict[str, Callable[[Record], list[Event]]] = {
            "session_meta": self._on_meta,
            "turn_context": self._on_context,
            "retained_context": self._speech.on_retained,
            "event.task_started": self._on_start,
            "event.task_complete": self._on_end,
            "event.turn_aborted": self._on_end,
            "event.shutdown_complete": self._on_shutdown,
            "event.user_message": self._speech.on_event,
            "event.agent_message": self._on_agent_message,
            "event.entered_review_mode": self._speech.on_review,
            "event.exited_review_mode": self._on_review_end,
            "event.exec_command_end": self._on_execution,
            "item.UserMessage": self._on_user_item,
            "item.AgentMessage": self._on_agent_item,
            "item.CommandExecution": self._on_execution,
            "item.EnteredReviewMode": self._speech.on_review,
            "item.ExitedReviewMode": self._on_review_end,
            "response.message": self._on_message,
            "response.function_call": self._on_call,
            "response.custom_tool_call": self._on_call,
            "response.local_shell_call": self._on_call,
            "response.function_call_output": self._speech.on_output,
        }

    def know(self, templates: Lookup) -> None:
        """Take in where to look the person's own prompts up."""
        self._speech.templates = templates

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one line; a line that is no record gives Malformed."""
        record = read_record(line)
        if record is None:
            return [Malformed(Span(line.start, line.end))] if line.data.strip() else []
        handle = self._handlers.get(record.kind)
        if handle is None:
            return []
        held = [] if record.kind in _WITHIN_A_PROMPT else self._speech.give_up()
        return held + handle(record)

    def flush(self) -> list[Event]:
        """Take a prompt whose mirror was never written for what it is."""
        return self._speech.give_up()

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, no later than a prompt that waits for its mirror, and the state."""
        state = {
            "session": self._session.state(),
            "speech": self._speech.state(),
            "replies": self._replies.state(),
            "skills": list(self._skills),
        }
        return self._speech.waits_from(end), state

    def _on_meta(self, record: Record) -> list[Event]:
        self._session.on_meta(record.body)
        return []

    def _on_context(self, record: Record) -> list[Event]:
        self._session.on_context(record)
        return []

    def _on_start(self, record: Record) -> list[Event]:
        self._session.on_turn_start(record)
        self._speech.on_turn()
        self._replies.clear()
        return []

    def _on_end(self, record: Record) -> list[Event]:
        self._session.on_turn_end(aborted=record.kind == "event.turn_aborted")
        return []

    def _on_review_end(self, record: Record) -> list[Event]:
        del record
        self._session.review = False
        return []

    def _on_shutdown(self, record: Record) -> list[Event]:
        return [SessionEnd(self._session.thread, record.span)]

    def _on_user_item(self, record: Record) -> list[Event]:
        said = self._speech.on_item(record)
        return said + self._used(record, mention_uses(record.body))

    def _on_message(self, record: Record) -> list[Event]:
        role, content = record.body.get("role"), record.body.get("content")
        texts = [string(content)] if isinstance(content, str) else [string(p.get("text")) for p in objects(content)]
        if role == "assistant":
            return self._reply(record, "response", "".join(texts))
        if role != "user":
            return []
        ignored = self._speech.on_response(record, texts)
        # A block that a person pasted is no use: it is held as a prompt, not ignored.
        blocks = (block_use(text) for text in texts if ignored)
        return ignored + self._used(record, (use for use in blocks if use is not None))

    def _on_agent_message(self, record: Record) -> list[Event]:
        return self._reply(record, "event", string(record.body.get("message")))

    def _on_agent_item(self, record: Record) -> list[Event]:
        self._speech.questions.offer(objects(record.body.get("questions")))
        texts = (string(part.get("text")) for part in objects(record.body.get("content")))
        return self._reply(record, "item", "".join(texts))

    def _reply(self, record: Record, carrier: str, text: str) -> list[Event]:
        if self._session.is_silent or not text.strip():
            return []
        self._session.answered = True
        is_new = self._replies.is_new(digest(text), carrier)
        return [Reply(self._session.thread, text, record.at, record.span)] if is_new else []

    def _on_call(self, record: Record) -> list[Event]:
        self._speech.questions.ask(record.body)
        return self._used(record, call_uses(record.body, self._session.cwd or None))

    def _on_execution(self, record: Record) -> list[Event]:
        return self._used(record, execution_uses(record.body, self._session.cwd or None))

    def _used(self, record: Record, uses: Iterable[Use]) -> list[Event]:
        """Return each use once per prompt: a call has a mirror, and a mention brings the block."""
        session = self._session
        events: list[Event] = []
        for name, path in () if session.is_silent else uses:
            mark = digest(str(session.order), path or name)
            if mark not in self._skills:
                self._skills = [*self._skills[1 - _SKILLS_KEPT :], mark]
                events.append(SkillUse(session.thread, name, path, record.at, record.span, session.cwd or None))
        return events
