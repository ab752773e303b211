"""The agents skilld can follow: one file each, one line each here."""

from __future__ import annotations

from skilld.intake.agents import claude_code, codex, copilot, cursor, gemini, opencode, pi, qwen
from skilld.intake.agents.base import Adapter

ADAPTERS: dict[str, Adapter] = {
    claude_code.INFO.name: claude_code,
    codex.INFO.name: codex,
    opencode.INFO.name: opencode,
    gemini.INFO.name: gemini,
    copilot.INFO.name: copilot,
    pi.INFO.name: pi,
    qwen.INFO.name: qwen,
    cursor.INFO.name: cursor,
}
