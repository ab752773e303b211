"""MCP: the skills on this machine, read-only, for agents that have no skills of their own.

Requests of a client arrive on stdin, texts of skills leave on stdout. Nothing listens on the network and nothing is
written; open proposals are not visible, as skills are read from the agents' folders.
"""

from __future__ import annotations

from collections.abc import Mapping

# Agents that load skills themselves would see each one twice. Either of two signs is enough, as an agent may hide one:
# (agent, variables that it sets for its child processes, prefixes of its name as an MCP client).
_CLIENTS_WITH_SKILLS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("claude-code", ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"), ("claude-code", "claude code")),
    ("codex", ("CODEX_CI", "CODEX_SANDBOX", "CODEX_THREAD_ID", "CODEX_MANAGED_BY_NPM"), ("codex",)),
)
AGENTS_WITH_SKILLS = frozenset(agent for agent, _, _ in _CLIENTS_WITH_SKILLS)


def agent_with_skills(environment: Mapping[str, str], client: str = "") -> str:
    """Return the agent that loads skills itself, if it runs this server; otherwise empty. `client` is its MCP name."""
    name = client.strip().lower()
    for agent, variables, names in _CLIENTS_WITH_SKILLS:
        if any(environment.get(variable) for variable in variables) or name.startswith(names):
            return agent
    return ""
