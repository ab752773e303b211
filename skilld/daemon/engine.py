"""The daemon's decisions: which batches are due, what a worker gets, what its result changes.

Runs on one thread. It does not start processes, wait or show anything, so that tests can drive it with values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from skilld.agents import ADAPTERS
from skilld.batching.closing import ClosedBatch, Deadlines, close_batches
from skilld.classify.backends import OFFLINE
from skilld.clock import local_day, next_day, rfc3339
from skilld.daemon import job_builder, judges, obstacles, recovery
from skilld.daemon.obstacles import Obstacles
from skilld.daemon.presence import Presence
from skilld.ingest.discover import Host, find_roots
from skilld.ingest.follow import Follower
from skilld.ingest.record_survey import update_survey
from skilld.logs import get_logger
from skilld.proposals import results
from skilld.proposals.remarks import describe_repeat
from skilld.protocol import BatchJob, BatchResult, Job, Plan, Result
from skilld.settings import Settings
from skilld.store import Store
from skilld.store.batches import BUDGET_REASON, StoredBatch
from skilld.store.budget import Account, spent_limit
from skilld.store.meta import BUDGET_SPENT, DRIFT, LAST_ERROR
from skilld.types import Cause, Outcome, Proposal

log = get_logger()

_RECHECK_SECONDS = 900.0  # until the budget or a limit is checked again
_MAX_SKEW_SECONDS = 60.0  # by which a file server's clock may be ahead
_MAX_DRIFT_SESSIONS = 40  # the newest ones, some of which are checked for drift at a time


class Engine:
    """The daemon's decisions over one store."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        host: Host,
        now: float,
        redact: Callable[[str], str] | None = None,  # without it no words are kept
    ) -> None:
        self.store = store
        self.settings = settings
        self.host = replace(host, roots=settings.roots)
        self.roots = find_roots(host.home, host.environment, settings.roots)
        self.follower = Follower(store, self.roots, now, redact)
        self.obstacles = Obstacles(store, self.host)
        self._idle_limit = settings.batch.idle_minutes * 60
        self._deadlines = Deadlines()
        self._presence = Presence(store.transcripts)
        self._closed_at = math.inf
        self._now = now
        self._waiting_count = store.learnings.count_for_files()
        recovery.reread_recent(store, self.follower, now)
        self.obstacles.retry_cleared(now)
        store.batches.release(BUDGET_REASON)  # its limit may be another one now
        store.write_waiting_file()
        self.forget_words(now)

    def check_drift(self) -> None:
        """Check some of the newest sessions for kinds of records that no version wrote before."""
        files = (
            (agent, Path(path))
            for agent, path in self.store.transcripts.newest(_MAX_DRIFT_SESSIONS)
            if agent in ADAPTERS
        )
        kept = self.store.meta.get(DRIFT, {})
        if (found := update_survey(kept, files)) != kept:
            with self.store.transaction():
                self.store.meta.set(DRIFT, found)

    def forget_words(self, now: float) -> None:
        """Overwrite the words of turns that no worker needs any more, and all words that are older than two days."""
        words = self.store.words
        words.forget_old(now)
        words.forget(self.store.transcripts.settled(words.keys()))

    def close_due(self, now: float) -> int:
        """Close every batch that is full or whose session is over. Return in how many sessions one needs a worker."""
        self.follower.flush_idle(now - self._idle_limit)
        self.follower.touched.update(self._presence.end_sessions(self._deadlines.sessions, now))
        return job_builder.judge_again(self.store, self.host, now) + self.close_touched(now)

    def close_touched(self, now: float) -> int:
        """Do the same, but only for sessions with new turns and those that have been idle long enough."""
        if now < self._closed_at:  # also true at the start: the waiting sessions are unknown
            self.store.transcripts.clamp_activity(now + _MAX_SKEW_SECONDS, now)
            self.follower.touched.update(self.store.transcripts.sessions_waiting())
        self._closed_at = now
        touched = self.follower.touched
        touched.update(self._deadlines.take(now))
        if not touched:
            return 0
        # Chatter is not synced: what a power cut takes back is closed again, and costs nothing.
        with self.store.transaction(synced=False):
            rest = [session for session in sorted(touched) if not self._close_session(*session, now, chatter=True)]
        if rest:
            with self.store.transaction():
                for session in rest:
                    self._close_session(*session, now)
        touched.clear()
        return len(rest)

    def _close_session(self, agent: str, session_id: str, now: float, *, chatter: bool = False) -> bool:
        """Close the session's batches. With `chatter`, close none and return False if one of them is for a worker."""
        rows = self.store.transcripts
        active, ended = rows.activity(agent, session_id)
        if active > now + _MAX_SKEW_SECONDS:
            rows.clamp_activity(now + _MAX_SKEW_SECONDS, now)
            active = now
        waiting = rows.waiting(agent, session_id)
        closings = close_batches(
            waiting, size=self.settings.batch.turns, idle_seconds=now - active, idle_limit=self._idle_limit, ended=ended
        )
        if chatter and not all(closing.chatter for closing in closings):
            return False
        for closing in closings:
            self._close_batch(agent, session_id, closing, now)
        if sum(len(closing.turns) for closing in closings) < len(waiting) and active + self._idle_limit > now:
            self._deadlines.set((agent, session_id), active + self._idle_limit)
            self._presence.note_activity((agent, session_id))
        else:  # what is left is chatter
            self._deadlines.drop((agent, session_id))
        return True

    def use_settings(self, settings: Settings) -> None:
        """Use other settings from the next batch on, except for the folders of transcripts.

        What waits for the budget or for a model's limit is looked at again: both may be others now.
        """
        self.settings = settings
        self._idle_limit = settings.batch.idle_minutes * 60
        self._closed_at = math.inf  # check all waiting sessions again
        for why in (BUDGET_REASON, judges.LIMIT_REASON):
            self.store.batches.release(why)

    def clock_was_set_back(self, seconds: float) -> None:
        """Correct waiting times after the wall clock was set back by so many seconds."""
        self._closed_at = math.inf
        self.store.batches.bring_forward(seconds)

    def _close_batch(self, agent: str, session_id: str, closing: ClosedBatch[Any], now: float) -> None:
        keys = [turn.key for turn in closing.turns]
        # No worker gets chatter.
        job = (
            BatchJob() if closing.chatter else job_builder.batch_job(self.store, self.host, agent, session_id, closing)
        )
        batch = StoredBatch(closing.batch_id, agent, session_id, closing.closed_by, "pending", job, 0, rfc3339(now))
        with self.store.transaction():
            if closing.chatter:
                self.store.batches.add(
                    batch, keys, outcome=Outcome.NOTHING.value, detail="it contained no lasting instructions"
                )
            else:
                self.store.batches.add(batch, keys)
        log.info("batch closed", batch=batch.id, agent=agent, turns=len(closing.turns), chatter=closing.chatter)

    def next_batch(self, now: float) -> StoredBatch | None:
        """Return the next batch for a worker; None while paused or rebuilding, or if there is none.

        A batch for a model is postponed if today's budget is spent or the model's limit is reached.
        """
        self._now = now
        if self.store.meta.paused(now) or self.store.rebuild.state is not None:
            return None
        while batch := self.store.batches.next_due(now):
            spec = judges.choose_judge(self.store, self.settings, self.host.environment, batch.agent, now).spec
            if spec.model == OFFLINE:
                return batch
            # The person may raise the limit or choose another judge meanwhile.
            if limited := judges.current_limit(self.store, spec.model, now):
                self.store.batches.postpone(batch.id, min(limited.until, now + _RECHECK_SECONDS), limited.why)
            elif not self._wait_for_budget(batch, now):
                return batch
        return None

    def account(self, batch: StoredBatch) -> Account:
        """Return the account for the calls of a batch: they are booked under the first skill in use."""
        return Account(self.store, lambda: self.settings.budget, batch.job.skills[0].name if batch.job.skills else "")

    def _wait_for_budget(self, batch: StoredBatch, now: float) -> bool:
        """Postpone a batch if today's budget is spent. Return whether it is."""
        why = spent_limit(self.store.usage.on(local_day(now)), self.settings.budget)
        if why is None:
            return False
        self.store.batches.postpone(batch.id, min(next_day(now), now + _RECHECK_SECONDS), f"{BUDGET_REASON}: {why}")
        if (self.store.meta.get(BUDGET_SPENT) or {}).get("day") != local_day(now):
            self.store.meta.set(BUDGET_SPENT, {"day": local_day(now), "why": why, "told": False})
        return True

    def new_budget_reason(self) -> str | None:
        """Return why the budget is spent, once per day; None otherwise."""
        spent = self.store.meta.get(BUDGET_SPENT)
        if not spent or spent["told"]:
            return None
        self.store.meta.set(BUDGET_SPENT, spent | {"told": True})
        return str(spent["why"])

    def new_waiting_count(self) -> int:
        """Return the number of learnings that wait for a file if it has grown since the last call, or 0."""
        before, self._waiting_count = self._waiting_count, self.store.learnings.count_for_files()
        return self._waiting_count if self._waiting_count > before else 0

    def repeated_proposals(self, ended: Result) -> list[Proposal]:
        """Return the rejected proposals that a batch shows were said again."""
        known = (self.store.proposals.get(one.proposal) for one in BatchResult.of(ended).supported)
        return [one for one in known if one is not None and describe_repeat(self.store, one)]

    def start(self, batch: StoredBatch) -> Job:
        """Mark a batch as running and return the worker's whole job."""
        self.store.batches.start(batch.id)
        self.obstacles.remember(batch)
        return job_builder.complete_job(self.store, self.settings, self.host, batch, self._now)

    def save_plan(self, batch: StoredBatch, plan: BatchResult, now: float) -> None:
        """Store a worker's plan and its cost, so that a second try need not ask a model."""
        with self.store.transaction():
            results.record_result(self.store, batch, replace(plan, proposals=()), now, proposed_now=plan.proposals)
            self.store.batches.save_plan(batch.id, Plan(plan.proposals))

    def finish(self, batch: StoredBatch, ended: Result, now: float) -> list[Proposal]:
        """Record the result of a batch; return the new proposals."""
        result = BatchResult.of(ended)
        outcome, detail = result.outcome, result.detail
        with self.store.transaction():
            since = now
            until = judges.record_outcome(self.store, result, now)
            again = outcome is Outcome.RETRY and not until
            unpaid = again and not result.cause and self._wait_for_budget(batch, now)
            if again and (result.usage.calls or not unpaid):  # a refused first call is no try
                then = obstacles.plan_retry(batch, result, self.settings.worker.attempts, now)
                since = then.since
                self.store.batches.save_tries(batch.id, then.tries)
                if then.wait is None:
                    outcome, result = _final_result(result)
            new = results.record_result(self.store, batch, result, now)
            self.obstacles.record(batch, result, since)
            unpaid = unpaid and outcome is Outcome.RETRY  # it was postponed above
            if outcome is Outcome.RETRY and not unpaid:
                self.store.batches.postpone(batch.id, until or now + (then.wait or 0.0), detail)
            elif outcome is Outcome.FAILED and not (result.cause and result.cause.what is Cause.ANSWER):
                self.store.batches.park(batch.id, result.outcome.value, detail)
            elif not unpaid:
                self.store.batches.finish(batch.id, outcome.value, detail, rfc3339(now))
            known = batch.obstacle is not None and batch.detail == detail  # reported before
            wrong = outcome in {Outcome.RETRY, Outcome.FAILED, Outcome.REFUSED} and not unpaid
            if detail and wrong and not known:
                self.store.meta.set(LAST_ERROR, {"at": rfc3339(now), "batch": batch.id, "message": detail})
            elif not wrong and (self.store.meta.get(LAST_ERROR) or {}).get("batch") == batch.id:
                self.store.meta.delete(LAST_ERROR)
        if outcome is not Outcome.RETRY and outcome is not Outcome.FAILED:
            self.store.words.forget(batch.job.turns)
        log.info("batch done", batch=batch.id, outcome=outcome.value, proposals=len(new))
        return new


def _final_result(result: BatchResult) -> tuple[Outcome, BatchResult]:
    """Return the final outcome of a batch after the last try, and its result with the learnings to keep.

    A batch whose transcript is gone is done; others are parked, and retried when their repository changes.
    """
    result = replace(result, learnings=(*result.learnings, *result.if_given_up))
    if result.cause and result.cause.what is Cause.TRANSCRIPT:
        return Outcome.REFUSED, replace(result, outcome=Outcome.REFUSED)
    return Outcome.FAILED, result
