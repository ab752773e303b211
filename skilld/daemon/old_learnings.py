"""Learnings that may have a place by now: each is judged once more by rules alone.

Those from before skilld knew targets come a few a day, and those that waited for a file once that is there. What comes
of it waits for the person as any proposal does; what still has no place stays a learning.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from skilld.agents import VARIABLES
from skilld.clock import day, rfc3339
from skilld.ingest.discover import Host
from skilld.jobs.learnings import NO_FILE_REASON
from skilld.protocol import BatchJob
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.learnings import Learning
from skilld.store.meta import REJUDGED_ON
from skilld.types import ClosedBy

WAITING = "waiting"  # the kind of such a batch's job
_A_DAY = 3  # of one project
_SURE = 0.5
# Why an older skilld kept what it heard; all else was kept for what it is, or because the person said no.
_FOR_WANT_OF_A_PLACE = ("no skill was in use", "cannot be edited")


def judge_again(store: Store, around: Host, now: float) -> int:
    """Have learnings judged whose file is there now, and once a day at most three old ones a project: how many."""
    return _judge_placed(store, around, now) + _judge_old(store, around, now)


def _judge_placed(store: Store, around: Host, now: float) -> int:
    count = 0
    for one in store.learnings.for_files():
        name = f"{WAITING}-{one.id}-placed"
        if NO_FILE_REASON in one.why_kept and Path(one.place).is_file() and store.batches.get(name) is None:
            store.batches.add(_batch(around, name, [one], now), ())
            count += 1
    return count


def _judge_old(store: Store, around: Host, now: float) -> int:
    if store.meta.get(REJUDGED_ON) == day(now):
        return 0
    taken: Counter[str] = Counter()
    with store.transaction():
        store.meta.set(REJUDGED_ON, day(now))
        for ask in _asks(store):
            newest = ask[0]
            project, name = newest.project or "", f"{WAITING}-{newest.id}"
            if taken[project] < _A_DAY and store.batches.get(name) is None:
                store.batches.add(_batch(around, name, ask, now), ())
                taken[project] += 1
    return taken.total()


def _asks(store: Store) -> list[list[Learning]]:
    """Return what an older skilld kept, each ask with all the times it was said in one session, the newest first."""
    since = store.learnings.targets_since()
    old = [
        one
        for one in store.learnings.all()
        if one.created_at < since
        and one.project
        and one.turn_key
        and not one.place
        and one.confidence >= _SURE
        and any(why in one.why_kept for why in _FOR_WANT_OF_A_PLACE)
    ]
    if not old:
        return []
    from skilld.words import content_stems, same  # once, after an upgrade

    asks: list[list[Learning]] = []
    for one in old:
        known = [ask for ask in asks if ask[0].project == one.project]
        ask = next((ask for ask in known if same(content_stems(ask[0].change), content_stems(one.change))), None)
        if ask is None:
            asks.append([one])
        elif ask[0].session_id == one.session_id:
            ask.append(one)  # those of other sessions are found among what waits
    return asks


def _batch(around: Host, name: str, ask: list[Learning], now: float) -> StoredBatch:
    newest = ask[0]
    variables = {name: around.environment[name] for name in VARIABLES if name in around.environment}
    job = BatchJob(
        kind=WAITING,
        batch=name,
        agent=newest.agent,
        session_id=newest.session_id,
        cwd=newest.project,
        turns=tuple(dict.fromkeys(one.turn_key for one in ask)),
        home=str(around.home),
        variables=variables,
    )
    return StoredBatch(name, newest.agent, newest.session_id, ClosedBy.ENDED, "pending", job, 0, rfc3339(now))
