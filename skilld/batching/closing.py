"""Groups the turns of one session into batches. Pure: no store, no clock of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from skilld.types import ClosedBy
from skilld.values import value_class


class PendingTurn(Protocol):
    """What closing needs to know of a waiting turn."""

    @property
    def key(self) -> str:
        """The turn's key."""

    @property
    def lasting(self) -> bool:
        """The gate's decision."""


T = TypeVar("T", bound=PendingTurn)


@value_class
class ClosedBatch(Generic[T]):
    """Turns that form a batch. `chatter`: none of them is worth a question to a back-end."""

    turns: tuple[T, ...]
    closed_by: ClosedBy
    chatter: bool

    @property
    def batch_id(self) -> str:
        """The same turns always have the same id."""
        return batch_id([turn.key for turn in self.turns])


def batch_id(keys: Sequence[str]) -> str:
    """Return the id of the batch made of these turns, in order: 16 hexadecimal digits."""
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:16]


def close_batches(
    waiting: Sequence[T], *, size: int, idle_seconds: float, idle_limit: float, ended: bool
) -> list[ClosedBatch[T]]:
    """Return the batches that are due among the waiting turns of one session, in order.

    Every `size` turns form one. The rest is closed when the session has ended or was idle for `idle_limit` seconds,
    unless it is only chatter, which waits for further turns.
    """
    whole = len(waiting) - len(waiting) % size
    closings = [_make_batch(waiting[i : i + size], ClosedBy.FULL) for i in range(0, whole, size)]
    rest = waiting[whole:]
    over = ended or idle_seconds >= idle_limit
    if over and any(turn.lasting for turn in rest):
        closings.append(_make_batch(rest, ClosedBy.ENDED if ended else ClosedBy.IDLE))
    return closings


def _make_batch(turns: Sequence[T], closed_by: ClosedBy) -> ClosedBatch[T]:
    return ClosedBatch(tuple(turns), closed_by, chatter=not any(turn.lasting for turn in turns))


SessionKey = tuple[str, str]  # agent, session id


class Deadlines:
    """The Unix time at which each waiting session is due, so that only due sessions are checked."""

    def __init__(self) -> None:
        self._times: dict[SessionKey, float] = {}

    def set(self, session: SessionKey, at: float) -> None:
        """Set the time of a session, replacing any earlier one."""
        self._times[session] = at

    def drop(self, session: SessionKey) -> None:
        """Forget a session."""
        self._times.pop(session, None)

    @property
    def sessions(self) -> list[SessionKey]:
        """The waiting sessions."""
        return list(self._times)

    def take(self, now: float) -> list[SessionKey]:
        """Remove and return the due sessions."""
        due = sorted((at, session) for session, at in self._times.items() if at <= now)
        for _, session in due:
            del self._times[session]
        return [session for _, session in due]
