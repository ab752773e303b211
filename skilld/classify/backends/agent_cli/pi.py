"""Pi without a terminal (0.73.1): no session, no tools, none of the person's files in its context."""

from __future__ import annotations

from skilld.classify.backends.agent_cli.base import Answer, Client, Command, Question, at, number, records, total, words
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
        {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},  # what it does at its start, not the question
    )


def _read(output: bytes) -> Answer:
    text, trouble, usage = "", "", Usage()
    for record in records(output):
        message = at(record, "message")
        if record.get("type") != "message_end" or at(message, "role") != "assistant":
            continue
        used = at(message, "usage")
        usage += Usage(
            tokens_in=total(used, "input", "cacheRead", "cacheWrite"),
            tokens_out=total(used, "output"),
            usd=number(used, "cost", "total"),
        )
        parts = at(message, "content")
        text = "".join(words(part, "text") for part in parts) if isinstance(parts, list) else ""
        trouble = words(message, "errorMessage")
    return Answer(text, usage, trouble)


PI = Client(
    program="pi",
    agent="pi",
    title="Pi",
    login="Run pi and type /login",
    model="",
    variables=("PI_CODING_AGENT_DIR", "*_API_KEY", "ANTHROPIC_OAUTH_TOKEN", "AWS_*", "GOOGLE_CLOUD_*"),
    command=_command,
    read=_read,
    # Each piece of the answer comes with the whole answer so far, twice.
    noise=b'{"type":"message_update"',
)
