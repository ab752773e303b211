"""Pi without a terminal (0.73.1): no session, no tools, none of the person's files in its context."""

from __future__ import annotations

from skilld.classify.backends.agent_cli.base import (
    Client,
    ClientAnswer,
    Command,
    Question,
    json_lines,
    nested,
    number_at,
    sum_at,
    text_at,
)
from skilld.types import Usage


def _command(question: Question) -> Command:
    return Command(
        (
            "--print",
            *("--mode", "json"),
            "--no-session",
            "--no-tools",
            "--no-skills",
            "--no-extensions",
            "--no-prompt-templates",
            "--no-themes",
            "--no-context-files",
            *("--thinking", "off"),
            *(("--model", question.model) if question.model else ()),
            *("--system-prompt", question.rules),
        ),
        {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},  # only affects its start, not the question
    )


def _read(output: bytes) -> ClientAnswer:
    text, trouble, usage = "", "", Usage()
    for record in json_lines(output):
        message = nested(record, "message")
        if record.get("type") != "message_end" or nested(message, "role") != "assistant":
            continue
        used = nested(message, "usage")
        usage += Usage(
            tokens_in=sum_at(used, "input", "cacheRead", "cacheWrite"),
            tokens_out=sum_at(used, "output"),
            usd=number_at(used, "cost", "total"),
        )
        parts = nested(message, "content")
        text = "".join(text_at(part, "text") for part in parts) if isinstance(parts, list) else ""
        trouble = text_at(message, "errorMessage")
    return ClientAnswer(text, usage, trouble)


PI = Client(
    program="pi",
    agent="pi",
    title="Pi",
    login="Run pi and type /login",
    model="",
    variables=("PI_CODING_AGENT_DIR", "*_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "AWS_*", "GOOGLE_CLOUD_*"),
    command=_command,
    read=_read,
    # Each piece of the answer contains the whole answer so far, twice.
    noise=b'{"type":"message_update"',
)
