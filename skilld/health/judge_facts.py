"""Gathers the facts of the back-end, and asks it a test question if that is wanted."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace

from skilld.agents import ADAPTERS
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.agent_cli.clients import CLIENTS, PREFIX, parse_model
from skilld.classify.backends.choose import AGENT, EXPLICIT_ONLY, PROVIDERS
from skilld.classify.backends.names import find_problem
from skilld.classify.question_jobs import TestBackend
from skilld.daemon.judges import judge_problems
from skilld.daemon.settings_cache import daemon_environment, daemon_settings
from skilld.files import find_program
from skilld.health.checks import STARTED_WITH
from skilld.health.values import Model, Trouble
from skilld.paths import private_dir
from skilld.protocol import Job
from skilld.service.values import lacking_keys
from skilld.settings import Settings, choose_back_end
from skilld.store import Store
from skilld.store.budget import TEST_QUESTION, Account
from skilld.store.corruption import missing_reason
from skilld.store.meta import DAEMON
from skilld.text import pluralize
from skilld.types import Outcome
from skilld.worker.spawn import Worker

_RETRY_REMEDY = "Try again later. If it still fails, check the settings: skilld config show"


def settings_in_use(settings: Settings, store: Store, *, running: bool) -> Settings:
    """Return a shell's settings, with the judge and the budget of the daemon if it is running."""
    theirs = daemon_settings(store) if running else None
    return settings.model_copy(update={"model": theirs.model, "budget": theirs.budget}) if theirs else settings


def judge_facts(
    settings: Settings, environment: Mapping[str, str], store: Store, now: float, *, running: bool, ask: bool
) -> Model:
    """Return the facts of the running daemon's back-end, or of the one that a shell's settings choose.

    They differ if the daemon was started with other variables. Then it is not asked, since its address and key are not
    known, and `why` has STARTED_WITH.
    """
    if not running:
        return model_facts(settings, environment, store, now, ask=ask)
    used, told = settings_in_use(settings, store, running=True), store.meta.get(DAEMON) or {}
    environment = daemon_environment(store, environment)
    keys = dict.fromkeys(told.get("keys", ()), "set")
    has_key, has_own = told.get("has_key"), settings.model_api_key or settings.model_base_url
    lacking = not has_own and (has_key or lacking_keys(keys, used.model, {"keys": [*filter(environment.get, keys)]}))
    if used.model == settings.model and not lacking:
        return model_facts(settings, environment, store, now, ask=ask)
    found = model_facts(used, {**environment, **keys}, store, now, ask=False)
    found = replace(found, missing=None) if has_key else found
    if used.model not in {"auto", AGENT}:
        return replace(found, why=STARTED_WITH)
    return found if found.why == EXPLICIT_ONLY else replace(found, why=f"{found.why}; {STARTED_WITH}")


def model_facts(settings: Settings, environment: Mapping[str, str], store: Store, now: float, *, ask: bool) -> Model:
    """Return the facts of the back-end. With `ask` a worker asks it one question, whose cost is booked."""
    key, url = settings.model_api_key, settings.model_base_url
    choice = choose_back_end(settings, environment)
    missing = _missing_requirement(choice.spec.model, environment, has_key=bool(key or url))
    specs = [choose_back_end(settings, environment, name).spec for name in ADAPTERS] if choice.agent else [choice.spec]
    asked = [spec for spec in specs if ask and missing is None and spec.model != OFFLINE]
    told: list[Trouble | str] = []
    if asked:
        with _books(store) as books:
            account = Account(books, settings.budget, TEST_QUESTION)
            told = [_test_model(spec, settings, environment, account, named=choice.agent) for spec in asked]
    troubles = [one for one in told if isinstance(one, Trouble)]
    answer = troubles[0] if troubles else ("; ".join(map(str, told)) or None)
    also = tuple(one for one in told if isinstance(one, str)) if troubles else ()
    absent = [*judge_problems(store, settings.model, environment, now)]
    agents = tuple((one.agent, Trouble(one.why, one.remedy)) for one in absent if not one.expected)
    unasked = tuple(one.agent for one in absent if one.expected)
    if choice.agent and not agents and all(spec.model == OFFLINE for spec in specs):
        why = f"judged without a model, because none of these is on PATH: {', '.join(CLIENTS)}"
        agents = (("Every session", Trouble(why, "Install one of them, or choose another judge: skilld setup")),)
    others: tuple[Trouble | str, ...] = (*troubles[1:], *also)
    day = store.usage.last_answer(choice.spec.model)
    return Model(choice.name, choice.why, choice.found, missing, answer, agents, unasked, others, day)


@contextmanager
def _books(store: Store) -> Iterator[Store]:
    """Give the store in which to book a call: a new database on disk if skilld has never run here."""
    if os.path.lexists(store.path) or missing_reason(store.path):
        yield store
        return
    private_dir(store.path.parent)
    with closing(Store.open(store.path)) as new:
        yield new


def _test_model(
    spec: Spec, settings: Settings, environment: Mapping[str, str], account: Account, *, named: bool
) -> Trouble | str:
    """Return the result of one test question, with the agent's name if `named`."""
    if spent := account.spent_limit():
        return Trouble(f"not tested because the budget is spent: {spent}", "skilld cost")
    told = _ask_model(spec, settings, environment, account)
    if not named:
        return told
    title = parse_model(spec.model)[0].title
    if isinstance(told, Trouble):
        return told if title in told.what else replace(told, what=f"{title}: {told.what}")
    return f"{title} answered a test question{told}"


def _missing_requirement(name: str, environment: Mapping[str, str], *, has_key: bool) -> Trouble | None:
    if name.startswith(PREFIX):
        client, _ = parse_model(name)
        remedy = f"Install {client.title}, or choose another judge: skilld setup"
        found = find_program(client.program, environment)
        return Trouble(f"{client.program} is not on PATH", remedy) if found is None else None
    if name != OFFLINE and not has_key and (problem := find_problem(name)) and problem.certain:
        return Trouble(problem.what, problem.remedy or "Choose another judge: skilld setup")
    provider = name.partition("/")[0]
    variables = [variable for variable, model in PROVIDERS.items() if model.partition("/")[0] == provider]
    if not variables or has_key or any(environment.get(variable) for variable in variables):
        return None
    own = f"; for another server: skilld setup {name} --base-url URL" if provider == "openai" else ""
    remedy = f"export {variables[0]}=KEY, or: skilld config set model_api_key -{own}"
    return Trouble(f"{variables[0]} is not set", remedy)


def _ask_model(spec: Spec, settings: Settings, env: Mapping[str, str], account: Account) -> Trouble | str:
    with Worker(env) as worker:
        result = worker.do(Job(TestBackend(spec), 0o077), settings.worker.seconds, charge=account.charge)
    if result.outcome is Outcome.NOTHING:
        return f" ({pluralize(result.usage.tokens_in + result.usage.tokens_out, 'token')})"
    return Trouble(result.detail, result.remedy or _RETRY_REMEDY)
