"""The agents that skilld follows: a folder and a line in ADAPTERS each; a close relative needs only the line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from skilld.agents import (
    aider,
    antigravity,
    claude_code,
    cline,
    codex,
    continue_cli,
    copilot_cli,
    cursor,
    droid,
    gemini_cli,
    goose,
    grok_build,
    kilo,
    kimi_code,
    kiro,
    letta_code,
    mistral_vibe,
    opencode,
    openhands,
    pi,
    qwen_code,
)
from skilld.agents.base import Adapter, AgentInfo, Parser
from skilld.agents.tools import Records, ToolsOf
from skilld.agents.wrapped import ExpandingParser, Lookup
from skilld.types import Event, RawLine, Turn

# Agents that write what another one writes, byte for byte, in a place of their own: its adapter under another name.
# Such a relative is a line in the registry: `Relative(adapter, replace(adapter.INFO, name=..., ...))`.


@dataclass
class Relative:
    """The adapter of `kin`, for the agent that `INFO` describes."""

    kin: Adapter
    INFO: AgentInfo

    def is_transcript(self, path: PurePath) -> bool:
        """Whether its kin would take the path for a transcript."""
        return self.kin.is_transcript(path)

    @property
    def tool_events(self) -> ToolsOf | None:
        """The tool events of a record, as its kin reads them."""
        return getattr(self.kin, "tool_events", None)

    @property
    def records_of(self) -> Callable[[PurePath], Records] | None:
        """How lines make records, as for its kin."""
        return getattr(self.kin, "records_of", None)

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
        if isinstance(self.inner, ExpandingParser):
            self.inner.know(templates)

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return the kin's checkpoint."""
        return self.inner.checkpoint(end)

    def _renamed(self, event: Event) -> Event:
        if not isinstance(event, Turn):
            return event
        return replace(event, agent=self.new, key=f"{self.new}:{event.key.removeprefix(f'{self.old}:')}")


# A fork of Codex that writes the same files; a sub-agent's session of 0.200.19 is all that was seen of it.
_TRAEX = replace(
    codex.INFO,
    name="traex",
    title="TraeX",
    home=".trae/cli",
    home_variables=(),
    verified="as Codex; one file from 0.200.19",
)

ADAPTERS: dict[str, Adapter] = {
    claude_code.INFO.name: claude_code,
    codex.INFO.name: codex,
    opencode.INFO.name: opencode,
    gemini_cli.INFO.name: gemini_cli,
    copilot_cli.INFO.name: copilot_cli,
    pi.INFO.name: pi,
    qwen_code.INFO.name: qwen_code,
    cursor.INFO.name: cursor,
    _TRAEX.name: Relative(codex, _TRAEX),
    kilo.INFO.name: kilo,
    **{
        package.ADAPTER.INFO.name: package.ADAPTER
        for package in (cline, droid, continue_cli, kimi_code, grok_build, mistral_vibe, letta_code)
    },
    aider.INFO.name: aider,
    **{package.ADAPTER.INFO.name: package.ADAPTER for package in (openhands, antigravity, goose, kiro)},
}
# What moves or switches off files that agents load.
VARIABLES = tuple(
    dict.fromkeys(
        (
            *(name for adapter in ADAPTERS.values() for name in adapter.INFO.variables),
            "XDG_CONFIG_HOME",
            "CLAUDE_CODE_DISABLE_CLAUDE_MDS",
            "OPENCODE_DISABLE_CLAUDE_CODE",
            "OPENCODE_DISABLE_PROJECT_CONFIG",
            "COPILOT_CUSTOM_INSTRUCTIONS_DIRS",
        )
    )
)
