"""What an adapter reads out of a transcript: lines and their places, and the events of a session.

Tool events are not among `Event`: only readers of whole transcripts ask for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class RawLine:
    """One complete line of a transcript: its bytes without the newline, and where it stands in the file.

    `end` is the offset just behind the newline, so consecutive lines meet: a.end == b.start.
    """

    start: int
    end: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes [start, end) of one transcript file."""

    start: int
    end: int


class How(StrEnum):
    """How a person said it. Each value is a carrier that the format pages of the agents describe."""

    TYPED = "typed"
    QUEUED = "queued"  # typed while the agent was busy, delivered later or in mid-turn
    COMMAND = "command"  # the typed arguments of a slash command or skill
    REJECTION = "rejection"  # the note typed when refusing a tool call
    APPROVAL = "approval"  # the comment typed when allowing one
    ANSWER = "answer"  # a free answer to the agent's question, not a picked one


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing a person said in a main-thread interactive session.

    `key` is the same in every copy of the turn (forked or resumed files), so that it counts once: agent name, colon,
    native message id. `text` is exactly what was typed. `at` is RFC 3339 in UTC, or None where the log has no time.
    `span` holds the record that carries the text.
    """

    key: str
    agent: str
    session_id: str
    text: str
    at: str | None
    how: How
    span: Span
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """Text the agent wrote to the person (no reasoning, no tool input, no tool output): context, never evidence."""

    session_id: str
    text: str
    at: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class SkillUse:
    """A skill's instructions entered the conversation. Never made from a mere listing of available skills.

    `path` is the SKILL.md as the log names it (unchecked: a claim), or None where the log has only the name.
    """

    session_id: str
    name: str
    path: str | None
    at: str | None
    span: Span
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The log says that the session is over (many logs never say so; idleness decides then)."""

    session_id: str
    span: Span


@dataclass(frozen=True, slots=True)
class Ignored:
    """A record that looks like human words and is not; `reason` is a short stable word, counted by `inspect`."""

    reason: str
    span: Span


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that could not be read as a record. Counted, never fatal."""

    span: Span


class ToolOutcome(StrEnum):
    """How a tool call came out, as far as its log tells."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"  # the person or one of their rules did not allow it
    INTERRUPTED = "interrupted"  # it was stopped before it came to its end
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The agent called a tool. Never a turn and never evidence; `input` is cut to a bounded size.

    `call_id` is the log's own; where it has none it is "", or made of the record's place. A record that is written
    again repeats the call under its id.
    """

    session_id: str
    call_id: str
    name: str
    input: Mapping[str, Any]
    at: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class ToolResult:
    """How the call `call_id` came out. A mirror may tell it again: what is not OK then holds."""

    session_id: str
    call_id: str
    outcome: ToolOutcome
    at: str | None
    span: Span


Event = Turn | Reply | SkillUse | SessionEnd | Ignored | Malformed
ToolEvent = ToolCall | ToolResult
