"""Opens the database in any state, and recovers its content after damage.

It is compared with its journal, its newest copy and the proposals' refs in git; if it has less than one of them, it is
rebuilt from all of them. The last day's turns are read again, which is harmless because of the turn keys; a worker
looks for proposals in the repositories (skilld/proposals/recover_from_git.py), and until then no batch is judged.
docs/decisions/0010-faults.md and 0033-journal.md explain why.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from skilld.clock import rfc3339
from skilld.daemon import job_builder
from skilld.git.staging_branch import PROPOSAL_REFS
from skilld.git.state import dirs_at, packed_refs
from skilld.ingest.discover import Host
from skilld.ingest.follow import Follower
from skilld.logs import get_logger
from skilld.protocol import RecoverProposals, RecoveryResult, Result
from skilld.store import Store, corruption, rebuild
from skilld.store.connection import DamagedError, StoreError, damage_error, is_access_error
from skilld.store.database import RebuildState
from skilld.store.journal import journal_of, tail
from skilld.store.meta import INSTALLED_AT, LAST_ERROR, LAST_REBUILD
from skilld.text import pluralize
from skilld.types import State

log = get_logger()

_DAY_SECONDS = 86400.0
_LAST_TURN = 1 << 62
_MAX_TRIES = 3  # to recover proposals


def open_store(path: Path, now: float) -> Store:
    """Open the database at `path`, rebuilding it if it is damaged, gone or replaced. Requires the daemon's lock.

    Raises SkilldError if it cannot be opened for another reason.
    """
    ready = corruption.rebuilt_path(path)
    if ready.exists() and not os.path.lexists(path):  # killed while replacing the old one
        ready.replace(path)
    try:
        store = _open_undamaged(path)
    except DamagedError as error:
        store = _rebuild(path, now, error)
    there = tail(journal_of(path))
    if there is None or there.place != store.place:
        store.compact()
    save_daily_copy(store, now)
    if store.rebuild.state is None and _has_unknown_proposals(store):
        store.rebuild.save(RebuildState(now, reread=True, damaged=False))
    return store


def save_daily_copy(store: Store, now: float) -> None:
    """Save a copy of the database once a day if it has changed, and while it is young whenever it has doubled."""
    copy, here = corruption.copy_path(store.path), store.place
    kept = corruption.summary(copy) if copy.exists() else None
    old = kept is None or not 0 <= now - copy.stat().st_mtime < _DAY_SECONDS
    if here is None or (kept is not None and kept.place == here):
        return
    number = kept.place.number if kept is not None and kept.place else 0
    if old or here.number >= 2 * number:
        with suppress(StoreError, OSError):  # such as a full disk: try again the next time
            store.save_copy(rotate=old)


def _open_undamaged(path: Path) -> Store:
    corruption.restore_access(path)
    try:
        store = Store.open_checked(path)
    except DamagedError:
        raise
    except StoreError as error:
        if not is_access_error(error) or not os.path.lexists(path):
            raise
        raise damage_error(error.cause) from error
    kept = next(filter(None, map(corruption.summary, corruption.existing_copies(path))), None)
    here = corruption.summary(path)
    if kept is not None and here is not None and kept.is_ahead_of(here):
        store.close()
        raise damage_error("it is older than its backup copy")
    return store


def _rebuild(path: Path, now: float, error: DamagedError) -> Store:
    was_there = os.path.lexists(path)
    try:
        built = rebuild.build(path)
        rebuild.put_in_place(path, rfc3339(now).replace(":", ""), built)
    except OSError as trouble:
        raise StoreError("Could not rebuild the database", f"{trouble.filename}: {trouble.strerror}") from trouble
    log.warning("database rebuilt", reason=built.what)
    store = Store.open(path)
    since = min(built.written, now) - _DAY_SECONDS
    # Nothing from before skilld's installation is read, if its time is known.
    store.rebuild.save(RebuildState(max(since, store.meta.get(INSTALLED_AT, since)), consistent=built.consistent))
    store.meta.set(LAST_REBUILD, {"at": rfc3339(now), "why": error.cause or str(error), "from": built.what})
    done = "moved aside and rebuilt" if was_there else "rebuilt"
    store.meta.set(LAST_ERROR, {"at": rfc3339(now), "message": f"{error}. The database was {done} from {built.what}."})
    return store


def _has_unknown_proposals(store: Store) -> bool:
    """Whether a repository has a ref of a proposal that is not in the database."""
    return any(
        store.proposals.get(name) is None
        for repo in store.proposals.repos()
        for name in _proposal_refs(Path(repo))
        if not name.endswith(".lock")
    )


def _proposal_refs(repo: Path) -> set[str]:
    """Return the ids of the proposals with refs in a repository, from its files; none if it is gone."""
    found: set[str] = set()
    with suppress(OSError, ValueError):
        _, common = dirs_at(repo)
        with suppress(FileNotFoundError):
            found |= {path.name for path in (common / PROPOSAL_REFS).iterdir()}
        found |= {name.removeprefix(PROPOSAL_REFS) for name in packed_refs(common) if name.startswith(PROPOSAL_REFS)}
    return found


def reread_recent(store: Store, follower: Follower, now: float) -> None:
    """Reread what was said since shortly before the damage, and nothing older of unknown transcripts."""
    state = store.rebuild.state
    if state is not None and not state.reread:
        with store.transaction():
            follower.backfill(max(now - state.since, 0.0) / _DAY_SECONDS, now, known=not state.consistent)
            follower.skip_to_end()
            store.rebuild.save(replace(state, reread=True))


def recovery_job(store: Store, host: Host, now: float) -> RecoverProposals | None:
    """Return the job that recovers proposals; None while paused, or if nothing is being rebuilt."""
    if store.rebuild.state is None or store.meta.paused(now):
        return None
    paths = {proposal.path for proposal in store.proposals.in_states([*State])}
    for agent, session_id in store.rebuild.sessions_with_skills():
        usable, _ = job_builder.skills_in_use(store, host, agent, session_id, [_LAST_TURN])
        paths |= {skill.path for skill in usable}
    return RecoverProposals(tuple(sorted(paths)), tuple(store.overview.projects()))


def record_recovery(store: Store, result: Result, now: float) -> None:
    """Record the recovered proposals; afterwards batches are judged again."""
    state = store.rebuild.state
    if state is not None and not isinstance(result, RecoveryResult) and state.tries + 1 < _MAX_TRIES:
        store.rebuild.save(replace(state, tries=state.tries + 1))
        return
    waiting = {batch.id for batch in store.batches.waiting()}
    found = 0
    with store.transaction():
        for proposal in result.proposals if isinstance(result, RecoveryResult) else ():
            # A batch that is still to be judged will make its open proposals again.
            if proposal.state is not State.OPEN or proposal.batch_id not in waiting:
                agent = store.rebuild.agent_of(proposal.session_id)
                found += store.proposals.add(replace(proposal, agent=agent))
        if found:
            last = store.meta.get(LAST_REBUILD) if state is not None and state.damaged else None
            why = f"git contained {pluralize(found, 'proposal')} missing from the database"
            facts = {**last, "from": f"{last['from']} and git"} if last else {"why": why, "from": "git"}
            store.meta.set(LAST_REBUILD, {"at": rfc3339(now), **facts})
        store.rebuild.end()
