"""Finds which skills entered a Claude Code conversation, and from which folder.

The evidence is the body, a meta record that starts with the base directory. It follows the agent's call of the Skill
tool and its result, or a command typed by the person; in the first lines of a file it may precede the command. A call
that succeeded without a body (the skill runs in a sub-agent) gives only the name. A list of skills gives nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skilld.agents.base import items, mapping, remember
from skilld.agents.claude_code.records import Record, string
from skilld.types import SkillUse

TOOLS = ("Skill", "SlashCommand")

_BASE = "Base directory for this skill: "
_LAUNCHED = "<forked-skill-launch>"
_STUBS = ("(Re-invocation of /", "Skill /")
_MAX_LINES_APART = 20  # a body and its call
_MAX_NAMES = 64


@dataclass(slots=True)
class _PendingUse:
    """A call that waits for its body, or a body that waits for its command (`path` is set)."""

    record: Record
    name: str
    tool: str = ""
    call: str = ""
    path: str | None = None
    age: int = 0


class Skills:
    """Follows the skills of one transcript. Its checkpoint holds only ids, names and paths."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._calls = _string_values(state.get("calls"))
        self._commands = _string_values(state.get("commands"))
        self._paths = _string_values(state.get("paths"))
        self._waiting: list[_PendingUse] = []
        self._seen: dict[str, str] = {}

    @property
    def start(self) -> int | None:
        """The start of the first line that still waits for another."""
        return min((waiting.record.span.start for waiting in self._waiting), default=None)

    @property
    def is_waiting(self) -> bool:
        """Whether lines must be counted because something waits."""
        return bool(self._waiting)

    def state(self) -> dict[str, dict[str, str]]:
        """Return the state for a checkpoint."""
        return {"calls": dict(self._calls), "commands": dict(self._commands), "paths": dict(self._paths)}

    def on_call(self, call: str, arguments: Mapping[str, Any]) -> None:
        """Record that the agent called a skill; `call` is the id of the tool call."""
        named = (string(arguments.get(key)) for key in ("skill", "command", "name"))
        _remember_name(self._calls, call, next((name for name in named if name), "").lstrip("/").partition(" ")[0])

    def on_result(self, record: Record, call: str, tool: str) -> list[SkillUse]:
        """Record that a call succeeded and wait for its body; one that runs in a sub-agent has none and is returned."""
        result = mapping(record.get("toolUseResult"))
        name = (string(result.get("commandName")) or self._calls.get(call, "")).lstrip("/")
        if not name or call in self._seen:
            return []
        if result.get("status") == "forked":
            return [self._use(record, name, None)]
        self._waiting.append(_PendingUse(record, name, tool, call))
        return []

    def repeats_call(self, command: str) -> bool:
        """Whether a command record only repeats a call of the agent that still waits for its body."""
        return any(waiting.tool and waiting.name == command for waiting in self._waiting)

    def on_command(self, record: Record, command: str) -> list[SkillUse]:
        """Record that the person invoked a skill or command; return it if its body came first."""
        _remember_name(self._commands, record.string("uuid"), command)
        early = [
            waiting for waiting in self._waiting if waiting.path and _parent_uuid(waiting.record) == record.get("uuid")
        ]
        return [self._resolve(waiting, command, waiting.path) for waiting in early]

    def on_body(self, record: Record, text: str) -> list[SkillUse] | None:
        """Return the skill whose body a meta record holds, [] if its command is still missing; None if no body."""
        if not text.startswith((_BASE, *_STUBS)):
            return None
        path = _skill_file(text)
        call = record.string("sourceToolUseID")
        awaited = next((w for w in self._waiting if w.tool and call in {w.call, ""}), None)
        command = self._commands.get(_parent_uuid(record), "")
        if command and not call:
            return [self._use(record, command, path)]
        if awaited:
            return [self._resolve(awaited, awaited.name, path, record)]
        if name := self._calls.get(call, ""):
            _remember_name(self._seen, call, name)
            return [self._use(record, name, path)]
        if path:
            self._waiting.append(_PendingUse(record, path.replace("\\", "/").split("/")[-2], path=path))
        return []

    def on_compaction(self, record: Record, skills: object) -> list[SkillUse]:
        """Return the skills that the client put back into the conversation after a compaction."""
        rows = [row for row in map(mapping, items(skills)) if string(row.get("name"))]
        return [self._use(record, string(row["name"]), _skill_file(string(row.get("content")))) for row in rows]

    def on_output(self, record: Record) -> list[SkillUse]:
        """Return the typed skill that produced this output: it ran in a sub-agent and left no body."""
        command = self._commands.get(_parent_uuid(record), "")
        return [self._use(record, command, None)] if command else []

    def on_launch(self, record: Record) -> list[SkillUse]:
        """Return the typed skill that a system record says runs in a sub-agent (2.1.330; before: `on_output`)."""
        return self.on_output(record) if _LAUNCHED in record.string("content") else []

    def tick(self) -> list[SkillUse]:
        """Count a line; return what has waited too long."""
        for waiting in self._waiting:
            waiting.age += 1
        return (
            self._resolve_late([waiting for waiting in self._waiting if waiting.age > _MAX_LINES_APART])
            if self._waiting
            else []
        )

    def flush(self) -> list[SkillUse]:
        """Return everything that waits."""
        return self._resolve_late(list(self._waiting))

    def before_turn(self) -> list[SkillUse]:
        """Return the calls that still waited when the person spoke again."""
        return self._resolve_late([waiting for waiting in self._waiting if waiting.tool])

    def _resolve_late(self, late: list[_PendingUse]) -> list[SkillUse]:
        # A SlashCommand without a body ran a command file, not a skill.
        settled = [(waiting, self._resolve(waiting, waiting.name, waiting.path)) for waiting in late]
        return [use for waiting, use in settled if waiting.tool != "SlashCommand"]

    def _resolve(self, waiting: _PendingUse, name: str, path: str | None, body: Record | None = None) -> SkillUse:
        self._waiting.remove(waiting)
        return self._use(body or waiting.record, name, path)

    def _use(self, record: Record, name: str, path: str | None) -> SkillUse:
        if path:
            _remember_name(self._paths, name, path)
        known = path or self._paths.get(name)
        return SkillUse(record.session_id, name, known, record.at, record.span, record.cwd)


def _parent_uuid(record: Record) -> str:
    return record.string("parentUuid")


def _skill_file(text: str) -> str | None:
    if not text.startswith(_BASE):
        return None
    folder = text[len(_BASE) :].partition("\n")[0].strip()
    if not folder:
        return None
    separator = "\\" if "\\" in folder and "/" not in folder else "/"
    return folder.rstrip(separator) + separator + "SKILL.md"


def _string_values(value: object) -> dict[str, str]:
    return {key: string(name) for key, name in mapping(value).items()}


def _remember_name(names: dict[str, str], key: str, name: str) -> None:
    if key and name:
        remember(names, key, name, _MAX_NAMES)
