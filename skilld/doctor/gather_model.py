"""Facts about the back-end: which one works, what it lacks, and, where the person wants it, whether it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.agent_cli.clients import PREFIX, chosen, find
from skilld.classify.backends.choose import PROVIDERS
from skilld.daemon.backend import choice_of
from skilld.daemon.budget import why_spent
from skilld.daemon.spawn import Worker
from skilld.doctor.values import Model, Trouble
from skilld.settings import Settings
from skilld.store import Store
from skilld.times import day
from skilld.types import Outcome, Usage

_RETRY = "Try again in a while; if it stays so: skilld config show"


def model(settings: Settings, environment: Mapping[str, str], store: Store | None, now: float, *, ask: bool) -> Model:
    """Return the facts. With `ask` one question is asked, by a worker as every other, and booked."""
    key, url = settings.model_api_key, settings.model_base_url
    choice = choice_of(settings, environment)
    name = choice.spec.model
    lacks = _lacks(name, environment, has_key=bool(key or url))
    answer: Trouble | str | None = None
    if ask and lacks is None and name != OFFLINE:
        spent = why_spent(store.usage.on(day(now)), settings.budget) if store else ""
        why = f"it was not asked: the budget is spent: {spent}"
        answer = Trouble(why, "skilld cost") if spent else _asked(choice.spec, settings, environment, store, now)
    return Model(name, choice.why, choice.found, lacks, answer)


def _lacks(name: str, environment: Mapping[str, str], *, has_key: bool) -> Trouble | None:
    if name.startswith(PREFIX):
        client, _ = chosen(name)
        if find(client.program, environment) is None:
            return Trouble(
                f"{client.program} is not on PATH", f"Install {client.title}, or: skilld config set model auto"
            )
        return None
    provider = name.partition("/")[0]
    variables = [variable for variable, model in PROVIDERS.items() if model.partition("/")[0] == provider]
    if not variables or has_key or any(environment.get(variable) for variable in variables):
        return None
    return Trouble(f"{variables[0]} is not set", f"export {variables[0]}=..., or: skilld config set model_api_key KEY")


def _asked(
    spec: Spec, settings: Settings, environment: Mapping[str, str], store: Store | None, now: float
) -> Trouble | str:
    worker = Worker({"kind": "ask", "umask": 0o077, "backend": asdict(spec)}, environment, settings.worker.seconds)
    result = worker.result(lambda _: None)
    usage = Usage(**result.get("usage", {}))
    if store is not None:
        store.usage.add(day(now), spec.model, "", usage)
    if result["outcome"] == Outcome.NOTHING.value:
        return f" ({usage.tokens_in + usage.tokens_out} tokens)"
    return Trouble(str(result.get("detail", "")), str(result.get("remedy", "")) or _RETRY)
