"""Agents that write what another one writes, byte for byte, in a place of their own: its adapter under another name.

Such a relative is a line in the registry: `Relative(adapter, replace(adapter.INFO, name=..., ...))`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from skilld.intake.agents.base import Adapter, AgentInfo, Parser
from skilld.intake.agents.expanded import Expanding, Lookup
from skilld.types import Event, RawLine, Turn


@dataclass
class Relative:
    """The adapter of `kin`, for the agent that `INFO` describes."""

    kin: Adapter
    INFO: AgentInfo

    def is_transcript(self, path: PurePath) -> bool:
        """Whether its kin would take the path for a transcript."""
        return self.kin.is_transcript(path)

    def parser(self, path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
        """Return its kin's parser, whose turns are this agent's."""
        return _Renaming(self.kin.parser(path, state), self.kin.INFO.name, self.INFO.name)


@dataclass(frozen=True, slots=True)
class _Renaming:
    inner: Parser
    old: str
    new: str

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one line, as the kin's parser finds them."""
        return [self._renamed(event) for event in self.inner.feed(line)]

    def flush(self) -> list[Event]:
        """Decide what waits."""
        return [self._renamed(event) for event in self.inner.flush()]

    def know(self, templates: Lookup) -> None:
        """Take in where to look templates up, for the kin's parser."""
        if isinstance(self.inner, Expanding):
            self.inner.know(templates)

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return the kin's checkpoint."""
        return self.inner.checkpoint(end)

    def _renamed(self, event: Event) -> Event:
        if not isinstance(event, Turn):
            return event
        return replace(event, agent=self.new, key=f"{self.new}:{event.key.removeprefix(f'{self.old}:')}")
