"""The alert that turns wait for a day without being judged: raised once, until it recovers."""

from __future__ import annotations

from skilld.clock import rfc3339
from skilld.daemon.judges import new_stall as news
from skilld.daemon.judges import stall_reason
from skilld.protocol import BatchJob
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.meta import FOREVER, PAUSED_UNTIL
from skilld.types import ClosedBy

NOW = 1772442000.0
HOUR = 3600.0


def close_batch(store: Store, name: str, hours_ago: float, outcome: str | None = None) -> None:
    """Have a batch been closed some hours ago; with an outcome nothing but chatter was in it."""
    at = rfc3339(NOW - hours_ago * HOUR)
    store.batches.add(StoredBatch(name, "a", "s", ClosedBy.FULL, "pending", BatchJob(), 0, at), [], outcome=outcome)


def judge_turn(store: Store, name: str, hours_ago: float) -> None:
    """Have a batch been judged some hours ago."""
    store.batches.start(name)
    store.batches.finish(name, "nothing", "", rfc3339(NOW - hours_ago * HOUR))


def test_a_batch_waiting_for_a_day_is_reported_with_the_reason(store: Store) -> None:
    close_batch(store, "old", 30)
    close_batch(store, "new", 1)
    store.batches.postpone("old", NOW, "the server says 500")
    assert stall_reason(store, NOW) == "the server says 500"
    store.batches.park("new", "failed", "the key is refused")
    assert stall_reason(store, NOW) == "the key is refused"


def test_a_day_with_a_verdict_raises_no_alarm(store: Store) -> None:
    close_batch(store, "judged", 31)
    close_batch(store, "stuck", 30)
    judge_turn(store, "judged", 23)
    assert stall_reason(store, NOW) is None
    assert stall_reason(store, NOW + 2 * HOUR) == "no batches were completed"


def test_no_alarm_without_input_with_only_chatter_or_when_paused(store: Store) -> None:
    assert stall_reason(store, NOW) is None
    close_batch(store, "chatter", 90, outcome="nothing")
    assert stall_reason(store, NOW) is None
    close_batch(store, "stuck", 30)
    store.meta.set(PAUSED_UNTIL, FOREVER)
    assert stall_reason(store, NOW) is None


def test_the_alarm_is_raised_once_and_again_after_recovery(store: Store) -> None:
    close_batch(store, "stuck", 30)
    assert news(store, NOW) == "no batches were completed"
    assert news(store, NOW) is None
    judge_turn(store, "stuck", 0)
    assert news(store, NOW) is None
    close_batch(store, "again", -1)
    assert news(store, NOW + 30 * HOUR) == "no batches were completed"
