"""Why batches could not be judged, for the terminal of `skilld run`: each reason once, not at each try."""

from __future__ import annotations

from skilld.clock import time_until
from skilld.store import Store

BUDGET_REASON = "the budget is spent"  # how the reason begins that the loop reports itself, once a day


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
        if batch is None or batch.detail.startswith(BUDGET_REASON):
            return ""
        if (batch.state, batch.detail) not in current - self._reported:
            return ""
        self._reported.add((batch.state, batch.detail))
        if batch.state == "parked":
            return f"Could not judge a batch: {batch.detail}. To see what to do: skilld doctor"
        soonest = time_until(delays[batch.detail].next_try, now)
        return f"Waiting to judge a batch: {batch.detail}; next try {soonest}"
