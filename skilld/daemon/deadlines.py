"""When a session that waits for company will have been idle for long enough: only the sessions due are ever looked at.

Kept in memory; the store says the same at any start. Pure: times are arguments.
"""

from __future__ import annotations

import heapq

Session = tuple[str, str]  # agent, session id


class Deadlines:
    """The Unix time at which each waiting session is to be looked at again."""

    def __init__(self) -> None:
        self._times: dict[Session, float] = {}
        self._heap: list[tuple[float, Session]] = []

    def set(self, session: Session, at: float) -> None:
        """Have a session come up at a time, whatever was said before."""
        self._times[session] = at
        heapq.heappush(self._heap, (at, session))

    def drop(self, session: Session) -> None:
        """Let a session not come up any more."""
        self._times.pop(session, None)

    def take(self, now: float) -> list[Session]:
        """Return the sessions whose time has come, each once; they come up no more."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            at, session = heapq.heappop(self._heap)
            if self._times.get(session) == at:
                del self._times[session]
                due.append(session)
        return due
