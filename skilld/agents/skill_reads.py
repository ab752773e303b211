"""Which skills a tool call loads: calls that print a SKILL.md, matched with their results.

Name and arguments of a call in, (name, path) pairs out. A call counts when its result came without an error: a refused
or failed one shows nothing. Knows the usual names of file and shell tools, and no agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from skilld.agents.base import SHORT, mapping, short, string
from skilld.agents.codex.skills import resolve, skills_read
from skilld.agents.tools import COMMAND_KEYS, FILE_KEYS, FOLDER_KEYS, READ_TOOLS, SHELL_TOOLS

Use = tuple[str, str | None]

_WAITING = 32


def uses_of(tool: str, arguments: Mapping[str, Any], cwd: str | None) -> Iterator[Use]:
    """Yield the skills whose SKILL.md a call shows; paths absolute where `cwd` or the call tells."""
    name = tool.lower()
    if name in READ_TOOLS:
        paths = (resolve(string(arguments.get(key)), cwd) for key in FILE_KEYS if arguments.get(key))
        yield from (use for path in paths if path is not None and (use := use_of(path)))
    elif name in SHELL_TOOLS:
        folder = next((string(arguments[key]) for key in FOLDER_KEYS if arguments.get(key)), "")
        place = resolve(folder, cwd) if folder else cwd
        for key in COMMAND_KEYS:
            found = skills_read(string(arguments.get(key)), place)
            yield from (use for path in found if (use := use_of(path)))


def use_of(path: str) -> Use | None:
    """Return the skill that a SKILL.md belongs to, named by its folder; None for any other file."""
    parts = re.split(r"[\\/]", path)
    if parts[-1] != "SKILL.md" or len(parts) < 2 or not parts[-2]:  # noqa: PLR2004 - folder and file
        return None
    return parts[-2][:SHORT], path


class PendingCalls:
    """Calls whose results are not there yet, the newest few. Goes through a checkpoint: ids, names and paths."""

    def __init__(self, state: object = None) -> None:
        """Resume from a checkpoint's state; anything unusable in it is left out."""
        self._calls: dict[str, list[Use]] = {}
        for call, uses in mapping(state).items():
            pairs = [use for use in uses if isinstance(use, list)] if isinstance(uses, list) else []
            self.add(short(call), [(short(use[0]), string(use[1]) or None) for use in pairs if len(use) == 2])  # noqa: PLR2004 - name and path

    def state(self) -> dict[str, list[list[str | None]]]:
        """Return the state for a checkpoint."""
        return {call: [[name, path] for name, path in uses] for call, uses in self._calls.items()}

    def add(self, call: str, uses: list[Use]) -> None:
        """Take note of what a call will have shown when it ends well."""
        if call and uses:
            self._calls[call] = uses[:_WAITING]
            while len(self._calls) > _WAITING:
                del self._calls[next(iter(self._calls))]

    def end(self, call: str, *, well: bool) -> list[Use]:
        """Return what a call that ended has shown."""
        uses = self._calls.pop(call, [])
        return uses if well else []
