"""Batches that could not be judged: when to try again, what is in the way, and when it is gone."""

from __future__ import annotations

import math
import os
import signal
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from skilld.clock import seconds
from skilld.daemon import jobs
from skilld.errors import SkilldError
from skilld.git.staging_branch import PROPOSAL_REFS, STAGING_REF
from skilld.ingest.discover import Host
from skilld.logs import get_logger
from skilld.proposals import results
from skilld.protocol import BatchResult
from skilld.skills.find import PROJECT_CONFIG
from skilld.store import Store
from skilld.store.batches import Obstacle, StoredBatch, Tries
from skilld.types import Cause, Outcome

log = get_logger()

_DAILY = 86400.0  # seconds
_REMEMBERED = 90 * _DAILY  # after it was closed a batch is looked at no more unless the person asks
_MAX = 100  # batches
_SKILLS = 120.0  # seconds between two looks for skills that could not be edited
_ROOM = 1 << 20  # bytes
# Of a git directory: what tells whose it is, what it is, and whether our refs fit into it.
_IN_GIT = ("", "HEAD", "config", "config.worktree", "packed-refs", "info/sparse-checkout", "objects", "refs")
_OURS = PurePosixPath(STAGING_REF), PurePosixPath(PROPOSAL_REFS)
_REFS = "refs/heads", *(str(path) for ref in _OURS for path in (ref.parent, ref))

Stamp = tuple[tuple[int, ...], ...]


class Obstacles:
    """Remembers how what is in the way looked when it was met."""

    def __init__(self, store: Store, around: Host) -> None:
        self._store = store
        self._around = around
        self._met: dict[str, tuple[Stamp, float]] = {}
        self._looked_for_skills = -math.inf

    def note(self, batch: StoredBatch) -> None:
        """Note how the repositories and skills of a batch look before it is worked on."""
        self._met[batch.id] = self._stamp(batch), -1.0

    def record(self, batch: StoredBatch, result: BatchResult, since: float) -> None:
        """Keep what a result says is in the way of its batch, since when; or that nothing is any more.

        Learnings that were kept only until it is gone go with it.
        """
        cause = result.cause
        before = batch.obstacle
        kept = results.temporary_learnings(self._store, result)
        if before is not None and before.kept:
            if result.outcome is Outcome.RETRY or (cause and cause.what is before.cause):
                kept = tuple(dict.fromkeys((*self._store.learnings.existing(before.kept), *kept)))
            else:
                for name in set(before.kept).difference(results.learning_ids(result)):
                    self._store.learnings.forget(name)
        found = Obstacle(cause.what, cause.place, cause.remedy, since, kept) if cause else None
        self._store.batches.set_obstacle(batch.id, found)
        if found is None:
            self._met.pop(batch.id, None)

    def look(self, now: float) -> int:
        """Have the batches done again whose obstacle may be gone (Unix time). Returns how many."""
        skills = not 0 <= now - self._looked_for_skills < _SKILLS
        if skills:
            self._looked_for_skills = now
        found = self._store.batches.with_obstacle(_MAX)
        due = [batch for batch in found if self._is_due(batch, now, skills=skills)]
        for batch in due:
            self._store.batches.reopen(batch.id)
            log.info("batch looked at again", batch=batch.id)
        return len(due)

    def _is_due(self, batch: StoredBatch, now: float, *, skills: bool) -> bool:
        found = batch.obstacle
        if (
            batch.state not in {"done", "parked"}
            or found is None
            or now - (seconds(batch.created_at) or now) > _REMEMBERED
        ):
            return False
        if found.cause is Cause.SKILL:
            return skills and bool(jobs.skills_now(self._store, self._around, batch).skills)
        if found.cause is not Cause.REPOSITORY:
            return False
        stamp = self._stamp(batch)
        met, at = self._met.get(batch.id, ((), 0.0))
        if met and at < 0:
            self._met[batch.id] = met, now
            at = now
        return stamp != met or not 0 <= now - at < _DAILY

    def _stamp(self, batch: StoredBatch) -> Stamp:
        """Return what stat says of all that decides whether a proposal of a batch can be made."""
        paths = [Path(skill.path) for skill in batch.job.skills]
        here = Path((batch.job.cwd or "/").partition("\0")[0])
        home = self._around.home
        personal = [home / ".gitconfig", home / ".config/git/config", Path("/etc/gitconfig")]
        facts = [_facts(path) for one in (*paths, here, *personal) for path in _about(one)]
        return (*facts, *((int(_has_room(path.parent)),) for path in paths))


