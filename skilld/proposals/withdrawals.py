"""Remembers for a month by which words the person took rules back: redacted quotes, as of learnings.

Of past sessions the newest are judged first, so that a rule may be heard after the words that take it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from skilld.clock import parse_time, rfc3339
from skilld.protocol import BatchResult
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.meta import WITHDRAWALS
from skilld.values import value_class

_MAX_KEPT = 20  # the newest
_MAX_AGE = 30 * 86400.0  # seconds


@value_class
class Withdrawal:
    """A clause that takes a rule back, where and when it was said (RFC 3339), and when it was stored."""

    turn: str
    quote: str
    project: str
    said_at: str
    kept_at: str


def load_withdrawals(store: Store, now: float) -> list[Withdrawal]:
    """Return what was let go of in the batches of the last month, the newest first."""
    kept = [Withdrawal(**one) for one in store.meta.get(WITHDRAWALS, [])]
    return [one for one in kept if now - (parse_time(one.kept_at) or 0.0) < _MAX_AGE]


def store_withdrawals(store: Store, batch: StoredBatch, result: BatchResult, now: float) -> None:
    """Store the clauses of a batch that take a rule back; delete what is old. Call it in a transaction."""
    known = load_withdrawals(store, now)
    seen = {(one.turn, one.quote) for one in known}
    at = rfc3339(now)
    new = [
        Withdrawal(one.turn, one.quote, batch.job.cwd or "", store.transcripts.said_at(one.turn) or at, at)
        for one in dict.fromkeys(result.withdrawals)
        if (one.turn, one.quote) not in seen
    ]
    _save(store, [*reversed(new), *known][:_MAX_KEPT])


def _save(store: Store, kept: Sequence[Withdrawal]) -> None:
    found = [asdict(one) for one in kept]
    if found != store.meta.get(WITHDRAWALS, []):
        store.meta.set(WITHDRAWALS, found)
