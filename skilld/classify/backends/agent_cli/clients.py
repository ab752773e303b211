"""The agents whose command lines can be asked: one module and one line here each.

Model strings are `cli:PROGRAM` and `cli:PROGRAM:MODEL`. Runs nothing, so that the daemon can import it without the
prompts and parsers, which only workers need.
"""

from __future__ import annotations

import re
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

_MODEL_NAME = re.compile(r"[\w.\[][\w.:/@+\[\]-]*", re.ASCII)  # never an option


def parse_model(model: str) -> tuple[Client, str]:
    """Return the client and the model in a model string; an empty model is the client's own choice.

    Raises UsageError if there is no such client, or the rest is not a model name.
    """
    program, _, wanted = model.removeprefix(PREFIX).partition(":")
    client = CLIENTS.get(program)
    if client is None:
        known = ", ".join(PREFIX + name for name in CLIENTS)
        remedy = "To let skilld choose: skilld config set model auto"
        raise UsageError(f"Unknown model {model}", f"skilld supports {known}", remedy)
    if wanted and not _MODEL_NAME.fullmatch(wanted):
        raise UsageError(f"Unknown model {model}", "the part after the second colon is not a model name")
    return client, wanted or client.model


def client_of(agent: str) -> Client | None:
    """Return the command line of an agent, or None."""
    return next((client for client in CLIENTS.values() if client.agent == agent), None)


def is_client_variable(variable: str) -> bool:
    """Whether some client finds its settings or its login by an environment variable of this name."""
    return any(fnmatchcase(variable, pattern) for client in CLIENTS.values() for pattern in client.variables)
