"""Whether a client may be shown the skills: agents with skills of their own load them, and would see each twice. Pure.

Two layers, as an agent may hide one: the variables that such an agent sets on what it starts, and the name by which it
introduces itself.
"""

from __future__ import annotations

from collections.abc import Mapping

# Agent -> the name it is called by here, the variables on its children, the beginnings of its name as an MCP client.
_OWN_SKILLS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("claude-code", ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"), ("claude-code", "claude code")),
    ("codex", ("CODEX_CI", "CODEX_SANDBOX", "CODEX_THREAD_ID", "CODEX_MANAGED_BY_NPM"), ("codex",)),
)
HAVE_SKILLS = frozenset(agent for agent, _, _ in _OWN_SKILLS)


def hidden_from(environment: Mapping[str, str], client: str = "") -> str:
    """Return the agent because of which no skill is shown, empty where they are; `client` is what it calls itself."""
    name = client.strip().lower()
    for agent, variables, names in _OWN_SKILLS:
        if any(environment.get(variable) for variable in variables) or name.startswith(names):
            return agent
    return ""
