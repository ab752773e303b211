"""Which team the person belongs to, and under what name, in each repository; and what is known of the others.

That they joined stands in their own settings (`team.repositories`); the rest in skilld's database. Nothing of it is
read from the repository.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from skilld.errors import UsageError
from skilld.store import Store
from skilld.store.meta import TEAMS
from skilld.team.records import is_person
from skilld.team.refs import Pin

_SORTS = "amber brisk calm clear early eager fair fleet gentle keen lucid mellow merry noble plain quick quiet steady"
_BEASTS = "badger crane dove eland finch gecko heron ibis jay koala lynx marten newt otter puffin raven seal wren"


@dataclass(frozen=True, slots=True)
class Membership:
    """One person in one repository's team.

    `address` is where `remote` led when they joined. `quotes` and `open` say what they give away beyond accepted rules.
    `present` has the commit of each person's records as last checked, `refused` why others were left out, `base` the
    remote's default branch then, `branch` its name, `rules` the branch of the pull request; `at` is when (Unix time),
    `trouble` why a later try failed. `asked_at` is when a pull request was last brought up to date unasked.
    """

    repo: str
    remote: str
    address: str
    person: str
    quotes: bool = False
    open: bool = False
    pins: Mapping[str, Pin] = field(default_factory=dict)
    present: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    base: str = ""
    branch: str = ""
    rules: str = ""
    at: float = 0.0
    trouble: str = ""
    asked_at: float = 0.0

    @property
    def folder(self) -> str:
        """The name of the folder of the copy of what the remote has."""
        return hashlib.sha256(f"{self.repo}\n{self.address}".encode()).hexdigest()[:16] + ".git"


def random_name() -> str:
    """Return a name that says nothing of anybody."""
    return f"{secrets.choice(_SORTS.split())}-{secrets.choice(_BEASTS.split())}-{secrets.token_hex(2)}"


def checked_name(name: str) -> str:
    """Return a name that the person chose, or raise UsageError."""
    if not is_person(name):
        raise UsageError("Invalid name", name, "Use 4 to 40 lowercase letters, digits and single hyphens.")
    return name


def load(store: Store, repo: Path, joined: list[Path]) -> Membership | None:
    """Return the person's membership in the team of a repository; None where they did not join."""
    row = store.meta.get(TEAMS, {}).get(str(repo))
    return None if row is None or repo not in joined else from_row(row)


def save(store: Store, membership: Membership) -> None:
    """Keep a membership."""
    with store.transaction():
        store.meta.set(TEAMS, store.meta.get(TEAMS, {}) | {membership.repo: to_row(membership)})


def from_row(row: Mapping[str, Any]) -> Membership:
    """Return a membership as it was kept."""
    return Membership(**{**row, "pins": {name: Pin(*pin) for name, pin in row["pins"].items()}})


def to_row(membership: Membership) -> dict[str, Any]:
    """Return a membership as a JSON-able value."""
    pins = {name: (pin.public, pin.serial, pin.tip) for name, pin in membership.pins.items()}
    return {**asdict(membership), "pins": pins}


def forget(store: Store, repo: str) -> None:
    """Forget a membership, with the keys of the others."""
    with store.transaction():
        store.meta.set(TEAMS, {name: row for name, row in store.meta.get(TEAMS, {}).items() if name != repo})


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/]+:")


def absolute(address: str, toplevel: Path) -> str:
    """Return the address of a remote so that it means the same in every folder."""
    if _URL.match(address) or Path(address).is_absolute():
        return address
    return str((toplevel / address).resolve())
