"""Decides when to read from git what people did with proposals, and records what was found in the store.

Nothing is read if no proposal is open or was recently decided. The daemon checks a few files with stat and sends a
worker only if one changed; the command line reads git itself (`refresh`).
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from skilld.clock import parse_time, rfc3339
from skilld.git.staging_branch import STAGING_REF
from skilld.git.state import dirs_at
from skilld.proposals.follow import follow_moved_folders
from skilld.proposals.model import MOVED_TO, is_only_written, is_repo_gone
from skilld.proposals.overtaken import removed_lines, takes_lines_of
from skilld.proposals.results import record_changes, remakes_by_code, token_limit
from skilld.protocol import GitResult, ObserveProposals
from skilld.store import Store
from skilld.store.meta import COMMON_GIT_DIRS, GIT_POLLED_AT
from skilld.store.proposals import OTHER_MACHINE
from skilld.types import Proposal, State

_REMEMBERED_SECONDS = 30 * 86400  # how long after its decision a proposal is still observed
_FOLLOW_SECONDS = 60.0  # how often to look for folders that were moved
# Of the processor, for that: with 30 deleted projects beside 1,000 folders one look took 0.37 s.
_FOLLOW_SHARE = 1 / 2000
_MAX_GAP_SECONDS = 3600.0  # observe this often even if no file seems to have changed
_STAGING_FILES = str(PurePosixPath(STAGING_REF).parent), STAGING_REF
_WATCHED_FILES = (
    "HEAD",
    "config",
    "packed-refs",
    "logs/HEAD",
    "logs/refs/stash",
    "FETCH_HEAD",
    "refs/heads",
    *_STAGING_FILES,
)

Stamp = tuple[int, ...]


class PollSchedule:
    """Decides when the daemon reads git."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stamps: dict[str, Stamp] = {}
        self._looked_at = self._follow_at = 0.0

    def first_job(self, now: float) -> ObserveProposals | None:
        """Return the job of the first look since the daemon started; None if that was given or there is none."""
        return None if self._looked_at else self.job(now)

    def job(self, now: float) -> ObserveProposals | None:
        """Return a job for a worker, or None while paused or if nothing can have changed."""
        if self._store.meta.paused(now):
            return None
        if now >= self._follow_at:
            started = time.process_time()
            follow_moved_folders(self._store, now)
            self._follow_at = now + max(_FOLLOW_SECONDS, (time.process_time() - started) / _FOLLOW_SHARE)
        proposals = proposals_to_check(self._store, now)
        skills: dict[str, set[str]] = {}
        written: dict[str, tuple[int, ...]] = {}
        for proposal in proposals:
            skills.setdefault(proposal.repo, set()).add(proposal.path)
            if is_only_written(proposal):  # discarding it changes no file of git's
                written[proposal.repo] = (*written.get(proposal.repo, ()), _mtime(Path(proposal.path)))
        stamps = {
            repo: _repo_stamp(Path(repo), sorted(paths)) + written.get(repo, ()) for repo, paths in skills.items()
        }
        if not stamps or (stamps == self._stamps and now - self._looked_at < _MAX_GAP_SECONDS):
            return None
        self._stamps, self._looked_at = stamps, now
        # Under the daemon's lock no other worker runs.
        return observe_job(self._store, proposals, now, alone=True)


def proposals_to_check(store: Store, now: float) -> list[Proposal]:
    """Return the undecided proposals, and those recently decided, replaced or gone with their repository."""
    decided = store.proposals.in_states([State.ACCEPTED, State.REJECTED, State.REVERTED])
    decided += [proposal for proposal in store.proposals.in_states([State.STALE]) if is_repo_gone(proposal)]
    recent = [proposal for proposal in decided if now - (parse_time(proposal.decided_at) or 0) < _REMEMBERED_SECONDS]
    # Until git brings the revert here, its lines are in the file: that is no new acceptance.
    recent = [
        one for one in recent if one.state is not State.REVERTED or store.proposals.decided_by(one.id) != OTHER_MACHINE
    ]
    # An older rule is still in its file until a newer one takes its line away.
    newer = [one for one in recent if one.state is State.ACCEPTED and removed_lines(one.operations)]
    known = {one.id for one in recent}
    old = [one for one in decided if newer and one.state is State.ACCEPTED and one.id not in known]
    recent += [one for one in old if any(takes_lines_of(other, one) for other in newer)]
    return store.proposals.in_states([State.OPEN, State.DROPPED]) + recent


