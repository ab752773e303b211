"""Chooses the back-end and says why: the configured one, or a local Ollama that answers, or offline.

With `agent` each session is judged only by its own agent. Nothing leaves the machine until the person has said so once:
a provider's key or an agent's command line that is found is only mentioned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.agent_cli.base import host_of
from skilld.classify.backends.agent_cli.clients import CLIENTS, PREFIX, client_of, parse_model
from skilld.files import find_program
from skilld.values import value_class

AGENT = "agent"  # the model string for judging each session by its own agent

# Variables of providers, and a suitable small model of each.
PROVIDERS = {
    "ANTHROPIC_API_KEY": "anthropic/claude-haiku-4-5",
    "OPENAI_API_KEY": "openai/gpt-5-mini",
    "GEMINI_API_KEY": "gemini/gemini-2.5-flash",
    "OPENROUTER_API_KEY": "openrouter/google/gemini-2.5-flash",
    "MISTRAL_API_KEY": "mistral/mistral-small-latest",
}
# The variables in which litellm looks for a provider's address, in order; for others only `PROVIDER_API_BASE` (1.106).
_URLS = {"ANTHROPIC": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"), "OPENAI": ("OPENAI_BASE_URL", "OPENAI_API_BASE")}
EXPLICIT_ONLY = "recognizes only explicit wording; to choose a judge: skilld setup"
_OWN_AGENTS = "each agent judges its own sessions; everything else is judged offline"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_OLLAMA_PORT = 11434
_MODEL_NAME = re.compile(r"[\w.:/-]{1,200}", re.ASCII)
_CONNECT_SECONDS = 0.3  # enough on the same machine
_ANSWER_SECONDS = 3.0  # the server may be busy


@value_class
class Choice:
    """The chosen back-end, the reason, and alternatives found on this machine.

    `remedy` says what to do if an agent that should judge cannot; `name` is the choice's name for people.
    """

    spec: Spec
    why: str
    found: tuple[str, ...] = ()
    remedy: str = ""
    agent: bool = False  # each session is judged by its own agent

    @property
    def name(self) -> str:
        """The choice's name for people."""
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

    `agent` is the agent of the session; with `model` "agent" and without one, nobody is asked.
    """
    if model == AGENT:
        return (
            choose_for_agent(agent, seconds, environment) if agent else Choice(Spec(OFFLINE), _OWN_AGENTS, agent=True)
        )
    if model == OFFLINE:
        return Choice(Spec(OFFLINE), "you chose it")
    if model != "auto":
        at = f", at {host_of(base_url)}" if base_url and not model.startswith(PREFIX) else ""
        return Choice(Spec(model, base_url, api_key, seconds), f"you chose it{at}")
    found = _list_alternatives(environment)
    if local := local_ollama(seconds, environment):
        return Choice(local, "found Ollama running on this machine", found)
    return Choice(Spec(OFFLINE), EXPLICIT_ONLY, found)


def choose_for_agent(agent: str, seconds: float, environment: Mapping[str, str]) -> Choice:
    """Return the back-end for a session of `agent`: its own command line, or offline if there is none."""
    client = client_of(agent)
    if client is None:
        remedy = "To choose a model for all agents: skilld setup"
        return Choice(Spec(OFFLINE), "skilld cannot ask this agent yet", remedy=remedy)
    if find_program(client.program, environment) is None:
        remedy = f"Start skilld with {client.program} on its PATH, or choose who judges: skilld setup"
        return Choice(Spec(OFFLINE), f"{client.program} is not on PATH", remedy=remedy)
    return Choice(Spec(PREFIX + client.program, seconds=seconds, or_offline=True), "uses its own login")


def model_address(model: str, base_url: str | None, environment: Mapping[str, str]) -> str:
    """Return the host to which requests are sent, and the variable that sets it; empty for the provider's own.

    A password in an address is not shown.
    """
    if model.startswith(PREFIX):
        return parse_model(model)[0].address(environment)
    provider = model.partition("/")[0].upper()
    names = _URLS.get(provider, (f"{provider}_API_BASE",))
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
    """Return the chat models of the Ollama at a loopback address; none if it does not answer."""
    import socket

    try:
        socket.create_connection((name, port), _CONNECT_SECONDS).close()
    except OSError:
        return []
    import http.client  # costs 20 ms, and only few people need it

    connection = http.client.HTTPConnection(name, port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/api/tags")
        response = connection.getresponse()
        body = json.loads(response.read(1 << 20)) if response.status == http.HTTPStatus.OK else {}
        return [entry["name"] for entry in body["models"] if _is_chat_model(entry)]
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []
    finally:
        connection.close()


def _is_chat_model(entry: Mapping[str, Any]) -> bool:
    """Whether a model in Ollama's list can chat; it also lists models that only embed."""
    family = str((entry.get("details") or {}).get("family", ""))
    return bool(_MODEL_NAME.fullmatch(entry["name"])) and "embed" not in entry["name"] and "bert" not in family


def _ollama_address(host: str) -> tuple[str, int] | None:
    """Return name and port of OLLAMA_HOST as Ollama reads it, None if they are not on this machine.

    The server listens on the same address: an empty or wildcard one means this machine.
    """
    try:
        parts = urlsplit(host if "//" in host else f"//{host}")
        name, port = parts.hostname or "127.0.0.1", parts.port or _OLLAMA_PORT
    except ValueError:
        return None
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)  # noqa: S104 - nothing listens here
    return (name, port) if name in _LOOPBACK and parts.scheme in {"", "http"} else None


def _list_alternatives(environment: Mapping[str, str]) -> tuple[str, ...]:
    keys = [
        f"{variable} is set; to use it: skilld config set model {model}"
        for variable, model in PROVIDERS.items()
        if environment.get(variable)
    ]
    here = [client.title for program, client in CLIENTS.items() if find_program(program, environment)]
    how = f"to have each agent judge its own sessions, through its own login: skilld setup {AGENT}"
    return (*keys, *([f"found {', '.join(here)}; {how}"] if here else []))
