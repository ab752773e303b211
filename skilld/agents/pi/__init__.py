"""The adapter for Pi: one JSONL file per session, a tree of entries in which every branch counts.

Lines of a session in, events out. Seen: 0.73.1 and 1.6.0 (version 3, entries with ids), and files of late 2025 (no
ids). A typed `/skill:name arguments` is logged expanded, with the skill's absolute path; a prompt template has no mark,
only its file shows it. Whether someone was at the terminal is not recorded: see `Presence`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, hash_name, mapping, objects, short, string, utc
from skilld.agents.declared import ANY, DeclaredAdapter, DeclaredParser, Format, Record, RecordKind, Role
from skilld.agents.typed_history import Claim
from skilld.agents.wrappers import TemplateLookup, Wrappers, no_templates, typed_arguments
from skilld.clock import parse_time
from skilld.types import Event, How, Ignored, SkillUse, Span, ToolOutcome, Turn

# Whether someone was at the terminal of a Pi session. The log does not say so, but its times and some entries show it.
# A prompt less than a second after the client has started came from the command line, and is left out. It has started
# when it writes its model: up to a second after the header (1.6.0, on a busy machine). With `-p` the prompt comes at
# once (0.01 to 0.2 s later, with a terminal after 0.3 to 0.6 s), on a busy machine later; but each further one comes
# 0.001 s after the answer before it. Then all prompts are left out until an entry that only a terminal writes: a shell
# command of the person, another model or thinking level, a label, or a prompt typed while the agent was busy. What
# `-p --continue` adds looks typed. In the sessions that the extension pi-subagents starts and names, a program writes
# the prompts, seconds later. A fork has the name after what it copied.

_NO_TERMINAL_SECONDS = 0.15  # a first prompt this soon, or one this soon after an answer, came without a terminal
_MIN_TYPING_SECONDS = 1.0  # nobody types faster
_BUSY_SECONDS = 1.0  # between a prompt and its delivery: 0.015 at most if the agent is idle
_MAX_TIME_MS = 1 << 48
_TERMINAL_ENTRIES = frozenset({"model_change", "thinking_level_change", "label"})
_SUBAGENT_NAME = re.compile(r"subagent-[\w.-]{1,80}-[0-9a-f]{8}-\d{1,4}", re.ASCII)


class Presence:
    """Whether a person is there, as far as the entries show. Saved in checkpoints as plain JSON."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        begun = state.get("begun")
        self._begun = float(begun) if isinstance(begun, int | float) else None
        self._started = state.get("started") is True
        self._prompted = state.get("prompted") is True
        self._unattended = state.get("unattended") is True
        self._delegated = state.get("delegated") is True
        self._argued = state.get("argued") is True
        answered = state.get("answered")
        self._answered = float(answered) if isinstance(answered, int | float) else None

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return {
            "begun": self._begun,
            "started": self._started,
            "prompted": self._prompted,
            "unattended": self._unattended,
            "delegated": self._delegated,
            "argued": self._argued,
            "answered": self._answered,
        }

    def update(self, entry: Mapping[str, Any]) -> None:
        """Update from an entry, after all questions about it."""
        kind = string(entry.get("type"))
        role = string(mapping(entry.get("message")).get("role"))
        if kind == "session":
            self._begun, self._started = parse_time(utc(entry.get("timestamp"))), False
        elif kind == "model_change" and not self._started and not self._prompted:
            at = parse_time(utc(entry.get("timestamp")))
            self._begun = max(self._begun, at) if self._begun is not None and at is not None else self._begun
            self._started = True
        elif kind == "session_info":
            self._delegated = _SUBAGENT_NAME.fullmatch(string(entry.get("name"))) is not None
        elif role == "user":
            self._prompted = True
        elif role == "assistant":
            self._answered = parse_time(utc(entry.get("timestamp")))
        elif role == "bashExecution" or (kind in _TERMINAL_ENTRIES and self._prompted):
            self._unattended = False

    def ignored_reason(self, entry: Mapping[str, Any]) -> str | None:
        """Return why the prompt in this entry does not count, None if it is a person's."""
        if self._delegated:
            return "subagent"
        typed = _typed_at(entry)
        if not self._prompted and typed is not None and self._begun is not None:
            passed = typed - self._begun  # negative in a fork, whose header is newer than what it copies
            self._unattended = 0 <= passed < _NO_TERMINAL_SECONDS
            self._argued = 0 <= passed < _MIN_TYPING_SECONDS
            if self._argued:
                return "headless"
        elif self.was_busy(entry):
            self._unattended = False
        elif self._argued and typed is not None and self._answered is not None:
            self._unattended |= 0 <= typed - self._answered < _NO_TERMINAL_SECONDS
        return "headless" if self._unattended else None

    def was_busy(self, entry: Mapping[str, Any]) -> bool:
        """Whether a prompt had to wait until the agent took it."""
        typed, taken = _typed_at(entry), parse_time(utc(entry.get("timestamp")))
        return typed is not None and taken is not None and taken - typed > _BUSY_SECONDS


def _typed_at(entry: Mapping[str, Any]) -> float | None:
    moment = mapping(entry.get("message")).get("timestamp")
    return moment / 1000 if isinstance(moment, int) and 0 < moment < _MAX_TIME_MS else None


