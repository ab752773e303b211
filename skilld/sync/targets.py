"""Which file of a project an agent reads its standing instructions from. Data, from the agents' own documentation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A file below a project. `front` is what a file of our own begins with, empty where the file is the person's."""

    path: str
    front: str = ""


_AGENTS = Target("AGENTS.md")
TARGETS: Mapping[str, Target] = {
    "claude-code": Target("CLAUDE.md"),
    "codex": _AGENTS,
    "opencode": _AGENTS,
    "pi": _AGENTS,
    "gemini-cli": Target("GEMINI.md"),
    "qwen-code": Target("QWEN.md"),
    "copilot-cli": Target(".github/copilot-instructions.md"),
    "cursor": Target(
        ".cursor/rules/skilld.mdc", "---\ndescription: Skills of this project\nalwaysApply: true\n---\n\n"
    ),
}
