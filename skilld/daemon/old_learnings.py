"""Judges learnings again that may have a file now, with the offline rules.

Learnings from before skilld supported targets are judged a few per day, those that waited for a file as soon as it
exists. The results are ordinary proposals; what still has no file stays a learning.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from skilld.agents import context_variables
from skilld.clock import local_day, rfc3339
from skilld.ingest.discover import Host
from skilld.jobs.learnings import NO_FILE_REASON
from skilld.protocol import BatchJob
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.learnings import Learning
from skilld.store.meta import REJUDGED_ON
from skilld.types import ClosedBy

WAITING_KIND = "waiting"  # the kind of such a batch's job
_MAX_PER_DAY = 3  # of one project
_MIN_CONFIDENCE = 0.5
# The reasons of an older skilld for keeping learnings without a file.
_NO_PLACE_REASONS = ("no skill was in use", "cannot be edited")


def judge_again(store: Store, host: Host, now: float) -> int:
    """Queue learnings whose file exists now, and once a day up to three old ones per project; return how many."""
    return _judge_placed(store, host, now) + _judge_old(store, host, now)


def _judge_placed(store: Store, host: Host, now: float) -> int:
    count = 0
    for one in store.learnings.for_files():
        name = f"{WAITING_KIND}-{one.id}-placed"
        if NO_FILE_REASON in one.why_kept and Path(one.place).is_file() and store.batches.get(name) is None:
            store.batches.add(_waiting_batch(host, name, [one], now), ())
            count += 1
    return count


def _judge_old(store: Store, host: Host, now: float) -> int:
    if store.meta.get(REJUDGED_ON) == local_day(now):
        return 0
    taken: Counter[str] = Counter()
    with store.transaction():
        store.meta.set(REJUDGED_ON, local_day(now))
        for ask in _old_asks(store):
            newest = ask[0]
            project, name = newest.project or "", f"{WAITING_KIND}-{newest.id}"
            if taken[project] < _MAX_PER_DAY and store.batches.get(name) is None:
                store.batches.add(_waiting_batch(host, name, ask, now), ())
                taken[project] += 1
    return taken.total()


def _old_asks(store: Store) -> list[list[Learning]]:
    """Return an older skilld's learnings, those of one session that say the same as one ask, the newest first."""
    since = store.learnings.targets_since()
    old = [
        one
        for one in store.learnings.said()
        if one.created_at < since
        and one.project
        and one.turn_key
        and not one.place
        and one.confidence >= _MIN_CONFIDENCE
        and any(why in one.why_kept for why in _NO_PLACE_REASONS)
    ]
    if not old:
        return []
    from skilld.words import content_stems, is_same_ask  # once, after an upgrade

    asks: list[list[Learning]] = []
    for one in old:
        near = [ask for ask in asks if ask[0].project == one.project]
        ask = next((ask for ask in near if is_same_ask(content_stems(ask[0].change), content_stems(one.change))), None)
        if ask is None:
            asks.append([one])
        elif ask[0].session_id == one.session_id:
            ask.append(one)  # those of other sessions are found among the waiting learnings
    return asks


def _waiting_batch(host: Host, name: str, ask: list[Learning], now: float) -> StoredBatch:
    newest = ask[0]
    variables = {name: host.environment[name] for name in context_variables() if name in host.environment}
    job = BatchJob(
        kind=WAITING_KIND,
        batch=name,
        agent=newest.agent,
        session_id=newest.session_id,
        cwd=newest.project,
        turns=tuple(dict.fromkeys(one.turn_key for one in ask)),
        home=str(host.home),
        variables=variables,
    )
    return StoredBatch(name, newest.agent, newest.session_id, ClosedBy.ENDED, "pending", job, 0, rfc3339(now))
