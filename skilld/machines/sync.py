"""One sync of a person's machines: fetch what the others know, add what changed here, push it, and take it over.

Each machine writes a ref of its own, with all that it knows: any machine may be lost, and none waits for another. It
is safe to be killed anywhere: what was pushed and not taken over yet is fetched again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skilld.errors import RefusedError
from skilld.exchange.outgoing import Check
from skilld.git.borrowed_repo import BorrowedRepo
from skilld.git.errors import LostRaceError
from skilld.git.run import shared_git
from skilld.machines.applying import ApplyResult, apply
from skilld.machines.gather import News, news
from skilld.machines.places import Places
from skilld.store import Store
from skilld.store.meta import MACHINES, ROOT_COMMITS
from skilld.team import refs, sign
from skilld.team.join import Membership, from_row, to_row
from skilld.team.refs import OWN, Found
from skilld.team.sync import Hub, push, seen

_TRIES = 5
_JOIN = "Not joined"


def load(store: Store, remote: str) -> Membership | None:
    """Return as what this machine takes part; None where the person did not join, or the settings name no remote."""
    row = store.meta.get(MACHINES)
    return None if row is None or not remote or row["address"] != remote else from_row(row)


def save(store: Store, membership: Membership) -> None:
    """Keep it."""
    with store.transaction():
        store.meta.set(MACHINES, to_row(membership))


def forget(store: Store) -> None:
    """Forget it, with all that the others told; what was decided here because of them stays decided."""
    with store.transaction():
        store.meta.delete(MACHINES)
        store.meta.delete(ROOT_COMMITS)
        store.machine_records.replace(())


def open_hub(
    membership: Membership, folder: Path, *, home: Path, removed: Mapping[str, str], env: Mapping[str, str]
) -> Hub:
    """Return what speaks to the remote; `folder` is where skilld keeps its copy of it."""
    borrowed = BorrowedRepo(folder / membership.folder, None, "sha1", removed)
    return Hub(borrowed, sign.find_key(borrowed.git, home), env, membership)


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What came of a sync: who this machine is now, who the others are, what was told and what changed here."""

    membership: Membership
    found: Found
    news: News
    applied: ApplyResult
    pushed: bool


def gathered(store: Store, places: Places, check: Check, found: Found) -> News:
    """Return what this machine would tell, and what all know then; nothing is sent or kept."""
    fetched = (record for one in found.members.values() for record in one.records)
    return news(store, places, check, store.machine_records.all(), fetched)


@shared_git()
def sync(hub: Hub, store: Store, places: Places, check: Check, *, first: bool = False) -> SyncResult:
    """Bring this machine and its ref up to what all know.

    `first` is for joining: a ref of that name that another key signed is somebody else's. Raises GitFailedError where
    the remote cannot be reached.
    """
    for tries_left in reversed(range(_TRIES)):
        found = fetch(hub)
        _check_name(hub, found, first=first)
        told = gathered(store, places, check, found)
        try:
            pushed = _push(hub, found, told)
        except LostRaceError:
            if not tries_left:
                raise
            continue
        applied = apply(store, places, told.records)
        now = seen(hub.membership, found)
        save(store, now)
        return SyncResult(now, found, told, applied, pushed)
    raise AssertionError


def fetch(hub: Hub) -> Found:
    """Return what the machines hold, checked."""
    one = hub.membership
    return refs.read(hub.borrowed, one.address, one.pins, hub.environment, form=OWN)


def _check_name(hub: Hub, found: Found, *, first: bool) -> None:
    own = hub.membership.person
    is_taken = own in found.refused or (own in found.members and found.members[own].public != hub.key.public)
    if first and is_taken:
        why = f", and what it sent was rejected: {found.refused[own]}" if own in found.refused else ""
        raise RefusedError(_JOIN, f"another machine is called {own}{why}", "Choose another name: --name NAME")


def _push(hub: Hub, found: Found, told: News) -> bool:
    """Write this machine's ref where it does not say all that is known; returns whether it did."""
    mine = found.members.get(hub.membership.person)
    records = tuple(told.records[at] for at in sorted(told.records))
    if mine is not None and mine.public == hub.key.public and {*mine.records} == {*records}:
        return False
    push(hub, found, mine, records)
    return True
