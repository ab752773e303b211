"""Caches the few settings that `status` shows, and that a running daemon uses; it stores them after checking them.

Reading the settings means importing pydantic_settings, which takes longer than the rest of `status`. The cache is only
valid for the same version, settings file and variables.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import __version__
from skilld.store import Store
from skilld.store.connection import StoreError
from skilld.store.meta import ACTIVE_SETTINGS, DAEMON
from skilld.values import value_class

if TYPE_CHECKING:
    from skilld.settings import Settings

_PREFIX = "SKILLD_"
_SECRET_VARIABLES = frozenset({"SKILLD_MODEL_API_KEY", "SKILLD_MODEL_BASE_URL"})  # not even a digest is kept


@value_class
class BudgetLimits:
    """The daily limits of model calls, as in `settings.Budget`."""

    calls: int
    tokens: int
    usd: float


@value_class
class ShownSettings:
    """The settings that `status` shows; of the model's endpoint no login, path or query."""

    model: str
    idle_minutes: float
    budget: BudgetLimits
    most_tokens: int = 0
    roots: Mapping[str, Sequence[str]] = field(default_factory=dict)  # folders of transcripts, by agent
    endpoint: str = ""


def shown_settings(settings: Settings) -> ShownSettings:
    """Return the shown part of the settings."""
    budget = BudgetLimits(**settings.budget.model_dump())
    roots = {agent: [str(one) for one in folders] for agent, folders in settings.roots.items()}
    from skilld.classify.backends.agent_cli.base import host_of  # not needed to read the cache

    host = host_of(settings.model_base_url or "")
    endpoint = f"https://{host}" if host else ""
    return ShownSettings(settings.model, settings.batch.idle_minutes, budget, settings.limits.tokens, roots, endpoint)


def settings_origin(file: Path, environment: Mapping[str, str]) -> str:
    """Return a digest of the origin of settings; empty if it is unknown.

    Call it before the settings are read, so that a change in between only makes the cache invalid. The inode's change
    time is included, because a file with other permissions may be refused.
    """
    try:
        facts = file.stat()
        stamp = [facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]
    except FileNotFoundError:
        stamp = []
    except OSError:
        return ""
    names = sorted(name for name in environment if name.upper().startswith(_PREFIX))
    variables = [(name, "" if name.upper() in _SECRET_VARIABLES else environment[name]) for name in names]
    return hashlib.sha256(json.dumps([__version__, stamp, variables]).encode()).hexdigest()


def store_settings(store: Store, settings: Settings, of: str) -> None:
    """Cache the shown part of settings with the origin `of`, if the store can be written."""
    with suppress(StoreError):
        store.meta.set(ACTIVE_SETTINGS, {"origin": of, **asdict(shown_settings(settings))})


def load_settings(store: Store, of: str) -> ShownSettings | None:
    """Return the cached settings if they are from this origin."""
    known = store.meta.get(ACTIVE_SETTINGS)
    return _decode(known) if of and known and known["origin"] == of else None


def daemon_settings(store: Store) -> ShownSettings | None:
    """Return the settings that the daemon started with or took up since, whatever this shell's variables say."""
    known = store.meta.get(ACTIVE_SETTINGS)
    return _decode(known) if known else None


def _decode(known: dict[str, Any]) -> ShownSettings:
    names = {one.name for one in fields(ShownSettings)}  # the daemon may be of another version
    shown = {name: value for name, value in known.items() if name in names}
    return ShownSettings(**{**shown, "budget": BudgetLimits(**known["budget"])})


# The variables that decide who judges and hold no secret: a daemon may have others than the shell that asks.
_JUDGE_VARIABLES = "PATH", "OLLAMA_HOST"


def judge_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a daemon that decide who judges; an address with a login is left out.

    A folder in PATH may have an at sign, such as `node@20`.
    """
    found = {name: value for name in _JUDGE_VARIABLES if (value := environment.get(name))}
    return {name: value for name, value in found.items() if name == "PATH" or "@" not in value}


def daemon_environment(store: Store, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return a shell's `environment`, in which the variables that decide who judges are the daemon's."""
    told: dict[str, str] | None = (store.meta.get(DAEMON) or {}).get("variables")
    if told is None:
        return environment
    return {**{name: value for name, value in environment.items() if name not in _JUDGE_VARIABLES}, **told}
