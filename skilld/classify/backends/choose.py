"""Which back-end works, and why: what is configured; else a local Ollama that answers; else offline.

Nothing leaves the machine until the person said so once: a provider's key or an agent's command line that is found is
named, never used unasked.
"""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from skilld.classify.backends import Spec

# Variables of providers, and a small model of each that fits this work.
PROVIDERS = {
    "ANTHROPIC_API_KEY": "anthropic/claude-haiku-4-5",
    "OPENAI_API_KEY": "openai/gpt-5-mini",
    "GEMINI_API_KEY": "gemini/gemini-2.5-flash",
    "OPENROUTER_API_KEY": "openrouter/google/gemini-2.5-flash",
    "MISTRAL_API_KEY": "mistral/mistral-small-latest",
}
_AGENT_COMMANDS = ("claude", "codex", "gemini", "opencode")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Choice:
    """The back-end that works, why, and what else was found on this machine."""

    spec: Spec
    why: str
    found: tuple[str, ...] = ()


def choose(
    model: str, base_url: str | None, api_key: str | None, seconds: float, environment: Mapping[str, str]
) -> Choice:
    """Return the back-end for the configured `model` (auto, offline, or a litellm model string)."""
    found = _found(environment)
    if model == "offline":
        return Choice(Spec("offline"), "you chose it", found)
    if model != "auto":
        return Choice(Spec(model, base_url, api_key, seconds), "you chose it", found)
    host = environment.get("OLLAMA_HOST", "") or "127.0.0.1:11434"
    if local := ollama_models(host):
        url = host if "//" in host else f"http://{host}"
        return Choice(Spec(f"ollama_chat/{local[0]}", url, None, seconds), "a local Ollama answers", found)
    return Choice(Spec("offline"), "nothing else is configured; it hears only explicit words", found)


def ollama_models(host: str) -> list[str]:
    """Return the models of the Ollama at `host`, none where it does not answer, or is not on this machine."""
    parts = urlsplit(host if "//" in host else f"//{host}")
    try:
        name, port = parts.hostname, parts.port or 11434
    except ValueError:
        return []
    if name not in _LOOPBACK:
        return []
    try:
        socket.create_connection((name, port), _SECONDS).close()
    except OSError:
        return []
    import http.client  # costs 20 ms, and only few people need it

    connection = http.client.HTTPConnection(name, port, timeout=_SECONDS)
    try:
        connection.request("GET", "/api/tags")
        response = connection.getresponse()
        body = json.loads(response.read(1 << 20)) if response.status == http.HTTPStatus.OK else {}
        return [str(entry["name"]) for entry in body["models"]]
    except (TimeoutError, OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return []
    finally:
        connection.close()


def _found(environment: Mapping[str, str]) -> tuple[str, ...]:
    keys = [
        f"{variable} is set; to use it: skilld config set model {model}"
        for variable, model in PROVIDERS.items()
        if environment.get(variable)
    ]
    commands = [
        f"the command {name} is installed; skilld cannot ask it yet" for name in _AGENT_COMMANDS if shutil.which(name)
    ]
    return tuple(keys + commands)
