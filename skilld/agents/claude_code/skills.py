"""Which skills entered a Claude Code conversation, and from which folder.

The proof is the body, a meta record that begins with the base directory. It follows the agent's call of the Skill tool
and its result, or a command typed by the person; in the first lines of a file it may come before the command. A call
that succeeded without a body (the skill runs in a sub-agent) gives the name alone. A listing of skills gives nothing.
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
# How many lines a body and its call may stand apart.
_PATIENCE = 20
_MAX_NAMES = 64


@dataclass(slots=True)
class _Waiting:
    """A call without its body yet, or a body without its command yet (`path` is set)."""

    record: Record
    name: str
    tool: str = ""
    call: str = ""
    path: str | None = None
    age: int = 0


class Skills:
    """Follows the skills of one transcript. All it must keep over a restart are ids, names and paths."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._calls = _names(state.get("calls"))
        self._commands = _names(state.get("commands"))
        self._paths = _names(state.get("paths"))
        self._waiting: list[_Waiting] = []
        self._seen: dict[str, str] = {}

    @property
    def start(self) -> int | None:
        """Where the first line stands that still waits for another."""
        return min((waiting.record.span.start for waiting in self._waiting), default=None)

    @property
    def waits(self) -> bool:
        """Whether lines must be counted because something waits."""
        return bool(self._waiting)

    def state(self) -> dict[str, dict[str, str]]:
        """Return what must outlive a restart."""
        return {"calls": dict(self._calls), "commands": dict(self._commands), "paths": dict(self._paths)}

    def called(self, call: str, arguments: Mapping[str, Any]) -> None:
        """Note that the agent called a skill: `call` is the id of the tool call."""
        named = (string(arguments.get(key)) for key in ("skill", "command", "name"))
        _note(self._calls, call, next((name for name in named if name), "").lstrip("/").partition(" ")[0])

    def result(self, record: Record, call: str, tool: str) -> list[SkillUse]:
        """Note that a call succeeded; its body is expected. One that runs in a sub-agent has none and is returned."""
        told = mapping(record.get("toolUseResult"))
        name = (string(told.get("commandName")) or self._calls.get(call, "")).lstrip("/")
        if not name or call in self._seen:
            return []
        if told.get("status") == "forked":
            return [self._use(record, name, None)]
        self._waiting.append(_Waiting(record, name, tool, call))
        return []

    def is_the_agents(self, command: str) -> bool:
        """Whether a command record only repeats a call of the agent that still waits for its body."""
        return any(waiting.tool and waiting.name == command for waiting in self._waiting)

    def typed(self, record: Record, command: str) -> list[SkillUse]:
        """Note that the person invoked a skill or command; returns it if its body came first."""
        _note(self._commands, record.string("uuid"), command)
        early = [waiting for waiting in self._waiting if waiting.path and _parent(waiting.record) == record.get("uuid")]
        return [self._settle(waiting, command, waiting.path) for waiting in early]

    def body(self, record: Record, text: str) -> list[SkillUse] | None:
        """Return the skill whose body a meta record holds, none if its command is still to come; None if no body."""
        if not text.startswith((_BASE, *_STUBS)):
            return None
        path = _skill_file(text)
        call = record.string("sourceToolUseID")
        awaited = next((w for w in self._waiting if w.tool and call in {w.call, ""}), None)
        command = self._commands.get(_parent(record), "")
        if command and not call:
            return [self._use(record, command, path)]
        if awaited:
            return [self._settle(awaited, awaited.name, path, record)]
        if name := self._calls.get(call, ""):
            _note(self._seen, call, name)
            return [self._use(record, name, path)]
        if path:
            self._waiting.append(_Waiting(record, path.replace("\\", "/").split("/")[-2], path=path))
        return []

    def kept(self, record: Record, skills: object) -> list[SkillUse]:
        """Return the skills that the client put back into the conversation after a compaction."""
        rows = [row for row in map(mapping, items(skills)) if string(row.get("name"))]
        return [self._use(record, string(row["name"]), _skill_file(string(row.get("content")))) for row in rows]

    def output(self, record: Record) -> list[SkillUse]:
        """Return the typed skill whose output this is: it ran in a sub-agent and left no body."""
        command = self._commands.get(_parent(record), "")
        return [self._use(record, command, None)] if command else []

    def launched(self, record: Record) -> list[SkillUse]:
        """Return the typed skill that a system record says to run in a sub-agent (2.1.330; before: `output`)."""
        return self.output(record) if _LAUNCHED in record.string("content") else []

    def tick(self) -> list[SkillUse]:
        """Count a line; return what has waited for too long."""
        for waiting in self._waiting:
            waiting.age += 1
        return self._give_up([waiting for waiting in self._waiting if waiting.age > _PATIENCE]) if self._waiting else []

    def flush(self) -> list[SkillUse]:
        """Return everything that waits."""
        return self._give_up(list(self._waiting))

    def before_turn(self) -> list[SkillUse]:
        """Return the calls that were still waiting when the person spoke again."""
        return self._give_up([waiting for waiting in self._waiting if waiting.tool])

    def _give_up(self, late: list[_Waiting]) -> list[SkillUse]:
        # A SlashCommand without a body ran a command file, which is no skill.
        settled = [(waiting, self._settle(waiting, waiting.name, waiting.path)) for waiting in late]
        return [use for waiting, use in settled if waiting.tool != "SlashCommand"]

    def _settle(self, waiting: _Waiting, name: str, path: str | None, body: Record | None = None) -> SkillUse:
        self._waiting.remove(waiting)
        return self._use(body or waiting.record, name, path)

    def _use(self, record: Record, name: str, path: str | None) -> SkillUse:
        if path:
            _note(self._paths, name, path)
        known = path or self._paths.get(name)
        return SkillUse(record.session_id, name, known, record.at, record.span, record.cwd)


def _parent(record: Record) -> str:
    return record.string("parentUuid")


def _skill_file(text: str) -> str | None:
    if not text.startswith(_BASE):
        return None
    folder = text[len(_BASE) :].partition("\n")[0].strip()
    if not folder:
        return None
    separator = "\\" if "\\" in folder and "/" not in folder else "/"
    return folder.rstrip(separator) + separator + "SKILL.md"


def _names(value: object) -> dict[str, str]:
    return {key: string(name) for key, name in mapping(value).items()}


def _note(names: dict[str, str], key: str, name: str) -> None:
    if key and name:
        remember(names, key, name, _MAX_NAMES)