def observe_job(store: Store, proposals: list[Proposal], now: float, *, alone: bool = False) -> ObserveProposals:
    """Return the job that observes these proposals."""
    missing = {proposal.id: parse_time(store.proposals.missing_since(proposal.id)) for proposal in proposals}
    return ObserveProposals(
        now=now,
        proposals=tuple(proposals),
        missing={name: since for name, since in missing.items() if since is not None},
        closed=store.proposals.closed_ids(),
        homes=store.meta.get(COMMON_GIT_DIRS, {}),
        decisions={proposal.id: store.proposals.decisions(proposal.id) for proposal in proposals},
        alone=alone,
        by_code=remakes_by_code(store),
        most_tokens=token_limit(store),
    )


def record_observation(store: Store, found: GitResult, now: float) -> None:
    """Store what an observation found: decisions, moved commits, since when proposals are off the branch."""
    with store.transaction():
        found = _without_decided(store, found)
        lines = {one.proposal for one in found.changes.decisions if one.note.startswith(MOVED_TO)}
        stored = filter(None, map(store.proposals.get, found.decisions))
        alone = lines.union(one.id for one in stored if one.note.startswith(MOVED_TO))  # only their lines moved
        before = {one.id: one.path for one in map(store.proposals.get, (each.id for each in found.rehomed)) if one}
        split = Counter(path for path, _ in {(before.get(one.id), one.path) for one in found.rehomed})
        for moved in found.rehomed:
            old = store.proposals.get(moved.id)
            others = (
                old is not None
                and not os.path.lexists(old.path)
                and moved.id not in alone
                and split[before[old.id]] == 1
            )
            store.proposals.set_place(moved, others=others, but=alone)
        for proposal in found.committed:  # before it may have moved for the next one
            store.proposals.save_edit(proposal)
        record_changes(store, found.changes, now, found.at)
        for proposal_id, branch in found.branches.items():
            store.proposals.set_branch(proposal_id, branch)
        for proposal_id, since in found.missing.items():
            store.proposals.set_missing(proposal_id, "" if since is None else rfc3339(since))
        store.meta.set(GIT_POLLED_AT, now)


def _without_decided(store: Store, found: GitResult) -> GitResult:
    """Return what was found about proposals that nobody has decided on since: one accepted and undone is open again."""
    void = {name for name, number in found.decisions.items() if store.proposals.decisions(name) != number}
    if not void:
        return found
    changes = found.changes
    return replace(
        found,
        committed=tuple(one for one in found.committed if one.id not in void),
        missing={name: since for name, since in found.missing.items() if name not in void},
        branches={name: branch for name, branch in found.branches.items() if name not in void},
        changes=replace(
            changes,
            moved=tuple(one for one in changes.moved if one.proposal not in void),
            decisions=tuple(one for one in changes.decisions if one.proposal not in void),
            remade=tuple(one for one in changes.remade if one.id not in void),
        ),
    )


def refresh(store: Store, *, rebuild: bool = True) -> None:
    """Observe all proposals now and store the result. Problems with a repository raise nothing.

    `rebuild` says whether to rebuild the staging branch as well: a decision does that itself.
    """
    if (read := prepare_observation(store, rebuild=rebuild)) is not None:
        record_observation(store, read(), time.time())


def prepare_observation(store: Store, *, rebuild: bool = True) -> Callable[[], GitResult] | None:
    """Return a function that reads git and no store, so that it can run on another thread.

    None if there is nothing to observe: GitPython is not even imported then.
    """
    now = time.time()
    follow_moved_folders(store, now)
    proposals = proposals_to_check(store, now)
    if not proposals:
        return None
    from skilld.proposals.reconcile import observe

    job = replace(observe_job(store, proposals, now), rebuild=rebuild)
    return lambda: observe(job)


def _repo_stamp(repo: Path, skills: Iterable[str]) -> Stamp:
    """Return a value that changes when something happens in a repository; empty if it cannot be read.

    For one of skilld's own, which is a git directory, changes to the skills' files count, too.
    """
    try:
        folders = dict.fromkeys(dirs_at(repo))
    except (OSError, ValueError):
        return ()
    files = [folder / name for folder in folders for name in _WATCHED_FILES]
    return tuple(map(_mtime, [*files, *map(Path, skills)] if repo in folders else files))


def _mtime(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
