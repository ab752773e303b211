"""Claude Code without a terminal (2.1.197): no tools, no customization, nothing stored."""

from __future__ import annotations

import json

from skilld.classify.backends.agent_cli.base import (
    MAX_TOKENS,
    Client,
    ClientAnswer,
    Command,
    Question,
    http_status,
    nested,
    number_at,
    sum_at,
    text_at,
)
from skilld.text import read_json
from skilld.types import Usage

# Override the person's own settings, whose `env` would override variables. Hooks: for versions before the safe mode.
_SETTINGS = {"outputStyle": "default", "disableAllHooks": True, "env": {"MAX_THINKING_TOKENS": "0"}}


def _command(question: Question) -> Command:
    return Command(
        (
            "--print",
            *("--output-format", "json"),
            "--no-session-persistence",
            *("--tools", ""),
            "--strict-mcp-config",
            "--disable-slash-commands",
            *("--settings", json.dumps(_SETTINGS)),
            *("--model", question.model),
            *("--system-prompt", question.rules),
        ),
        {
            "CLAUDE_CODE_SAFE_MODE": "1",  # no CLAUDE.md, hooks, plugins, MCP servers; older versions ignore it
            "CLAUDE_CODE_SKIP_PROMPT_HISTORY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(MAX_TOKENS),
            "CLAUDE_CODE_MAX_RETRIES": "0",  # default: ten, in more than three minutes; the daemon retries itself
            "DISABLE_AUTOUPDATER": "1",
        },
    )


def _read(output: bytes) -> ClientAnswer:
    printed = read_json(output)
    # A list of all messages if the person's settings say "verbose".
    results = [item for item in printed if nested(item, "type") == "result"] if isinstance(printed, list) else [printed]
    if not results or not isinstance(results[-1], dict):
        return ClientAnswer()
    result = results[-1]
    used = nested(result, "usage")
    usage = Usage(
        tokens_in=sum_at(used, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        tokens_out=sum_at(used, "output_tokens"),
        usd=number_at(result, "total_cost_usd"),
    )
    text = text_at(result, "result")
    if nested(result, "is_error") is True:
        said = text or text_at(result, "subtype")
        return ClientAnswer(usage=usage, trouble=said, status=http_status(result, "api_error_status"))
    return ClientAnswer(text, usage)


CLAUDE = Client(
    program="claude",
    agent="claude-code",
    title="Claude Code",
    login="Run claude and type /login",
    model="haiku",
    variables=(
        "CLAUDE_CONFIG_DIR",
        # Keys, gateways with their headers and models, Foundry: everything that decides where questions are sent. A
        # gateway's token without its address would go to another provider.
        "ANTHROPIC_*",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_*",
        "CLAUDE_CODE_SKIP_*_AUTH",
        "CLAUDE_CODE_CLIENT_*",
        "CLAUDE_CODE_CERT_STORE",
        "CLOUD_ML_REGION",
        "AWS_*",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_*",
    ),
    endpoint="ANTHROPIC_BASE_URL",
    command=_command,
    read=_read,
)
