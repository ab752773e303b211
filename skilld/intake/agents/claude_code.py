"""Claude Code: lines of a session's JSONL file in, events out.

The format is internal to the client and changes from version to version: nothing is required, everything is tolerated.
What is fixed stands here; `claude_parser` reads a file, with one module for each of the places where words hide.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from skilld.intake.agents.base import AgentInfo
from skilld.intake.agents.claude_parser import Parser
from skilld.intake.agents.claude_records import AGENT

INFO = AgentInfo(
    name=AGENT,
    title="Claude Code",
    home=".claude",
    home_variables=("CLAUDE_CONFIG_DIR",),
    stores=("projects",),
    project_skills=(".claude/skills",),
    user_skills=(),
    skill_homes=("skills",),
    wrappers=(
        "system-reminder",
        "ide_selection",
        "ide_opened_file",
        "new-diagnostics",
        "user-prompt-submit-hook",
        "pasted_content",
        "bash-stdout",
        "local-command-stdout",
        "task-notification",
        "teammate-message",
        "command-contents",
        "command body",
        "skill body",
        "attachment hook_success",
        "attachment selected_lines_in_ide",
        "tool result",
        "queue",
        "option label",
        "blocking hook",
        "compact summary",
        "side chain",
    ),
    instructions=("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
    verified="2.1.197 on 2026-11-20, 2.1.330 on 2026-11-22",
    typed_by="`origin` and `promptSource`; in older versions what is left without all wrappers",
    unattended="`entrypoint` of each record; sub-agents have files of their own",
    skill_use="the body record, which names the skill's folder",
    own_runs="`--no-session-persistence`, which writes nothing",
)


def is_transcript(path: PurePath) -> bool:
    """Whether a path is that of a main-thread session, `<store>/<project>/<session>.jsonl`, and of no sub-agent."""
    store = path.parent.parent.name
    return path.suffix == ".jsonl" and not path.name.startswith("agent-") and store in INFO.stores


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
    """Return a parser for one session's file, fresh or resumed with the state of a checkpoint."""
    return Parser(path.stem, state or {})
