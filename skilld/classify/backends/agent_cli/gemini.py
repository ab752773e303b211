"""Gemini CLI without a terminal (0.61.0). It always stores sessions, so each question gets its own home folder.

That home holds links to the person's login and settings of ours: no tools, hooks, MCP servers, extensions, GEMINI.md.
"""

from __future__ import annotations

import json
from pathlib import Path

from skilld.classify.backends.agent_cli.base import (
    Answer,
    Client,
    Command,
    Question,
    at,
    commented_json,
    http_status,
    total,
    value,
    words,
)
from skilld.types import Usage

# What `gemini` needs to be who it is; a refreshed login is written through the link.
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
    settings = question.room.write("home/.gemini/settings.json", json.dumps(_SETTINGS | {"security": security}))
    for name in _LOGIN:
        if (theirs / name).is_file():
            (settings.parent / name).symlink_to((theirs / name).absolute())
    return Command(
        ("--prompt", "", "--output-format", "json", "--model", question.model),
        {
            "GEMINI_CLI_HOME": str(settings.parents[1]),
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_SYSTEM_MD": str(question.room.write("rules.md", question.rules)),
            "NO_BROWSER": "1",
        },
    )


def _login_method(folder: Path) -> object:
    settings = commented_json(folder / "settings.json")
    older = at(settings, "selectedAuthType")
    return at(settings, "security", "auth") or ({"selectedType": older} if older else {})


def _read(output: bytes) -> Answer:
    printed = value(output)
    if not isinstance(printed, dict):
        return Answer()
    usage = Usage()
    models = at(printed, "stats", "models")
    for used in models.values() if isinstance(models, dict) else ():
        tokens = at(used, "tokens")
        usage += Usage(tokens_in=total(tokens, "prompt"), tokens_out=total(tokens, "candidates", "thoughts"))
    trouble = words(printed, "error", "message")
    return Answer(words(printed, "response"), usage, trouble, http_status(printed, "error", "code"))


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
