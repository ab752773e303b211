"""The agents skilld can follow: one file each, one line each here. A relative of one of them is the line alone."""

from __future__ import annotations

from dataclasses import replace

from skilld.intake.agents import claude_code, codex, copilot, cursor, gemini, opencode, pi, qwen
from skilld.intake.agents.base import Adapter
from skilld.intake.agents.relatives import Relative

# A fork of Codex that writes the same files; a sub-agent's session of 0.200.19 is all that was seen of it.
_TRAEX = replace(
    codex.INFO,
    name="traex",
    title="TraeX",
    home=".trae/cli",
    home_variables=(),
    verified="as Codex; one file of 0.200.19",
)

ADAPTERS: dict[str, Adapter] = {
    claude_code.INFO.name: claude_code,
    codex.INFO.name: codex,
    opencode.INFO.name: opencode,
    gemini.INFO.name: gemini,
    copilot.INFO.name: copilot,
    pi.INFO.name: pi,
    qwen.INFO.name: qwen,
    cursor.INFO.name: cursor,
    _TRAEX.name: Relative(codex, _TRAEX),
}
