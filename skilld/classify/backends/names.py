"""Whether litellm can know a model's name, from the lists in its package: read as files, nothing imported.

The lists are as old as the package. A model that a known provider brought out since is not there, and may well answer.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

_MODELS, _PROVIDERS = "model_prices_and_context_window_backup.json", "provider_endpoints_support_backup.json"
_ANSWERS = frozenset({"chat", "completion", "responses"})
_SERVES_WHAT_PEOPLE_PUT_THERE = frozenset({"azure", "azure_ai", "ollama", "ollama_chat", "sagemaker"})


@dataclass(frozen=True, slots=True)
class Doubt:
    """What is wrong with a name; where it is `certain`, no provider can be asked by it."""

    what: str
    remedy: str
    certain: bool = True


def doubt(model: str) -> Doubt | None:
    """Return what is wrong with the name of a model at its provider's own endpoint; None if nothing is."""
    found = _lists()
    if found is None:
        return None
    modes, providers = found
    provider, slash, name = model.partition("/")
    if slash and provider not in providers:
        near = _near(provider, providers)
        return Doubt(f"unknown provider {provider!r}{near}", "To use a server of your own, set model_base_url first.")
    if model in modes:
        if modes[model] in _ANSWERS:
            return None
        return Doubt(f"{model} is a model for {modes[model].replace('_', ' ')}; it cannot answer questions", "")
    if not slash:
        remedy = (
            "Prefix it with the provider, as in openai/NAME. To use a server of your own, set model_base_url first."
        )
        return Doubt(f"unknown model {model!r}{_near(model, modes)}", remedy)
    of_provider = [one.removeprefix(f"{provider}/") for one in modes if one.startswith(f"{provider}/")]
    if name in modes or not of_provider or provider in _SERVES_WHAT_PEOPLE_PUT_THERE:
        return None
    return Doubt(
        f"litellm's list of {provider} models does not include {name!r}{_near(name, of_provider)}", "", certain=False
    )


def _near(word: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f" (did you mean {found[0]}?)" if found else ""


def _lists() -> tuple[dict[str, str], set[str]] | None:
    """Return what each model is for, by name with and without its provider, and the providers; None if unreadable."""
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
