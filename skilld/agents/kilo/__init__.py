"""The adapter for Kilo Code's command line: a fork of opencode with the same tables in another place.

Seen: 7.7.9. A typed skill is `/name:skill args`, stored as typed next to the body; unattended sessions deny themselves
one more tool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from skilld.agents import opencode
from skilld.agents.opencode import FIRST_QUERY, Parser, tool_events

INFO = replace(
    opencode.INFO,
    name="kilo",
    title="Kilo Code",
    home=".local/share/kilo",
    home_parents=(("XDG_DATA_HOME", "kilo"),),
    file_variables=(),
    queries=(FIRST_QUERY,),
    typed_list=(
        "../../state/kilo/prompt-history.jsonl",
        "$XDG_STATE_HOME/kilo/prompt-history.jsonl",
        "~/.local/state/kilo/prompt-history.jsonl",
    ),
    templates=("$XDG_CONFIG_HOME/kilo/command", "~/.config/kilo/command"),
    project_templates=(".kilo/command", ".kilo/commands"),
    project_skills=(".kilo/skills", ".claude/skills", ".agents/skills"),
    skill_folders=(),
    verified="7.7.9 on 2026-11-30",
)
_NAME = re.compile(r"kilo(-[\w.-]+)?\.db")
__all__ = ["INFO", "is_transcript", "parser", "tool_events"]


def is_transcript(path: PurePath) -> bool:
    """Whether a path is that of a database with sessions."""
    return _NAME.fullmatch(path.name) is not None


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
    """Return a parser for one database, fresh or resumed with the state of a checkpoint."""
    del path
    return Parser(state or {}, INFO.name)
