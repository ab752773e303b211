"""The adapter for TraeX: a fork of Codex that writes the same files elsewhere.

Seen: only a sub-agent's session of 0.200.19.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from skilld.agents import codex
from skilld.agents.codex import CodexParser, is_transcript, tool_events

__all__ = ["INFO", "is_transcript", "parser", "tool_events"]

INFO = replace(
    codex.INFO,
    name="traex",
    title="TraeX",
    home=".trae/cli",
    home_variables=(),
    verified="as Codex; one file from 0.200.19",
)


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> CodexParser:
    """Return a parser for one rollout, fresh or resumed with the state of a checkpoint."""
    return CodexParser(path, state or {}, INFO.name)