def _about(path: Path) -> Iterator[Path]:
    """Yield a path and what of the repositories around it decides whether they may and can be written to."""
    yield path
    for folder in (path, *path.parents):
        yield folder / PROJECT_CONFIG
        dot_git = folder / ".git"
        if os.path.lexists(dot_git):
            yield from (dot_git / name for name in (*_IN_GIT, *_REFS))
            yield from (_common(dot_git) / name for name in (*_IN_GIT, *_REFS))
            from skilld.git.state import head_branch

            with suppress(SkilldError):
                branch = dot_git / (head_branch(dot_git) or "HEAD")
                yield from () if os.path.lexists(branch) else [branch]  # until its first commit


def _common(dot_git: Path) -> Path:
    """Return the git directory that a `.git` file names, the same where it is a folder or cannot be read."""
    try:
        named = dot_git.read_bytes()[:4096].decode("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
    except OSError:
        return dot_git
    return dot_git.parent / named if named and "\0" not in named else dot_git


def _facts(path: Path) -> tuple[int, ...]:
    try:
        facts = path.lstat()
        writable = os.access(path, os.W_OK)
    except OSError as error:
        return (-(error.errno or 1),)
    lasting = facts.st_dev, facts.st_ino, facts.st_mode, facts.st_uid, int(writable)
    # A folder of refs changes whenever git tries to write there, and it would be looked at for ever.
    return lasting if stat.S_ISDIR(facts.st_mode) else (*lasting, facts.st_mtime_ns, facts.st_ctime_ns)


def _has_room(path: Path) -> bool:
    """Whether an object or two would fit where a path is."""
    try:
        found = os.statvfs(path)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize > _ROOM


# How often a batch is tried, and when again: by what went wrong with it.
#
# Tries are for failures of the work. A transcript that is away, or a worker that was killed with its machine, says
# nothing of the batch: such is waited for as long as a day, and uses up no try.

DAY = 86400.0
_BACK_OFF = 30.0  # seconds, doubled with every try
_MAX_BACK_OFF = 3600.0
_MAX_ASKED = 86400.0  # a server may ask for any wait
_SOON = 5.0
_MAX_AWAY = 900.0  # seconds between two looks for a transcript
_CRASHES = 3  # for each try of the settings: a worker that ends by itself may be the batch's doing
_KILLS = 50  # and a day: who kills all day may be the kernel, for want of memory
_FROM_OUTSIDE = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """Try again in so many seconds, or not at all: None. `tries` is what went wrong by now, `since` since when."""

    wait: float | None
    tries: Tries
    since: float


def again(batch: StoredBatch, result: BatchResult, attempts: int, now: float) -> RetryPlan:
    """Return whether a batch is tried again after a result that asks for it, by the settings' number of tries."""
    tries = batch.tries
    cause = result.cause.what if result.cause else None
    since = batch.obstacle.since if batch.obstacle and batch.obstacle.cause == cause and batch.obstacle.since else now
    # A clock that was set back makes it no longer.
    away = min(max(now - since, 0.0), DAY)
    if cause == Cause.TRANSCRIPT:
        return RetryPlan(None if away >= DAY else min(max(away, _SOON), _MAX_AWAY), tries, since)
    if cause == Cause.PROCESS and result.exit in {None, *_FROM_OUTSIDE}:
        tries = replace(tries, kills=tries.kills + 1)
        given_up = tries.kills >= _KILLS and away >= DAY
        return RetryPlan(None if given_up else min(_back_off(tries.kills), _MAX_AWAY), tries, since)
    if cause == Cause.PROCESS:
        tries = replace(tries, crashes=tries.crashes + 1)
        given_up = tries.crashes >= _CRASHES * attempts
        return RetryPlan(None if given_up else _back_off(tries.crashes), tries, since)
    tries = replace(tries, failures=tries.failures + 1)
    asked = min(result.retry_after or 0.0, _MAX_ASKED)
    return RetryPlan(None if tries.failures >= attempts else max(asked, _back_off(tries.failures)), tries, since)


def _back_off(number: int) -> float:
    return float(min(_BACK_OFF * 2 ** min(number - 1, 16), _MAX_BACK_OFF))
