"""After damage: opens the database whatever its state, and recovers what it knew.

It is compared with its journal, with the newest copy and with the refs of proposals in git; where it knows less than
one of them it is put together again from all there is. What was said in the last day is read again, since turn keys
make that harmless; what was proposed is looked for in the repositories by a worker
(skilld/proposals/recover_from_git.py), and until then no batch is judged. docs/decisions/0010-faults.md and
0033-journal.md say why so.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from skilld.clock import rfc3339
from skilld.daemon import jobs
from skilld.git.staging_branch import PROPOSAL_REFS
from skilld.ingest.discover import Host
from skilld.ingest.follow import Follower
from skilld.logs import get_logger
from skilld.protocol import RecoverProposals, RecoveryResult, Result
from skilld.store import Store, corruption
from skilld.store.connection import DamagedError, StoreError, damage_error, is_access_error
from skilld.store.database import RebuildState
from skilld.store.journal import journal_of, tail
from skilld.store.meta import INSTALLED_AT, LAST_ERROR, LAST_REBUILD
from skilld.text import counted
from skilld.types import State

log = get_logger()

_DAY = 86400.0
_LAST = 1 << 62  # turn of a session
_TRIES = 3  # of finding again what was proposed


def open_store(path: Path, now: float) -> Store:
    """Open the database at `path`; one that is damaged, gone or another is rebuilt. Only with the daemon's lock held.

    Raises SkilldError if it cannot be opened for another reason.
    """
    ready = corruption.rebuilt_path(path)
    if ready.exists() and not os.path.lexists(path):  # killed while it took the old one's place
        ready.replace(path)
    try:
        store = _sound(path)
    except DamagedError as error:
        store = _rebuilt(path, now, error)
    there = tail(journal_of(path))
    if there is None or there.place != store.place:
        store.compact()
    keep_copy(store, now)
    if store.rebuild.state is None and _unknown_in_git(store):
        store.rebuild.save(RebuildState(now, reread=True, damaged=False))
    return store


def keep_copy(store: Store, now: float) -> None:
    """Keep a copy of the database once a day where it has changed, while it is young whenever it has grown to twice."""
    copy, here = corruption.copy_path(store.path), store.place
    kept = corruption.summary(copy) if copy.exists() else None
    old = kept is None or not 0 <= now - copy.stat().st_mtime < _DAY
    if here is None or (kept is not None and kept.place == here):
        return
    number = kept.place.number if kept is not None and kept.place else 0
    if old or here.number >= 2 * number:
        with suppress(StoreError, OSError):  # no room: the next time
            store.save_copy(rotate=old)


def _sound(path: Path) -> Store:
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


def _rebuilt(path: Path, now: float, error: DamagedError) -> Store:
    from skilld.store import rebuild

    was_there = os.path.lexists(path)
    try:
        built = rebuild.build(path)
        rebuild.put_in_place(path, rfc3339(now).replace(":", ""), built)
    except OSError as trouble:
        raise StoreError("Could not rebuild the database", f"{trouble.filename}: {trouble.strerror}") from trouble
    log.warning("database rebuilt", reason=built.what)
    store = Store.open(path)
    since = min(built.written, now) - _DAY
    # What was said before skilld came counts no more than it did; where nobody knows when it came, all of it does.
    store.rebuild.save(RebuildState(max(since, store.meta.get(INSTALLED_AT, since)), consistent=built.consistent))
    store.meta.set(LAST_REBUILD, {"at": rfc3339(now), "why": error.cause or str(error), "from": built.what})
    done = "moved aside and rebuilt" if was_there else "rebuilt"
    store.meta.set(LAST_ERROR, {"at": rfc3339(now), "message": f"{error}. The database was {done} from {built.what}."})
    return store


def _unknown_in_git(store: Store) -> bool:
    """Whether a repository has a proposal on a ref of its own that the database does not know of."""
    return any(
        store.proposals.get(name) is None
        for repo in store.proposals.repos()
        for name in _hung(Path(repo))
        if not name.endswith(".lock")
    )


def _hung(repo: Path) -> set[str]:
    """Return the ids of the proposals that hang on refs of a repository, as its files tell; none if it is gone."""
    found: set[str] = set()
    git = repo / ".git"
    with suppress(OSError, UnicodeDecodeError):
        if git.is_file():
            git = repo / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
            common = git / "commondir"
            git = git / common.read_text(encoding="utf-8").strip() if common.is_file() else git
        elif not git.is_dir():
            git = repo  # one of skilld's own
        with suppress(FileNotFoundError):
            found |= {path.name for path in (git / PROPOSAL_REFS).iterdir()}
        with (git / "packed-refs").open(encoding="utf-8", errors="replace") as lines:
            packed = [line.split()[-1] for line in lines if f" {PROPOSAL_REFS}" in line]
            found |= {name.removeprefix(PROPOSAL_REFS) for name in packed}
    return found


def reread(store: Store, follower: Follower, now: float) -> None:
    """Have what was said since shortly before the damage read again, and nothing older of unknown transcripts."""
    state = store.rebuild.state
    if state is not None and not state.reread:
        with store.transaction():
            follower.backfill(max(now - state.since, 0.0) / _DAY, now, known=not state.consistent)
            follower.skip_to_end()
            store.rebuild.save(replace(state, reread=True))


def job(store: Store, around: Host) -> RecoverProposals | None:
    """Return the job of finding again what was proposed; None if nothing is being rebuilt."""
    if store.rebuild.state is None:
        return None
    paths = {proposal.path for proposal in store.proposals.in_states([*State])}
    for agent, session_id in store.rebuild.sessions_with_skills():
        usable, _ = jobs.skills(store, around, agent, session_id, [_LAST])
        paths |= {skill.path for skill in usable}
    return RecoverProposals(tuple(sorted(paths)), tuple(store.overview.projects()))


def record(store: Store, result: Result, now: float) -> None:
    """Write down what was found again; after that batches are judged again."""
    state = store.rebuild.state
    if state is not None and not isinstance(result, RecoveryResult) and state.tries + 1 < _TRIES:
        store.rebuild.save(replace(state, tries=state.tries + 1))
        return
    waiting = {batch.id for batch in store.batches.waiting()}
    found = 0
    with store.transaction():
        for proposal in result.proposals if isinstance(result, RecoveryResult) else ():
            # A batch that is still to be judged finds its own again, and what else it held with it.
            if proposal.state is not State.OPEN or proposal.batch_id not in waiting:
                agent = store.rebuild.agent_of(proposal.session_id)
                found += store.proposals.add(replace(proposal, agent=agent))
        if found:
            known = store.meta.get(LAST_REBUILD) if state is not None and state.damaged else None
            why = f"git contained {counted(found, 'proposal')} missing from the database"
            told = {**known, "from": f"{known['from']} and git"} if known else {"why": why, "from": "git"}
            store.meta.set(LAST_REBUILD, {"at": rfc3339(now), **told})
        store.rebuild.end()
