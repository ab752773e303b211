"""Checks a model's name against the lists in litellm's package, which are read as files, without importing it.

The lists are as old as the package: newer models of a known provider are missing, but may well answer.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.classify.backends.agent_cli.clients import PREFIX
from skilld.classify.backends.choose import AGENT
from skilld.errors import UsageError
from skilld.values import value_class

_MODELS, _PROVIDERS = "model_prices_and_context_window_backup.json", "provider_endpoints_support_backup.json"
_CHAT_MODES = frozenset({"chat", "completion", "responses"})
_CUSTOM_MODEL_PROVIDERS = frozenset({"azure", "azure_ai", "ollama", "ollama_chat", "sagemaker"})


@value_class
class NameProblem:
    """What is wrong with a name; if `certain`, no provider can be asked by it."""

    what: str
    remedy: str
    certain: bool = True


def find_problem(model: str, *, own_server: bool = False) -> NameProblem | None:
    """Return the problem with a model's name at its provider's own endpoint, or at a server of the person's own."""
    found = _load_lists()
    if found is None:
        return None
    modes, providers = found
    provider, slash, name = model.partition("/")
    if own_server:
        known = provider in providers if slash else model in modes
        remedy = f"If your server is OpenAI-compatible, as most are: openai/{model}"
        return None if known else NameProblem(f"{model!r} does not name the API that your server speaks", remedy)
    if slash and provider not in providers:
        near = _suggestion(provider, providers)
        return NameProblem(
            f"unknown provider {provider!r}{near}",
            "For your own server: skilld setup openai/NAME --base-url URL",
        )
    if model in modes:
        if modes[model] in _CHAT_MODES:
            return None
        return NameProblem(f"{model} is a model for {modes[model].replace('_', ' ')}; it cannot answer questions", "")
    if not slash:
        remedy = (
            "Prefix it with the provider, as in openai/NAME. Your own server: skilld setup openai/NAME --base-url URL"
        )
        return NameProblem(f"unknown model {model!r}{_suggestion(model, modes)}", remedy)
    of_provider = [one.removeprefix(f"{provider}/") for one in modes if one.startswith(f"{provider}/")]
    if name in modes or not of_provider or provider in _CUSTOM_MODEL_PROVIDERS:
        return None
    return NameProblem(
        f"litellm's list of {provider} models does not include {name!r}{_suggestion(name, of_provider)}",
        "",
        certain=False,
    )


def check_name(model: str, *, own_server: bool) -> str:
    """Return a warning of a model's name that is merely unknown, else "". Raises UsageError for one that none takes."""
    if model in {"auto", OFFLINE, AGENT} or model.startswith(PREFIX):
        return ""
    found = find_problem(model, own_server=own_server)
    if found and found.certain:
        raise UsageError("Invalid value for model", found.what, found.remedy or "Choose another judge: skilld setup")
    return found.what if found else ""


def _suggestion(word: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f" (did you mean {found[0]}?)" if found else ""


def _load_lists() -> tuple[dict[str, str], set[str]] | None:
    """Return the mode of each model, by name with and without its provider, and the providers; None if unreadable."""
    spec = find_spec("litellm")
    try:
        folder = Path(spec.origin if spec and spec.origin else "").parent
        models = json.loads((folder / _MODELS).read_bytes())
        providers = set(json.loads((folder / _PROVIDERS).read_bytes())["providers"])
    except (OSError, ValueError, LookupError, TypeError):
        return None
    modes = {}
    for name, facts in models.items():
        provider, mode = str(facts.get("litellm_provider")), str(facts.get("mode"))
        modes[name] = mode
        if provider in providers:
            modes.setdefault(f"{provider}/{name.removeprefix(f'{provider}/')}", mode)
    return modes, providers
