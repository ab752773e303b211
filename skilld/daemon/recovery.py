"""After damage: the database opened whatever has become of it, and what it knew found again.

Rows that can be read are taken over, into the copy of the day or into a new database. What was said in the last day is
read again, since turn keys make that harmless; what was proposed is looked for in the repositories by a worker
(skilld/worker/recall.py), and until it is found no batch is judged. docs/decisions/0010-faults.md says why so.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import structlog

from skilld.daemon import jobs
from skilld.daemon.follow import Follower
from skilld.daemon.roots import Surroundings
from skilld.store import Store, damage
from skilld.store.connection import DamagedError, StoreError
from skilld.store.meta import LAST_ERROR
from skilld.store.rebuilding import Rebuilding
from skilld.times import rfc3339
from skilld.types import Outcome, State
from skilld.wire import proposal_from_json

log = structlog.get_logger()

_DAY = 86400.0
_LAST = 1 << 62  # turn of a session
_TRIES = 3  # of finding again what was proposed
_FOUND = "found again in git"


def open_store(path: Path, now: float) -> Store:
    """Open the database at `path`; a damaged one is moved aside and rebuilt. Only with the daemon's lock held.

    Raises SkilldError where it cannot be opened for another reason.
    """
    new = damage.rebuilt(path)
    if new.exists() and not path.exists():  # killed while it took the old one's place
        new.replace(path)
    written = damage.last_write(path)
    try:
        store = _sound(path)
    except DamagedError as error:
        store = _rebuild(path, Rebuilding(written - _DAY), now, str(error))
    keep_copy(store, now)
    return store


def keep_copy(store: Store, now: float) -> None:
    """Keep a copy of the database once a day."""
    copy = damage.copy_of(store.path)
    if not copy.exists() or not 0 <= now - copy.stat().st_mtime < _DAY:
        with suppress(StoreError):  # no room: the next time
            store.keep_copy()


def _sound(path: Path) -> Store:
    if path.exists() and not path.stat().st_size and damage.copy_of(path).exists():  # SQLite takes it for a new one
        raise DamagedError("The database is damaged", "it is empty")
    return Store.open_sound(path)


def _rebuild(path: Path, state: Rebuilding, now: float, why: str) -> Store:
    # The last of the four takes over nothing, so nothing that it takes over can make it fail.
    for from_copy, from_damaged in ((True, True), (True, False), (False, True), (False, False)):
        with suppress(DamagedError):
            if what := _built(path, state, from_copy=from_copy, from_damaged=from_damaged):
                break
    damage.replace(path, rfc3339(now).replace(":", ""))
    log.warning("database damaged and rebuilt", reason=what)
    store = Store.open(path)
    store.meta.set(LAST_ERROR, {"at": rfc3339(now), "message": f"{why}. It was moved aside: {what}."})
    return store


def _built(path: Path, state: Rebuilding, *, from_copy: bool, from_damaged: bool) -> str:
    """Build a new database; returns what of, empty without a copy. Raises DamagedError where it is not sound."""
    new = damage.begin(path, from_copy=from_copy)
    if new is None:
        return ""
    Store.open(new).close()
    rows = damage.salvage(path, new) if from_damaged else 0
    what = f"{rows} rows of it could be read" + ", and there was a copy" * from_copy
    store = _sound(new)
    store.rebuild.note(state)
    store.close()
    return what


def reread(store: Store, follower: Follower, now: float) -> None:
    """Have what was said since shortly before the damage read again."""
    state = store.rebuild.state
    if state is not None and not state.reread:
        follower.backfill(max(now - state.since, _DAY) / _DAY, now)
        store.rebuild.note(replace(state, reread=True))


def job(store: Store, around: Surroundings) -> dict[str, Any] | None:
    """Return the job of finding again what was proposed; None where nothing is being rebuilt."""
    if store.rebuild.state is None:
        return None
    paths = {proposal.path for proposal in store.proposals.in_states([*State])}
    for agent, session_id in store.rebuild.sessions_with_skills():
        usable, _ = jobs.skills(store, around, agent, session_id, [_LAST])
        paths |= {skill.path for skill in usable}
    facts = {"paths": sorted(paths), "folders": store.overview.projects()}
    return {"version": jobs.VERSION, "kind": "recall", "umask": around.umask} | facts


def record(store: Store, result: Mapping[str, Any], now: float) -> None:
    """Write down what was found again; after that batches are judged again."""
    state = store.rebuild.state
    if state is not None and "recalled" not in result and state.tries + 1 < _TRIES:
        store.rebuild.note(replace(state, tries=state.tries + 1))
        return
    waiting = {batch.id for batch in store.batches.waiting()}
    with store.transaction():
        for item in result.get("recalled", ()):
            proposal = proposal_from_json(item)
            store.proposals.add(replace(proposal, agent=store.rebuild.agent_of(proposal.session_id)))
            if proposal.batch_id in waiting:
                store.batches.finish(proposal.batch_id, Outcome.PROPOSED.value, _FOUND, rfc3339(now))
        store.rebuild.end()