_NAME = re.compile(r"\d{4}-\d\d-\d\dT[\d-]+Z_[\w-]+\.jsonl", re.ASCII)
# badlogic/pi-mono: packages/coding-agent/src/core/agent-session.ts, parseSkillBlock; src/cli/file-processor.ts
_SKILL = re.compile(r'<skill name="([^"]+)" location="([^"]+)">\n')
_SKILL_BODY = Wrappers(opens=r'<skill name="[^"\n]+" location="', closes=r"\n</skill>", behind=False)
_ABORTED = frozenset({"Command aborted", "Operation aborted"})
_FILES = Wrappers(opens=r'<file name="', closes="</file>", behind=False)


def _outcome(entry: Record) -> ToolOutcome:
    message = mapping(entry.get("message"))
    if message.get("isError") is not True:
        return ToolOutcome.OK
    last = _text(message.get("content")).rstrip().rpartition("\n")[2]  # after a command's output
    return ToolOutcome.INTERRUPTED if last in _ABORTED else ToolOutcome.FAILED


_ASSISTANT = {"type": "message", "message.role": "assistant"}
FORMAT = Format(
    "pi",
    (
        RecordKind(Role.HEAD, {"type": "session"}),
        RecordKind(Role.PROMPT, {"type": "message", "message.role": "user"}),
        RecordKind(Role.REPLY, _ASSISTANT, text="message.content", more=True),
        RecordKind(
            Role.CALL, _ASSISTANT, "message.content", {"type": "toolCall"}, call="id", tool="name", input="arguments"
        ),
        RecordKind(
            Role.RESULT, {"type": "message", "message.role": "toolResult"},
            call="message.toolCallId", failed={"message.isError": "true"},
        ),
        RecordKind(Role.NOTHING, {"type": ANY}),
    ),
    session="id",
    cwd="cwd",
    name=lambda path: path.stem.rpartition("_")[2],
    result=_outcome,
)  # fmt: skip


class PiParser(DeclaredParser):
    """Reads one session, and follows who is at its terminal."""

    def __init__(self, declared: Format, path: PurePath, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state."""
        super().__init__(declared, path, state)
        self._presence = Presence(mapping(state.get("presence")))
        self._templates: TemplateLookup = no_templates

    def set_templates(self, templates: TemplateLookup) -> None:
        """Set the lookup for prompt templates."""
        self._templates = templates

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, and the state."""
        offset, state = super().checkpoint(end)
        return offset, {**state, "presence": self._presence.state()}

    def _read(self, record: dict[str, Any], span: Span) -> Iterator[Event | Claim]:
        yield from super()._read(record, span)
        self._presence.update(record)

    def prompt(self, kind: RecordKind, record: Record, span: Span) -> Iterator[Event | Claim]:
        """Yield the skill that a prompt contains, and its turn or the reason why it is not a turn."""
        del kind
        text, at = _text(mapping(record.get("message")).get("content")), utc(record.get("timestamp"))
        if skill := _SKILL.match(text):
            yield SkillUse(self.session, short(skill[1]), skill[2], at, span, self.cwd)
        text = _SKILL_BODY.typed_text(text) if skill else _FILES.typed_text(text)
        reason = self._presence.ignored_reason(record)
        arguments = None if skill or reason else typed_arguments(text, self._templates(self.cwd))
        is_command = skill is not None or arguments is not None
        text = text if arguments is None else arguments
        if reason or not text.strip():
            yield Ignored(reason or ("bare-command" if is_command else "empty"), span)
            return
        how = How.COMMAND if is_command else How.QUEUED if self._presence.was_busy(record) else How.TYPED
        yield Turn(_key(record, text), INFO.name, self.session, text, at, how, span, self.cwd)


def _text(content: object) -> str:
    if isinstance(content, str):
        return string(content)
    return "".join(string(part.get("text")) for part in objects(content) if part.get("type") == "text")


def _key(entry: Mapping[str, Any], text: str) -> str:
    """Return a key that is the same in every copy: ids have eight digits and are only unique within a file."""
    moment = mapping(entry.get("message")).get("timestamp")
    moment = moment if isinstance(moment, int) else short(entry.get("timestamp"))
    native = short(entry.get("id")) or hash_name(text)
    return f"{INFO.name}:{native}.{moment}"


INFO = AgentInfo(
    name="pi",
    title="Pi",
    home=".pi/agent",
    home_variables=("PI_CODING_AGENT_DIR",),
    stores=("sessions",),
    project_skills=(".pi/skills", ".agents/skills"),
    user_skills=(".agents/skills",),
    templates=("../../prompts", "../../git", "../../settings.json"),
    project_templates=(".pi/prompts", ".pi/git", ".pi/settings.json"),
    wrappers=("file", "skill", "prompt template", "tool result"),
    instructions=("AGENTS.md", "CLAUDE.md", "AGENTS.override.md"),
    verified="0.73.1 on 2026-11-20, 1.6.0 on 2026-11-30",
    unsure="what a script passes to pi -p --continue",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT, lambda path: _NAME.fullmatch(path.name) is not None, reads=PiParser)
