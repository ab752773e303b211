"""The agents whose command lines can be asked: one module and one line here each.

Model strings are `cli:PROGRAM` and `cli:PROGRAM:MODEL`. Asks nothing itself, so that the daemon can import it without
the prompts and the checks of replies, which are the workers'.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from fnmatch import fnmatchcase

from skilld.classify.backends.agent_cli.base import Client
from skilld.classify.backends.agent_cli.claude import CLAUDE
from skilld.classify.backends.agent_cli.codex import CODEX
from skilld.classify.backends.agent_cli.gemini import GEMINI
from skilld.classify.backends.agent_cli.opencode import OPENCODE
from skilld.classify.backends.agent_cli.pi import PI
from skilld.errors import UsageError

PREFIX = "cli:"
CLIENTS: Mapping[str, Client] = {client.program: client for client in (CLAUDE, CODEX, GEMINI, OPENCODE, PI)}

_MODEL = re.compile(r"[\w.\[][\w.:/@+\[\]-]*", re.ASCII)  # never an option


def chosen(model: str) -> tuple[Client, str]:
    """Return the client that a model string names and the model to ask it for, empty for the client's own choice.

    Raises UsageError if there is no such client, or the rest is no model's name.
    """
    program, _, wanted = model.removeprefix(PREFIX).partition(":")
    client = CLIENTS.get(program)
    if client is None:
        known = ", ".join(PREFIX + name for name in CLIENTS)
        remedy = "To let skilld choose: skilld config set model auto"
        raise UsageError(f"Unknown model {model}", f"skilld supports {known}", remedy)
    if wanted and not _MODEL.fullmatch(wanted):
        raise UsageError(f"Unknown model {model}", "the part after the second colon is not a model name")
    return client, wanted or client.model


def of_agent(agent: str) -> Client | None:
    """Return the command line of an agent, None if there is none that can be asked."""
    return next((client for client in CLIENTS.values() if client.agent == agent), None)


def find(program: str, environment: Mapping[str, str]) -> str | None:
    """Return the absolute path of a program, None if no absolute folder of PATH holds it."""
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    absolute = [folder for folder in folders if folder.startswith("/")]
    return shutil.which(program, path=os.pathsep.join(absolute)) if absolute else None


def needed(variable: str) -> bool:
    """Whether some client finds its settings or its login by an environment variable of this name."""
    return any(fnmatchcase(variable, pattern) for client in CLIENTS.values() for pattern in client.variables)
