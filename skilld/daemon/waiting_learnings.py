"""Judges learnings again, with the offline rules, once the file that they waited for exists.

The results are ordinary proposals; what still has no file stays a learning.
"""

from __future__ import annotations

from pathlib import Path

from skilld.agents import context_variables
from skilld.clock import rfc3339
from skilld.ingest.discover import Host
from skilld.jobs.learnings import NO_FILE_REASON
from skilld.protocol import BatchJob
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.learnings import Learning
from skilld.types import ClosedBy

WAITING_KIND = "waiting"  # the kind of such a batch's job


def judge_again(store: Store, host: Host, now: float) -> int:
    """Queue the learnings whose file exists now; return how many."""
    count = 0
    for one in store.learnings.for_files():
        name = f"{WAITING_KIND}-{one.id}-placed"
        if NO_FILE_REASON in one.why_kept and Path(one.place).is_file() and store.batches.get(name) is None:
            store.batches.add(_waiting_batch(host, name, one, now), ())
            count += 1
    return count


def _waiting_batch(host: Host, name: str, one: Learning, now: float) -> StoredBatch:
    job = BatchJob(
        kind=WAITING_KIND,
        batch=name,
        agent=one.agent,
        session_id=one.session_id,
        cwd=one.project,
        turns=(one.turn_key,),
        home=str(host.home),
        variables={name: host.environment[name] for name in context_variables() if name in host.environment},
    )
    return StoredBatch(name, one.agent, one.session_id, ClosedBy.ENDED, "pending", job, 0, rfc3339(now))
