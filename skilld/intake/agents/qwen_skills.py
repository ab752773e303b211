"""Which skills' instructions entered a conversation with Qwen Code: the `skill` tool, or a call that reads a SKILL.md.

Parts of model and tool messages in, (name, path) pairs out. The tool's result begins with the folder it read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skilld.intake.agents.fields import mapping, short, string
from skilld.intake.agents.tool_reads import Use, Waiting, uses_of

_BASE = re.compile(r"\s*Base directory for this skill: ([^\n]+)\n")


def base_of(text: str) -> str | None:
    """Return the path of the skill whose instructions a text is, by the folder it names first."""
    base = _BASE.match(text)
    return f"{base[1].strip().rstrip('/')}/SKILL.md" if base else None


class Skills:
    """Calls and their results in one session. Goes through a checkpoint: ids, names and paths."""

    def __init__(self, state: object = None) -> None:
        """Resume from a checkpoint's state."""
        self._calls = Waiting(state)

    def state(self) -> dict[str, list[list[str | None]]]:
        """Return the state for a checkpoint."""
        return self._calls.state()

    def call(self, parts: Sequence[Mapping[str, Any]], cwd: str | None) -> None:
        """Take note of the calls in a model's message."""
        for part in parts:
            call = mapping(part.get("functionCall"))
            name, arguments = string(call.get("name")), mapping(call.get("args"))
            skill = short(arguments.get("skill")) or short(arguments.get("name"))
            uses = [(skill, None)] if name == "skill" and skill else uses_of(name, arguments, cwd)
            self._calls.add(short(call.get("id")), list(uses))

    def result(self, parts: Sequence[Mapping[str, Any]], *, failed: bool) -> Iterator[Use]:
        """Yield what the results in a tool message have shown."""
        for part in parts:
            response = mapping(part.get("functionResponse"))
            output = mapping(response.get("response"))
            base = base_of(string(output.get("output")))
            for name, path in self._calls.end(short(response.get("id")), well=not failed and "error" not in output):
                if path is None and base is not None:
                    yield name, base
                elif path is not None:  # a `skill` call without a folder in its result has loaded nothing
                    yield name, path
