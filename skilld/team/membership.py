"""The person's membership in the team of each repository, their name there, and what is known of the others.

Their settings say which teams they joined (`team.repositories`); the rest is in skilld's database. Nothing is read from
the repository.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from skilld.errors import SkilldError, UsageError
from skilld.store import Store
from skilld.store.meta import TEAMS
from skilld.team.records import is_person_name
from skilld.team.refs import Pin
from skilld.text import truncate, without_login
from skilld.values import value_class

_ADJECTIVES = (
    "amber brisk calm clear early eager fair fleet gentle keen lucid mellow merry noble plain quick quiet steady"
)
_ANIMALS = "badger crane dove eland finch gecko heron ibis jay koala lynx marten newt otter puffin raven seal wren"

_MAX_ERROR_CHARS = 300


@value_class
class Membership:
    """One person in one repository's team.

    `address` is the address of `remote` when they joined; its login is not stored. `quotes` and `open` say what they
    share besides accepted rules. From the last sync at `at` (Unix time), `present` has the commit of each person's
    records, `refused` why others were left out, `base` the commit of the default branch, `branch` its name, and
    `rules` the commit of the pull request's branch. `trouble` says why a later try failed. `asked_at` is when a pull
    request was last updated unasked.
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
        """The name of the folder with the copy of the remote's data."""
        return hashlib.sha256(f"{self.repo}\n{self.place}".encode()).hexdigest()[:16] + ".git"

    @property
    def place(self) -> str:
        """The address as it is shown and stored: without the login."""
        return without_login(self.address)

    def with_trouble(self, error: SkilldError) -> Membership:
        """Return the membership with the reason why a sync that nobody waited for failed."""
        return replace(self, trouble=truncate(str(error), _MAX_ERROR_CHARS))


def check_name(name: str) -> str:
    """Return a name that the person chose, or raise UsageError; one that does not identify anybody if it is empty."""
    if not name:
        return f"{secrets.choice(_ADJECTIVES.split())}-{secrets.choice(_ANIMALS.split())}-{secrets.token_hex(2)}"
    if not is_person_name(name):
        raise UsageError("Invalid name", name, "Use 2 to 40 lowercase letters, digits and single hyphens.")
    return name


def load(store: Store, repo: Path, joined: list[Path]) -> Membership | None:
    """Return the person's membership in the team of a repository; None if they did not join."""
    row = store.meta.get(TEAMS, {}).get(str(repo))
    return None if row is None or repo not in joined else from_row(row)


def save(store: Store, membership: Membership) -> None:
    """Store a membership."""
    with store.transaction():
        store.meta.set(TEAMS, store.meta.get(TEAMS, {}) | {membership.repo: to_row(membership)})


def from_row(row: Mapping[str, Any]) -> Membership:
    """Return the membership in a stored row."""
    return Membership(**{**row, "pins": {name: Pin(*pin) for name, pin in row["pins"].items()}})


def to_row(membership: Membership) -> dict[str, Any]:
    """Return a membership as a JSON-able value."""
    pins = {name: (pin.public, pin.serial, pin.tip) for name, pin in membership.pins.items()}
    return {**asdict(membership), "address": membership.place, "pins": pins}


def forget(store: Store, repo: str) -> None:
    """Delete a membership, with the keys of the others."""
    with store.transaction():
        store.meta.set(TEAMS, {name: row for name, row in store.meta.get(TEAMS, {}).items() if name != repo})


_URL_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/]+:")


def absolute_address(address: str, toplevel: Path) -> str:
    """Return the address of a remote so that it works from every folder."""
    if _URL_PATTERN.match(address) or Path(address).is_absolute():
        return address
    return str((toplevel / address).resolve())
