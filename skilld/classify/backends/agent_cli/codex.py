"""Codex without a terminal (0.169.0): a read-only sandbox, no tools, nothing stored.

The person's config.toml is used, since it may name the provider; settings that start programs are switched off by name.
Codex ignores unknown settings and features, so those of other versions do no harm.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from skilld.classify.backends.agent_cli.base import (
    Client,
    ClientAnswer,
    Command,
    Question,
    json_lines,
    nested,
    sum_at,
    text_at,
)
from skilld.types import Usage

_FEATURES_OFF = (
    "apps",
    "daemon_auto_start",  # a daemon that outlives the question
    "goals",
    "hooks",
    "image_generation",
    "multi_agent",
    "plugins",
    "shell_tool",
    "tool_suggest",
    "unbounded_connection_retries",
    "unified_exec",
    "view_image",
)
_SETTINGS = (
    'approval_policy="never"',
    'web_search="disabled"',
    "notify=[]",  # the person's own notifier
    "project_doc_max_bytes=0",
    'history.persistence="none"',
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "include_apps_instructions=false",
    "include_collaboration_mode_instructions=false",
    "include_environment_context=false",
    "include_permissions_instructions=false",
    "orchestrator.mcp.enabled=false",
    "orchestrator.skills.enabled=false",
    "skills.include_instructions=false",
    "tools.experimental_request_user_input.enabled=false",
    "suppress_unstable_features_warning=true",
    'model_reasoning_effort="low"',
    *(f"features.{name}=false" for name in _FEATURES_OFF),
)
_SERVER = re.compile(r"[\w-]+", re.ASCII)
_STATUS = re.compile(r"status:? (\d{3})\b")


def _command(question: Question) -> Command:
    rules = question.workspace.write("rules.md", question.rules)
    own = Path(question.environment.get("CODEX_HOME") or question.home / ".codex")
    settings = (
        *_SETTINGS,
        f"model_instructions_file={json.dumps(str(rules))}",
        *(f"mcp_servers.{name}.enabled=false" for name in _servers(own / "config.toml")),
    )
    return Command(
        (
            "exec",
            "--ephemeral",
            "--json",
            "--skip-git-repo-check",
            "--ignore-rules",
            *("--sandbox", "read-only"),
            *("--color", "never"),
            *("--cd", str(question.workspace.work)),
            *(part for setting in settings for part in ("--config", setting)),
            *(("--model", question.model) if question.model else ()),
            "-",
        )
    )


def _servers(config: Path) -> list[str]:
    """Return the MCP servers in the person's settings; an empty table would be merged with them, not replace them."""
    import tomllib  # costs 4 ms, and the daemon needs only the client's name

    try:
        servers = tomllib.loads(config.read_text(encoding="utf-8")).get("mcp_servers")
    except (OSError, ValueError, RecursionError):
        return []
    return [name for name in servers if _SERVER.fullmatch(name)] if isinstance(servers, dict) else []


def _read(output: bytes) -> ClientAnswer:
    text, trouble, usage = "", "", Usage()
    for record in json_lines(output):
        kind = text_at(record, "type")
        if kind == "item.completed" and nested(record, "item", "type") == "agent_message":
            text = text_at(record, "item", "text")
        elif kind == "turn.completed":
            used = nested(record, "usage")
            usage += Usage(tokens_in=sum_at(used, "input_tokens"), tokens_out=sum_at(used, "output_tokens"))
            trouble = ""
        elif kind in {"error", "turn.failed"}:
            trouble = text_at(record, "message") or text_at(record, "error", "message")
    status = _STATUS.search(trouble)
    return ClientAnswer(text, usage, trouble, int(status[1]) if status else None)


CODEX = Client(
    program="codex",
    agent="codex",
    title="Codex",
    login="Run codex login",
    model="",
    variables=("CODEX_HOME", "*_API_KEY", "AWS_*"),  # a custom provider may use any variable
    command=_command,
    read=_read,
)
