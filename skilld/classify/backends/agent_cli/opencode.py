"""opencode without a terminal (1.18.33): its database in memory, every tool denied."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from skilld.classify.backends.agent_cli.base import (
    Client,
    ClientAnswer,
    Command,
    Question,
    commented_json,
    http_status,
    json_lines,
    nested,
    number_at,
    sum_at,
    text_at,
)
from skilld.types import Usage

_AGENT = "skilld"
_SETTINGS_FILES = ("config.json", "opencode.json", "opencode.jsonc")


def _command(question: Question) -> Command:
    agent = {"mode": "primary", "prompt": question.rules, "permission": {"*": "deny"}, "tools": {"*": False}}
    settings = {
        "share": "disabled",
        "autoupdate": False,
        "snapshot": False,
        "mcp": {name: {"enabled": False} for path in _settings_files(question) for name in _servers(path)},
        "agent": {_AGENT: agent},
    }
    return Command(
        (
            "run",
            *("--format", "json"),
            *("--agent", _AGENT),
            *("--title", _AGENT),  # without it, a model is asked for one
            *(("--model", question.model) if question.model else ()),
        ),
        {
            "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
            "OPENCODE_DB": ":memory:",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_CLAUDE_CODE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",  # also disables AGENTS.md files in the folders above
            "OPENCODE_PURE": "1",  # no plugins
        },
    )


def _settings_files(question: Question) -> Iterator[Path]:
    environment = question.environment
    usual = Path(environment.get("XDG_CONFIG_HOME") or question.home / ".config") / "opencode"
    folders = [usual, *(Path(folder) for folder in [environment.get("OPENCODE_CONFIG_DIR")] if folder)]
    yield from (folder / name for folder in folders for name in _SETTINGS_FILES)
    yield from (Path(file) for file in [environment.get("OPENCODE_CONFIG")] if file)


def _servers(path: Path) -> list[str]:
    servers = nested(commented_json(path), "mcp")
    return list(servers) if isinstance(servers, dict) else []


def _read(output: bytes) -> ClientAnswer:
    text, trouble, status, usage = "", "", None, Usage()
    for record in json_lines(output):
        kind, part = text_at(record, "type"), nested(record, "part")
        if kind == "text":
            text += text_at(part, "text")
        elif kind == "step_finish":
            tokens = nested(part, "tokens")
            usage += Usage(
                tokens_in=sum_at(tokens, "input") + sum_at(nested(tokens, "cache"), "read", "write"),
                tokens_out=sum_at(tokens, "output", "reasoning"),
                usd=number_at(part, "cost"),
            )
        elif kind == "error":
            trouble = text_at(record, "error", "data", "message") or text_at(record, "error", "name")
            status = http_status(record, "error", "data", "statusCode")
    return ClientAnswer(text, usage, trouble, status)


OPENCODE = Client(
    program="opencode",
    agent="opencode",
    title="opencode",
    login="Run opencode auth login",
    model="",
    variables=("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "*_API_KEY", "AWS_*", "GOOGLE_CLOUD_*"),
    command=_command,
    read=_read,
)
