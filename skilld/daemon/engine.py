"""What the daemon decides: which batches are due, what a worker gets, what its result changes.

Runs on one thread. Spawning, waiting and showing are others' work, so that a test can drive it with values.
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
from skilld.clock import day, next_day, rfc3339
from skilld.daemon import jobs, judges, obstacles, old_learnings, recovery
from skilld.daemon.obstacles import Obstacles
from skilld.daemon.presence import Presence
from skilld.ingest.discover import Host, find_roots
from skilld.ingest.drift import update_survey
from skilld.ingest.follow import Follower
from skilld.logs import get_logger
from skilld.proposals import results
from skilld.proposals.remarks import describe_repeat
from skilld.protocol import BatchJob, BatchResult, Job, Plan, RecoverProposals, Result
from skilld.settings import Settings
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.budget import spent_limit
from skilld.store.meta import BUDGET_SPENT, DRIFT, LAST_ERROR
from skilld.types import Cause, Outcome, Proposal

log = get_logger()

_LOOK_AGAIN = 900.0  # seconds between two looks at whether the budget allows a batch by now
_SKEW = 60.0  # a file server's clock may be ahead by so much
_NEWEST = 40  # sessions, of which some are looked through for drift at a time


class Engine:
    """The daemon's decisions over one store."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        around: Host,
        now: float,
        redact: Callable[[str], str] | None = None,  # without it no words are kept
    ) -> None:
        self.store = store
        self.settings = settings
        self.around = replace(around, roots=settings.roots)
        self.roots = find_roots(around.home, around.environment, settings.roots)
        self.follower = Follower(store, self.roots, now, redact)
        self.obstacles = Obstacles(store, self.around)
        self._idle_limit = settings.batch.idle_minutes * 60
        self._deadlines = Deadlines()
        self._presence = Presence(store.transcripts)
        self._closed_at = math.inf
        self._now = now
        self._homeless = store.learnings.count_for_files()
        recovery.reread(store, self.follower, now)
        self.obstacles.look(now)
        store.write_waiting_file()

    def look_for_drift(self) -> None:
        """Look through some of the sessions that grew last for kinds of records that no version wrote before."""
        files = ((agent, Path(path)) for agent, path in self.store.transcripts.newest(_NEWEST) if agent in ADAPTERS)
        kept = self.store.meta.get(DRIFT, {})
        if (found := update_survey(kept, files)) != kept:
            with self.store.transaction():
                self.store.meta.set(DRIFT, found)

    def close_due(self, now: float) -> int:
        """Close every batch whose turns are there or whose session is over. Returns how many need a worker."""
        self.follower.flush_idle(now - self._idle_limit)
        self.follower.touched.update(self._presence.end(self._deadlines.sessions, now))
        return old_learnings.judge_again(self.store, self.around, now) + self.close_touched(now)

    def close_touched(self, now: float) -> int:
        """Do the same for the sessions with something new and those idle for long enough, and look at no others."""
        if now < self._closed_at:  # or the daemon has just started: nothing is known of those that wait
            self.store.transcripts.clamp_activity(now + _SKEW, now)
            self.follower.touched.update(self.store.transcripts.sessions_waiting())
        self._closed_at = now
        touched = self.follower.touched
        touched.update(self._deadlines.take(now))
        if not touched:
            return 0
        with self.store.transaction():
            count = sum(self._close_session(agent, session_id, now) for agent, session_id in sorted(touched))
        touched.clear()
        return count

    def _close_session(self, agent: str, session_id: str, now: float) -> int:
        rows = self.store.transcripts
        active, ended = rows.activity(agent, session_id)
        if active > now + _SKEW:
            rows.clamp_activity(now + _SKEW, now)
            active = now
        waiting = rows.waiting(agent, session_id)
        closings = close_batches(
            waiting,
            size=self.settings.batch.turns,
            idle_seconds=now - active,
            idle_limit=self._idle_limit,
            ended=ended,
        )
        count = sum(self._close(agent, session_id, closing, now) for closing in closings)
        if sum(len(closing.turns) for closing in closings) < len(waiting) and active + self._idle_limit > now:
            self._deadlines.set((agent, session_id), active + self._idle_limit)
            self._presence.note((agent, session_id))
        else:  # what is left is chatter
            self._deadlines.drop((agent, session_id))
        return count

    def follow_settings(self, settings: Settings) -> None:
        """Go by other settings from the next batch on; the folders of transcripts stay what they were."""
        self.settings = settings
        self._idle_limit = settings.batch.idle_minutes * 60
        self._closed_at = math.inf  # all that wait are looked at again

    def clock_was_set_back(self, seconds: float) -> None:
        """Let nothing wait longer than it was to wait before the wall clock was set back by so many seconds."""
        self._closed_at = math.inf
        self.store.batches.bring_forward(seconds)

    def _close(self, agent: str, session_id: str, closing: ClosedBatch[Any], now: float) -> bool:
        keys = [turn.key for turn in closing.turns]
        # Nobody will ever work on chatter.
        job = BatchJob() if closing.chatter else jobs.analysis(self.store, self.around, agent, session_id, closing)
        batch = StoredBatch(closing.batch_id, agent, session_id, closing.closed_by, "pending", job, 0, rfc3339(now))
        with self.store.transaction():
            if closing.chatter:
                self.store.batches.add(
                    batch, keys, outcome=Outcome.NOTHING.value, detail="it contained no lasting instructions"
                )
            else:
                self.store.batches.add(batch, keys)
        if closing.chatter:
            self.store.words.forget(keys)
        log.info("batch closed", batch=batch.id, agent=agent, turns=len(closing.turns), chatter=closing.chatter)
        return not closing.chatter

    def next_batch(self, now: float) -> StoredBatch | None:
        """Return the batch a worker should take now; None while paused, while rebuilding, or when there is none.

        A batch that would ask a model when today's budget is spent, or its limit reached, is put back.
        """
        self._now = now
        if self.store.meta.paused(now) or self.store.rebuild.state is not None:
            return None
        while batch := self.store.batches.next_due(now):
            spec = judges.choice(self.store, self.settings, self.around.environment, batch.agent, now).spec
            if spec.model == OFFLINE:
                return batch
            # The person may raise the limit, or choose another judge, meanwhile.
            if limited := judges.limited(self.store, spec.model, now):
                self.store.batches.postpone(batch.id, min(limited.until, now + _LOOK_AGAIN), limited.why)
            elif why := spent_limit(self.store.usage.on(day(now)), self.settings.budget):
                then = min(next_day(now), now + _LOOK_AGAIN)
                self.store.batches.postpone(batch.id, then, f"the budget is spent: {why}")
                self._budget_is_spent(day(now), why)
            else:
                return batch
        return None

    def _budget_is_spent(self, today: str, why: str) -> None:
        if (self.store.meta.get(BUDGET_SPENT) or {}).get("day") != today:
            self.store.meta.set(BUDGET_SPENT, {"day": today, "why": why, "told": False})

    def budget_news(self) -> str | None:
        """Return why the budget is spent, once on the day it is; None otherwise."""
        spent = self.store.meta.get(BUDGET_SPENT)
        if not spent or spent["told"]:
            return None
        self.store.meta.set(BUDGET_SPENT, spent | {"told": True})
        return str(spent["why"])

    def waiting_news(self) -> int:
        """Return how many lasting things wait for a place where they have become more since this was last asked."""
        before, self._homeless = self._homeless, self.store.learnings.count_for_files()
        return self._homeless if self._homeless > before else 0

    def said_again(self, ended: Result) -> list[Proposal]:
        """Return the proposals that the person did not want and, as a batch shows, said again."""
        known = (self.store.proposals.get(one.proposal) for one in BatchResult.of(ended).supported)
        return [one for one in known if one is not None and describe_repeat(self.store, one)]

    def recall(self, now: float) -> RecoverProposals | None:
        """Return the job of finding again what was proposed before the database was damaged, if it was."""
        return None if self.store.meta.paused(now) else recovery.job(self.store, self.around)

    def recalled(self, result: Result, now: float) -> None:
        """Write down what that job found."""
        recovery.record(self.store, result, now)

    def start(self, batch: StoredBatch) -> Job:
        """Mark a batch as running and return the worker's whole job."""
        self.store.batches.start(batch.id)
        self.obstacles.note(batch)
        return jobs.complete(self.store, self.settings, self.around, batch, self._now)

    def keep_plan(self, batch: StoredBatch, plan: BatchResult, now: float) -> None:
        """Keep what a worker is about to do, with what it cost to find out: a second try does it without asking."""
        with self.store.transaction():
            results.record_result(self.store, batch, replace(plan, proposals=()), now, beside=plan.proposals)
            self.store.batches.save_plan(batch.id, Plan(plan.proposals))

    def finish(self, batch: StoredBatch, ended: Result, now: float) -> list[Proposal]:
        """Record what came of a batch; returns the proposals that are new."""
        result = BatchResult.of(ended)
        outcome, detail = result.outcome, result.detail
        with self.store.transaction():
            since = now
            until = judges.took(self.store, result, now)
            if outcome is Outcome.RETRY and not until:
                then = obstacles.again(batch, result, self.settings.worker.attempts, now)
                since = then.since
                self.store.batches.save_tries(batch.id, then.tries)
                if then.wait is None:
                    outcome, result = _given_up(result)
            new = results.record_result(self.store, batch, result, now)
            self.obstacles.record(batch, result, since)
            if outcome is Outcome.RETRY:
                self.store.batches.postpone(batch.id, until or now + (then.wait or 0.0), detail)
            elif outcome is Outcome.FAILED and not (result.cause and result.cause.what is Cause.ANSWER):
                self.store.batches.park(batch.id, result.outcome.value, detail)
            else:
                self.store.batches.finish(batch.id, outcome.value, detail, rfc3339(now))
            known = batch.obstacle is not None and batch.detail == detail  # it was said when it was new
            wrong = outcome in {Outcome.RETRY, Outcome.FAILED, Outcome.REFUSED}
            if detail and wrong and not known:
                self.store.meta.set(LAST_ERROR, {"at": rfc3339(now), "batch": batch.id, "message": detail})
            elif not wrong and (self.store.meta.get(LAST_ERROR) or {}).get("batch") == batch.id:
                self.store.meta.delete(LAST_ERROR)
        if outcome is not Outcome.RETRY and outcome is not Outcome.FAILED:
            self.store.words.forget(batch.job.turns)
        log.info("batch done", batch=batch.id, outcome=outcome.value, proposals=len(new))
        return new


def _given_up(result: BatchResult) -> tuple[Outcome, BatchResult]:
    """Return how a batch ends that is tried no more, and its result, with what is kept of it in that case.

    One whose transcript is gone is done; all else is parked, and a repository looked at again all the same.
    """
    result = replace(result, learnings=(*result.learnings, *result.if_given_up))
    if result.cause and result.cause.what is Cause.TRANSCRIPT:
        return Outcome.REFUSED, replace(result, outcome=Outcome.REFUSED)
    return Outcome.FAILED, result
