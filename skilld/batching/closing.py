"""Groups the turns of one session into batches. Pure: no store, no clock of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from skilld.types import ClosedBy


class PendingTurn(Protocol):
    """What the window needs to know of a turn that waits."""

    @property
    def key(self) -> str:
        """The turn's key."""

    @property
    def lasting(self) -> bool:
        """What the gate said of it."""


T = TypeVar("T", bound=PendingTurn)


@dataclass(frozen=True, slots=True)
class ClosedBatch(Generic[T]):
    """Turns that make a batch now. `chatter` says that none of them is worth a question."""

    turns: tuple[T, ...]
    closed_by: ClosedBy
    chatter: bool

    @property
    def batch_id(self) -> str:
        """The same turns give the same id, however often they are closed."""
        return batch_id([turn.key for turn in self.turns])


def batch_id(keys: Sequence[str]) -> str:
    """Return the id of the batch made of these turns, in order: 16 hexadecimal digits."""
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:16]


def close(
    waiting: Sequence[T], *, size: int, idle_seconds: float, idle_limit: float, ended: bool
) -> list[ClosedBatch[T]]:
    """Return the batches that are due among the turns of one session that wait, in order.

    Every `size` turns make one. What is left over is closed when the session ended or was idle for `idle_limit`
    seconds, unless it is nothing but chatter: that goes on waiting for company and costs nothing.
    """
    whole = len(waiting) - len(waiting) % size
    closings = [_closing(waiting[i : i + size], ClosedBy.FULL) for i in range(0, whole, size)]
    rest = waiting[whole:]
    over = ended or idle_seconds >= idle_limit
    if over and any(turn.lasting for turn in rest):
        closings.append(_closing(rest, ClosedBy.ENDED if ended else ClosedBy.IDLE))
    return closings


def _closing(turns: Sequence[T], closed_by: ClosedBy) -> ClosedBatch[T]:
    return ClosedBatch(tuple(turns), closed_by, chatter=not any(turn.lasting for turn in turns))


# When a session that waits for company will have been idle for long enough: only the sessions due are ever looked at.

Session = tuple[str, str]  # agent, session id


class Deadlines:
    """The Unix time at which each waiting session is to be looked at again."""

    def __init__(self) -> None:
        self._times: dict[Session, float] = {}

    def set(self, session: Session, at: float) -> None:
        """Have a session come up at a time, whatever was said before."""
        self._times[session] = at

    def drop(self, session: Session) -> None:
        """Let a session not come up any more."""
        self._times.pop(session, None)

    @property
    def sessions(self) -> list[Session]:
        """Those that wait."""
        return list(self._times)

    def take(self, now: float) -> list[Session]:
        """Return the sessions whose time has come, each once; they come up no more."""
        due = sorted((at, session) for session, at in self._times.items() if at <= now)
        for _, session in due:
            del self._times[session]
        return [session for _, session in due]
