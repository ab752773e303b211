"""Chooses the back-end and says why: the configured one, else a local Ollama that answers, else offline.

With `agent` each session is judged by the agent that it was held with, and by no other.

Nothing leaves the machine until the person said so once: a provider's key or an agent's command line that is found is
named, never used unasked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.agent_cli.base import host_of
from skilld.classify.backends.agent_cli.clients import CLIENTS, PREFIX, chosen, find, of_agent

AGENT = "agent"  # the model string for: each session by its own agent

# Variables of providers, and a small model of each that fits this work.
PROVIDERS = {
    "ANTHROPIC_API_KEY": "anthropic/claude-haiku-4-5",
    "OPENAI_API_KEY": "openai/gpt-5-mini",
    "GEMINI_API_KEY": "gemini/gemini-2.5-flash",
    "OPENROUTER_API_KEY": "openrouter/google/gemini-2.5-flash",
    "MISTRAL_API_KEY": "mistral/mistral-small-latest",
}
# Where litellm reads a provider's address, the first that is set: of all others `PROVIDER_API_BASE` alone (1.106).
_ADDRESSES = {
    "ANTHROPIC": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
    "OPENAI": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
}
UNANSWERED = "recognizes only explicit wording; to choose a judge: skilld setup"
_EACH = "each agent judges its own sessions; everything else is judged offline"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_OLLAMA_PORT = 11434
_MODEL_NAME = re.compile(r"[\w.:/-]{1,200}", re.ASCII)
_CONNECT = 0.3  # seconds: on this machine somebody listens or nobody does
_ANSWER = 3.0  # seconds: what listens may be busy


@dataclass(frozen=True, slots=True)
class Choice:
    """The back-end that works, why, and what else was found on this machine.

    `remedy` is what to do where an agent that should judge cannot; `name` is what people know the choice by.
    """

    spec: Spec
    why: str
    found: tuple[str, ...] = ()
    remedy: str = ""
    agent: bool = False  # each session has one of its own

    @property
    def name(self) -> str:
        """What people know the choice by."""
        return AGENT if self.agent else self.spec.model


def choose(
    model: str,
    base_url: str | None,
    api_key: str | None,
    seconds: float,
    environment: Mapping[str, str],
    *,
    agent: str = "",
) -> Choice:
    """Return the back-end for the configured `model` (auto, agent, offline, cli:PROGRAM, or a litellm model string).

    `agent` is whose session it is about; with `model` "agent" and without one, nobody is asked.
    """
    if model == AGENT:
        return own(agent, seconds, environment) if agent else Choice(Spec(OFFLINE), _EACH, agent=True)
    if model == OFFLINE:
        return Choice(Spec(OFFLINE), "you chose it")
    if model != "auto":
        return Choice(Spec(model, base_url, api_key, seconds), "you chose it")
    found = _found(environment)
    if local := local_ollama(seconds, environment):
        return Choice(local, "found Ollama running on this machine", found)
    return Choice(Spec(OFFLINE), UNANSWERED, found)


def own(agent: str, seconds: float, environment: Mapping[str, str]) -> Choice:
    """Return the back-end for a session of `agent`: its own command line, or offline where there is none here."""
    client = of_agent(agent)
    if client is None:
        remedy = "To choose a model for all agents: skilld setup"
        return Choice(Spec(OFFLINE), "it has no command-line interface that skilld can call", remedy=remedy)
    if find(client.program, environment) is None:
        remedy = f"Start skilld with {client.program} on its PATH, or choose who judges: skilld setup"
        return Choice(Spec(OFFLINE), f"{client.program} is not on PATH", remedy=remedy)
    return Choice(Spec(PREFIX + client.program, seconds=seconds, or_offline=True), "uses its own login")


def address(model: str, base_url: str | None, environment: Mapping[str, str]) -> str:
    """Return the host that a model is asked at, and the variable that says so; empty: the provider's own.

    A password in an address is not shown.
    """
    if model.startswith(PREFIX):
        return chosen(model)[0].address(environment)
    provider = model.partition("/")[0].upper()
    names = _ADDRESSES.get(provider, (f"{provider}_API_BASE",))
    if base_url:
        return host_of(base_url)
    named = ((host_of(environment.get(name, "")), name) for name in names)
    return next((f"{host} ({name})" for host, name in named if host), "")


def local_ollama(seconds: float, environment: Mapping[str, str]) -> Spec | None:
    """Return the first model of the Ollama on this machine, None if none answers."""
    ollama = _ollama_address(environment.get("OLLAMA_HOST", ""))
    if ollama and (local := ollama_models(*ollama)):
        name, port = ollama
        url = f"http://{f'[{name}]' if ':' in name else name}:{port}"
        return Spec(f"ollama_chat/{local[0]}", url, None, seconds)
    return None


def ollama_models(name: str, port: int) -> list[str]:
    """Return the models that can talk of the Ollama at a loopback address; none if it does not answer."""
    import socket

    try:
        socket.create_connection((name, port), _CONNECT).close()
    except OSError:
        return []
    import http.client  # costs 20 ms, and only few people need it

    connection = http.client.HTTPConnection(name, port, timeout=_ANSWER)
    try:
        connection.request("GET", "/api/tags")
        response = connection.getresponse()
        body = json.loads(response.read(1 << 20)) if response.status == http.HTTPStatus.OK else {}
        return [entry["name"] for entry in body["models"] if _can_talk(entry)]
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []
    finally:
        connection.close()


def _can_talk(entry: Mapping[str, Any]) -> bool:
    """Whether a model of Ollama's list answers in words; those that only embed are listed next to the others."""
    family = str((entry.get("details") or {}).get("family", ""))
    return bool(_MODEL_NAME.fullmatch(entry["name"])) and "embed" not in entry["name"] and "bert" not in family


def _ollama_address(host: str) -> tuple[str, int] | None:
    """Return name and port of OLLAMA_HOST as Ollama reads it, None if they are not of this machine.

    It is also what the server listens on: an empty or wildcard address means this machine.
    """
    try:
        parts = urlsplit(host if "//" in host else f"//{host}")
        name, port = parts.hostname or "127.0.0.1", parts.port or _OLLAMA_PORT
    except ValueError:
        return None
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)  # noqa: S104 - nothing listens here
    return (name, port) if name in _LOOPBACK and parts.scheme in {"", "http"} else None


def _found(environment: Mapping[str, str]) -> tuple[str, ...]:
    keys = [
        f"{variable} is set; to use it: skilld config set model {model}"
        for variable, model in PROVIDERS.items()
        if environment.get(variable)
    ]
    here = [client.title for program, client in CLIENTS.items() if find(program, environment)]
    how = f"to have each agent judge its own sessions, through its own login: skilld setup {AGENT}"
    return (*keys, *([f"found {', '.join(here)}; {how}"] if here else []))
