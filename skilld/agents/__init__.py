"""The agents that skilld follows: a folder and a line in ADAPTERS each."""

from __future__ import annotations

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
    traex,
)
from skilld.agents.base import Adapter

ADAPTERS: dict[str, Adapter] = {
    claude_code.INFO.name: claude_code,
    codex.INFO.name: codex,
    opencode.INFO.name: opencode,
    gemini_cli.INFO.name: gemini_cli,
    copilot_cli.INFO.name: copilot_cli,
    pi.INFO.name: pi,
    qwen_code.INFO.name: qwen_code,
    cursor.INFO.name: cursor,
    traex.INFO.name: traex,
    kilo.INFO.name: kilo,
    **{
        package.ADAPTER.INFO.name: package.ADAPTER
        for package in (cline, droid, continue_cli, kimi_code, grok_build, mistral_vibe, letta_code)
    },
    aider.INFO.name: aider,
    **{package.ADAPTER.INFO.name: package.ADAPTER for package in (openhands, antigravity, goose, kiro)},
}
# Environment variables that move or disable files that agents load.
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
