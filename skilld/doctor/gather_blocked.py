"""Facts about what stands in the way of batches: the same obstacle of several batches once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skilld.doctor.values import Blocked
from skilld.store.batches import Obstacle, StoredBatch
from skilld.times import seconds
from skilld.types import Cause

_TOLD = 30 * 86400.0  # seconds for which a transcript that is gone, or an answer of no use, is told of


def blocked(batches: Sequence[StoredBatch], now: float) -> Iterator[Blocked]:
    """Yield what is in the way of batches (newest first), by cause and place; `now` is a Unix time."""
    groups: dict[tuple[Cause, str], list[tuple[StoredBatch, Obstacle]]] = {}
    for batch in batches:
        if batch.obstacle is not None and _is_told(batch, batch.obstacle, now):
            groups.setdefault((batch.obstacle.cause, batch.obstacle.place), []).append((batch, batch.obstacle))
    for (cause, place), found in groups.items():
        newest, obstacle = found[0]
        yield Blocked(
            cause=cause.value,
            place=place,
            detail=newest.detail,
            remedy=obstacle.remedy,
            waits=newest.state in {"pending", "running"},
            batches=len(found),
            kept=sum(len(one.kept) for _, one in found),
        )


def _is_told(batch: StoredBatch, obstacle: Obstacle, now: float) -> bool:
    if obstacle.cause is Cause.SKILL:  # one of which nothing was kept is nobody's loss
        return bool(obstacle.kept)
    if obstacle.cause in {Cause.TRANSCRIPT, Cause.ANSWER}:
        return now - (seconds(batch.created_at) or now) < _TOLD
    return obstacle.cause is Cause.REPOSITORY
