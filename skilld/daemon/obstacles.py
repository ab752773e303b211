"""Batches that could not be judged: when to try again, what prevents them, and when that is gone."""

from __future__ import annotations

import math
import os
import signal
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from skilld import protocol
from skilld.clock import parse_time, time_until
from skilld.daemon import job_builder
from skilld.errors import SkilldError
from skilld.files import free_bytes
from skilld.git.staging_branch import PROPOSAL_REFS, STAGING_REF
from skilld.git.state import git_dirs, head_branch
from skilld.ingest.discover import Host
from skilld.logs import get_logger
from skilld.proposals import results
from skilld.protocol import BatchResult
from skilld.skills.project_config import PROJECT_CONFIG
from skilld.store import Store
from skilld.store.batches import BUDGET_REASON, Obstacle, StoredBatch, Tries
from skilld.store.meta import ACTIVE_SETTINGS
from skilld.types import Cause, Outcome
from skilld.values import value_class

log = get_logger()

DAY_SECONDS = 86400.0
_MAX_AGE_SECONDS = 90 * DAY_SECONDS  # older batches are only retried if the person asks
_MAX_BATCHES = 100  # batches
_SKILL_CHECK_SECONDS = 120.0  # between checks of skills that could not be edited
_MIN_FREE_BYTES = 1 << 20
# The files of a git directory that decide whether proposals can be written.
_GIT_FILES = ("", "HEAD", "config", "config.worktree", "packed-refs", "info/sparse-checkout", "objects", "refs")
_OUR_REFS = PurePosixPath(STAGING_REF), PurePosixPath(PROPOSAL_REFS)
_REF_PATHS = "refs/heads", *(str(path) for ref in _OUR_REFS for path in (ref.parent, ref))

Stamp = tuple[tuple[int, ...], ...]


class Obstacles:
    """Remembers the state of obstacles when they were met, and retries batches when it changes."""

    def __init__(self, store: Store, host: Host) -> None:
        self._store = store
        self._host = host
        self._met: dict[str, tuple[Stamp, float]] = {}
        self._looked_for_skills = -math.inf

    def remember(self, batch: StoredBatch) -> None:
        """Remember the state of a batch's repositories and skills before it is worked on."""
        self._met[batch.id] = self._stamp(batch), -1.0

    def record(self, batch: StoredBatch, result: BatchResult, since: float) -> None:
        """Store the obstacle of a batch from its result, or that there is no longer one.

        Learnings that were kept only until the obstacle is gone are removed with it; not those that are judged again,
        which were there before.
        """
        cause = result.cause
        before = batch.obstacle
        is_again = batch.job.kind == results.WAITING_KIND
        kept = () if is_again else results.temporary_learnings(self._store, result)
        if before is not None and before.kept and not is_again:
            if result.outcome is Outcome.RETRY or (cause and cause.what is before.cause):
                kept = tuple(dict.fromkeys((*self._store.learnings.existing(before.kept), *kept)))
            else:
                for name in set(before.kept).difference(results.learning_ids(result)):
                    self._store.learnings.forget(name)
        found = Obstacle(cause.what, self._place_of(cause), cause.remedy, since, kept) if cause else None
        self._store.batches.set_obstacle(batch.id, found)
        if found is None:
            self._met.pop(batch.id, None)

    def _place_of(self, cause: protocol.Obstacle) -> str:
        """Return where an obstacle is: for one of the judge's set-up, in the settings with this digest."""
        return self._settings_digest() if cause.what is Cause.JUDGE else cause.place

    def _settings_digest(self) -> str:
        return str((self._store.meta.get(ACTIVE_SETTINGS) or {}).get("origin", ""))

    def retry_cleared(self, now: float) -> int:
        """Retry the batches whose obstacle may be gone at a Unix time. Return how many."""
        skills = not 0 <= now - self._looked_for_skills < _SKILL_CHECK_SECONDS
        if skills:
            self._looked_for_skills = now
        found = self._store.batches.with_obstacle(_MAX_BATCHES)
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
            or now - (parse_time(batch.created_at) or now) > _MAX_AGE_SECONDS
        ):
            return False
        if found.cause is Cause.JUDGE:
            return self._settings_digest() not in {"", found.place}
        if found.cause is Cause.SKILL:
            return skills and bool(job_builder.refresh_skills(self._store, self._host, batch).skills)
        if found.cause is Cause.FOLDER:
            return os.path.isdir(found.place)  # noqa: PTH112 - Path.is_dir raises for impossible names
        if found.cause is not Cause.REPOSITORY:
            return False
        stamp = self._stamp(batch)
        met, at = self._met.get(batch.id, ((), 0.0))
        if met and at < 0:
            self._met[batch.id] = met, now
            at = now
        return stamp != met or not 0 <= now - at < DAY_SECONDS

    def _stamp(self, batch: StoredBatch) -> Stamp:
        """Return the stat results of all files that decide whether a batch's proposals can be made."""
        paths = [Path(skill.path) for skill in batch.job.skills]
        here = Path((batch.job.cwd or "/").partition("\0")[0])
        home = self._host.home
        personal = [home / ".gitconfig", home / ".config/git/config", Path("/etc/gitconfig")]
        facts = [_path_stamp(path) for one in (*paths, here, *personal) for path in _relevant_paths(one)]
        return (*facts, *((int(_has_space(path.parent)),) for path in paths))


