"""The few settings that `status` shows, cached by the daemon once they are checked.

Reading them again means importing pydantic_settings, which takes longer than all the rest of `status`. What is kept
counts only for the same version, settings file and variables; the settings themselves are read in `settings` alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import __version__
from skilld.store import Store
from skilld.store.connection import StoreError
from skilld.store.meta import ACTIVE_SETTINGS

if TYPE_CHECKING:
    from skilld.settings import Settings

_PREFIX = "SKILLD_"
_NOT_SHOWN = frozenset({"SKILLD_MODEL_API_KEY", "SKILLD_MODEL_BASE_URL"})  # secrets: not even a digest of them is kept


@dataclass(frozen=True, slots=True)
class Limits:
    """What model calls may cost on one day, as `settings.Budget`."""

    calls: int
    tokens: int
    usd: float


@dataclass(frozen=True, slots=True)
class ShownSettings:
    """The settings that are shown."""

    model: str
    idle_minutes: float
    budget: Limits
    most_tokens: int = 0


def shown(settings: Settings) -> ShownSettings:
    """Return what is shown of the settings."""
    budget = Limits(**settings.budget.model_dump())
    return ShownSettings(settings.model, settings.batch.idle_minutes, budget, settings.limits.tokens)


def origin(file: Path, environment: Mapping[str, str]) -> str:
    """Return what tells one origin of settings from another; empty if that cannot be told.

    Take it before the settings are read: a file that changes meanwhile then only makes it useless. The time of the last
    change of its inode is part of it, since a file with other rights may be one that is refused.
    """
    try:
        facts = file.stat()
        stamp = [facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]
    except FileNotFoundError:
        stamp = []
    except OSError:
        return ""
    names = sorted(name for name in environment if name.upper().startswith(_PREFIX))
    variables = [(name, "" if name.upper() in _NOT_SHOWN else environment[name]) for name in names]
    return hashlib.sha256(json.dumps([__version__, stamp, variables]).encode()).hexdigest()


def keep(store: Store, settings: Settings, of: str) -> None:
    """Keep what is shown of settings whose origin is `of`. Nothing is lost where it cannot be written."""
    with suppress(StoreError):
        store.meta.set(ACTIVE_SETTINGS, {"origin": of, **asdict(shown(settings))})


def kept(store: Store, of: str) -> ShownSettings | None:
    """Return what was kept, where it is of this origin."""
    known = store.meta.get(ACTIVE_SETTINGS)
    if not of or known is None or known.pop("origin") != of:
        return None
    return ShownSettings(**{**known, "budget": Limits(**known["budget"])})
