"""One sync of a person's machines: fetch the others' records, add what changed here, push it, and apply it.

Each machine writes a ref of its own with everything it knows: any machine may be lost, and none waits for another. A
sync can be killed anywhere: what was pushed but not applied yet is fetched again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from skilld.exchange.outgoing import LeakCheck
from skilld.git.session import shared_git
from skilld.machines.apply_remote import ApplyResult, apply_records
from skilld.machines.gather import GatherResult, gather_records
from skilld.machines.places import Places
from skilld.store import Store
from skilld.store.meta import MACHINES, ROOT_COMMITS
from skilld.team import refs
from skilld.team.membership import Membership, from_row, to_row
from skilld.team.records import Record
from skilld.team.refs import MACHINES_LAYOUT, ReadResult
from skilld.team.sync import Hub, exchange, with_members
from skilld.text import without_login
from skilld.values import value_class


def load(store: Store, remote: str) -> Membership | None:
    """Return this machine's membership; None if the person did not join, or the settings name no remote."""
    row = store.meta.get(MACHINES)
    if row is None or not remote or row["address"] not in {remote, without_login(remote)}:
        return None
    return replace(from_row(row), address=remote)


def save(store: Store, membership: Membership) -> None:
    """Store this machine's membership."""
    with store.transaction():
        store.meta.set(MACHINES, to_row(membership))


def forget(store: Store) -> None:
    """Delete this machine's membership and the others' records; decisions made because of them stay."""
    with store.transaction():
        store.meta.delete(MACHINES)
        store.meta.delete(ROOT_COMMITS)
        store.machine_records.replace(())


@value_class
class SyncResult:
    """The result of a sync: this machine's membership, the others, the records sent, and what changed here."""

    membership: Membership
    found: ReadResult
    news: GatherResult
    applied: ApplyResult
    pushed: bool


def gather(store: Store, places: Places, check: LeakCheck, found: ReadResult) -> GatherResult:
    """Return the records of all machines after a sync; nothing is sent or stored."""
    fetched = (record for one in found.members.values() for record in one.records)
    return gather_records(store, places, check, store.machine_records.all(), fetched)


@shared_git()
def sync(hub: Hub, store: Store, places: Places, check: LeakCheck, *, first: bool = False) -> SyncResult:
    """Update this machine and its ref with the records of all machines; see `exchange`."""
    news = GatherResult({}, {})

    def wanted(found: ReadResult) -> Iterator[Record]:
        nonlocal news
        news = gather(store, places, check, found)
        return (news.records[at] for at in sorted(news.records))

    found, pushed = exchange(hub, fetch, wanted, first=first)
    applied = apply_records(store, places, news.records)
    now = with_members(hub.membership, found)
    save(store, now)
    return SyncResult(now, found, news, applied, bool(pushed))


def fetch(hub: Hub) -> ReadResult:
    """Fetch and check the records of all machines."""
    one = hub.membership
    return refs.read_members(hub.borrowed, one.address, one.pins, hub.environment, form=MACHINES_LAYOUT)
