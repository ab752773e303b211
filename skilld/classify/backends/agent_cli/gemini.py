"""Gemini CLI without a terminal (0.61.0). It always stores sessions, so each question gets its own home folder.

That home has links to the person's login, and settings without tools, hooks, MCP servers, extensions and GEMINI.md.
"""

from __future__ import annotations

import json
from pathlib import Path

from skilld.classify.backends.agent_cli.base import (
    Client,
    ClientAnswer,
    Command,
    Question,
    commented_json,
    http_status,
    nested,
    sum_at,
    text_at,
)
from skilld.text import read_json
from skilld.types import Usage

# The files of a login; a refreshed login is written through the link.
_LOGIN = (".env", "gemini-credentials.json", "google_accounts.json", "installation_id", "oauth_creds.json")
_SETTINGS = {
    "tools": {"core": []},
    "hooksConfig": {"enabled": False},
    "skills": {"enabled": False},
    "context": {"fileName": "none.md", "includeDirectoryTree": False},
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}


def _command(question: Question) -> Command:
    theirs = Path(question.environment.get("GEMINI_CLI_HOME") or question.home) / ".gemini"
    security = {"auth": _login_method(theirs), "folderTrust": {"enabled": False}}
    settings = question.workspace.write("home/.gemini/settings.json", json.dumps(_SETTINGS | {"security": security}))
    for name in _LOGIN:
        if (theirs / name).is_file():
            (settings.parent / name).symlink_to((theirs / name).absolute())
    return Command(
        ("--prompt", "", "--output-format", "json", "--model", question.model),
        {
            "GEMINI_CLI_HOME": str(settings.parents[1]),
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_SYSTEM_MD": str(question.workspace.write("rules.md", question.rules)),
            "NO_BROWSER": "1",
        },
    )


def _login_method(folder: Path) -> object:
    settings = commented_json(folder / "settings.json")
    older = nested(settings, "selectedAuthType")
    return nested(settings, "security", "auth") or ({"selectedType": older} if older else {})


def _read(output: bytes) -> ClientAnswer:
    printed = read_json(output)
    if not isinstance(printed, dict):
        return ClientAnswer()
    usage = Usage()
    models = nested(printed, "stats", "models")
    for used in models.values() if isinstance(models, dict) else ():
        tokens = nested(used, "tokens")
        usage += Usage(tokens_in=sum_at(tokens, "prompt"), tokens_out=sum_at(tokens, "candidates", "thoughts"))
    trouble = text_at(printed, "error", "message")
    return ClientAnswer(text_at(printed, "response"), usage, trouble, http_status(printed, "error", "code"))


GEMINI = Client(
    program="gemini",
    agent="gemini-cli",
    title="Gemini CLI",
    login="Run gemini and log in",
    model="flash",
    variables=(
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_*",
        "GOOGLE_GENAI_USE_*",
        "GOOGLE_*_BASE_URL",
    ),
    endpoint="GOOGLE_GEMINI_BASE_URL",
    command=_command,
    read=_read,
)