def _relevant_paths(path: Path) -> Iterator[Path]:
    """Yield a path, and the files of its repositories that decide whether they may and can be written to."""
    yield path
    for folder in (path, *path.parents):
        yield folder / PROJECT_CONFIG
        dot_git = folder / ".git"
        if os.path.lexists(dot_git):
            yield dot_git
            with suppress(OSError, ValueError, SkilldError):
                git_dir, common = git_dirs(dot_git)
                yield from (one / name for one in {git_dir: 0, common: 0} for name in (*_GIT_FILES, *_REF_PATHS))
                branch = common / (head_branch(git_dir) or "HEAD")
                yield from () if os.path.lexists(branch) else [branch]  # until its first commit


def _path_stamp(path: Path) -> tuple[int, ...]:
    try:
        facts = path.lstat()
        writable = os.access(path, os.W_OK)
    except OSError as error:
        return (-(error.errno or 1),)
    lasting = facts.st_dev, facts.st_ino, facts.st_mode, facts.st_uid, int(writable)
    # Folders of refs change whenever git tries to write there, which would cause endless retries.
    return lasting if stat.S_ISDIR(facts.st_mode) else (*lasting, facts.st_mtime_ns, facts.st_ctime_ns)


def _has_space(path: Path) -> bool:
    """Whether the disk of a path has room for some objects."""
    with suppress(OSError):
        return free_bytes(path) > _MIN_FREE_BYTES
    return False


# When a batch is tried again, depending on what went wrong.
#
# Tries are counted for failures of the work. A missing transcript, or a worker that was killed with its machine, is not
# the batch's fault: skilld waits for up to a day without counting a try.

_BACKOFF_SECONDS = 30.0  # doubled with every try
_MAX_BACKOFF_SECONDS = 3600.0
_MAX_REQUESTED_SECONDS = 86400.0  # a server may ask for any wait
_MIN_TRANSCRIPT_SECONDS = 5.0
_MAX_TRANSCRIPT_SECONDS = 900.0  # between checks for a transcript
_MAX_CRASHES = 3  # per try in the settings: the batch may cause the crashes
_MAX_KILLS = 50  # and at least a day: the kernel may kill it for lack of memory
_EXTERNAL_EXITS = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}


@value_class
class RetryPlan:
    """Try again in `wait` seconds (None: not at all). `tries` counts the failures so far, since `since`."""

    wait: float | None
    tries: Tries
    since: float


def plan_retry(batch: StoredBatch, result: BatchResult, attempts: int, now: float) -> RetryPlan:
    """Plan whether and when to retry a batch after such a result; `attempts` is from the settings."""
    tries = batch.tries
    cause = result.cause.what if result.cause else None
    since = batch.obstacle.since if batch.obstacle and batch.obstacle.cause == cause and batch.obstacle.since else now
    # The clock may have been set back.
    away = min(max(now - since, 0.0), DAY_SECONDS)
    if cause == Cause.TRANSCRIPT:
        return RetryPlan(
            None if away >= DAY_SECONDS else min(max(away, _MIN_TRANSCRIPT_SECONDS), _MAX_TRANSCRIPT_SECONDS),
            tries,
            since,
        )
    if cause == Cause.PROCESS and result.exit in {None, *_EXTERNAL_EXITS}:
        tries = replace(tries, kills=tries.kills + 1)
        given_up = tries.kills >= _MAX_KILLS and away >= DAY_SECONDS
        return RetryPlan(None if given_up else min(_backoff(tries.kills), _MAX_TRANSCRIPT_SECONDS), tries, since)
    if cause == Cause.PROCESS:
        tries = replace(tries, crashes=tries.crashes + 1)
        given_up = tries.crashes >= _MAX_CRASHES * attempts
        return RetryPlan(None if given_up else _backoff(tries.crashes), tries, since)
    tries = replace(tries, failures=tries.failures + 1)
    asked = min(result.retry_after or 0.0, _MAX_REQUESTED_SECONDS)
    return RetryPlan(None if tries.failures >= attempts else max(asked, _backoff(tries.failures)), tries, since)


def _backoff(number: int) -> float:
    return float(min(_BACKOFF_SECONDS * 2 ** min(number - 1, 16), _MAX_BACKOFF_SECONDS))


# Why batches could not be judged, for the terminal of `skilld run`: each reason once, not at each try.


class Setbacks:
    """Remembers the reasons that were reported, each until no batch has it any more."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reported: set[tuple[str, str]] = set()

    def new_reason(self, batch_id: str, now: float) -> str:
        """Return a sentence on why a batch that was just tried failed or must wait; empty if it was reported."""
        delays = {one.why: one for one in self._store.batches.delays()}
        current = {("pending", why) for why in delays}
        current |= {("parked", str(one["detail"])) for one in self._store.batches.parked()}
        self._reported &= current
        batch = self._store.batches.get(batch_id)
        if batch is None or batch.detail.startswith(BUDGET_REASON):  # the loop reports it itself, once a day
            return ""
        if (batch.state, batch.detail) not in current - self._reported:
            return ""
        self._reported.add((batch.state, batch.detail))
        if batch.state == "parked":
            return f"Could not judge a batch: {batch.detail}. To see what to do: skilld doctor"
        soonest = time_until(delays[batch.detail].next_try, now)
        return f"Waiting to judge a batch: {batch.detail}; next try {soonest}"
