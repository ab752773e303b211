"""Whether a coding agent gave the command: it must not accept what it taught itself. Pure.

Agents mark the commands they run with a variable. People work in terminals inside editors, so processes above ours
are not looked at, and a terminal on stdin counts as a person.
"""

from __future__ import annotations

from collections.abc import Mapping

from skilld.errors import RefusedError

# Set on commands that the agent runs, not in a person's own shell (checked 2026-11 in each client's documentation or
# source; AGENT and AI_AGENT: https://github.com/agentsmd/agents.md/issues/136).
MARKERS = frozenset(
    {
        "AGENT",
        "AI_AGENT",
        "AUGMENT_AGENT",
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLINE_ACTIVE",
        "CODEX_CI",
        "CODEX_SANDBOX",
        "CODEX_SANDBOX_NETWORK_DISABLED",
        "CODEX_THREAD_ID",
        "COPILOT_CLI",
        "CURSOR_AGENT",
        "GEMINI_CLI",
        "GOOSE_TERMINAL",
        "OPENCODE",
        "OPENCODE_CLIENT",
        "PI_CODING_AGENT",
        "QWEN_CODE",
    }
)
_OFF = frozenset({"", "0", "false"})


def agents_marker(env: Mapping[str, str], *, stdin_is_tty: bool) -> str:
    """Return the marker of the agent that gave the command; empty where none is in `env`, or a terminal is on stdin."""
    marker = next((name for name in sorted(MARKERS) if env.get(name, "").lower() not in _OFF), "")
    return "" if stdin_is_tty else marker


def refuse_agent(
    env: Mapping[str, str], *, stdin_is_tty: bool, allowed: bool, title: str = "Only you can decide on proposals"
) -> None:
    """Raise RefusedError with `title` when an agent gave the command, unless it is `allowed`."""
    marker = agents_marker(env, stdin_is_tty=stdin_is_tty)
    if not marker or allowed:
        return
    raise RefusedError(
        title,
        f"{marker} says that a coding agent runs this command",
        "run it in a terminal of your own",
    )
