"""Detects that a waiting session is over: its client has exited, or has moved on to another session.

Few logs record the end of a session. A client has one session at a time, so if more sessions of an agent wait in a
folder than clients run there, the ones silent for longest are over: all of them once the last client has exited, and
the one before `/clear` as soon as the next begins. This is wrong if a session was left open beside others: its words
are then judged early, and later ones make a new batch.

A session whose client was never seen, as in an editor, waits for the idle time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from skilld.agents import ADAPTERS
from skilld.batching.closing import SessionKey
from skilld.caller.clients import Client, find_clients, is_alive
from skilld.files import are_nested
from skilld.store.transcripts import Transcripts

_RECHECK_SECONDS = 60.0
_SETTLED_SECONDS = 2.0  # of silence, after which a client's last lines have been read


class Presence:
    """The clients of the waiting sessions, in memory. Processes are only listed when there is an unknown speaker."""

    def __init__(self, rows: Transcripts, find: Callable[[], list[Client]] | None = None) -> None:
        self._rows = rows
        self._find = find or find_clients
        self._clients: list[Client] = []
        self._spoke: set[SessionKey] = set()
        self._seen: set[SessionKey] = set()  # those at which a client was seen
        self._alone: dict[SessionKey, float] = {}  # those at which none was when it was last looked for, and when

    def note_activity(self, session: SessionKey) -> None:
        """Note that somebody spoke in a waiting session, so its client is running."""
        self._spoke.add(session)

    def end_sessions(self, waiting: Collection[SessionKey], now: float) -> list[SessionKey]:
        """Record which of the waiting sessions are over at a Unix time, and return them."""
        self._seen.intersection_update(waiting)
        self._alone = {one: at for one, at in self._alone.items() if 0 <= now - at < _RECHECK_SECONDS}
        if self._spoke or self._seen:
            self._clients = [client for client in self._clients if is_alive(client.pid)]
        if any(map(self._is_unknown, self._spoke)):
            self._clients = self._find()
        looked_for, self._spoke = self._spoke, set()
        ended = [one for one in waiting if (one in looked_for or one in self._seen) and self._is_over(one, now)]
        for agent, session_id in ended:
            self._rows.end_session(agent, session_id)
        return ended

    def _is_over(self, session: SessionKey, now: float) -> bool:
        agent, _ = session
        folder = self._rows.cwd(*session) or ""
        at_work = self._count_clients(agent, folder)
        if at_work:
            self._seen.add(session)
        elif session not in self._seen:
            self._alone.setdefault(session, now)
            return False
        active, _ = self._rows.activity(*session)
        if now - active < _SETTLED_SECONDS:
            return False
        return sum(are_nested(other, folder) for other in self._rows.folders_after(*session)) >= at_work

    def _is_unknown(self, session: SessionKey) -> bool:
        """Whether to look for the client of a session in which somebody spoke.

        Listing 70 processes takes 4 ms, so it is not done for each turn of a known client, nor for each turn of a
        session without one, as in an editor.
        """
        if session in self._seen:
            return not self._count_clients(session[0], self._rows.cwd(*session) or "")
        return session not in self._alone

    def _count_clients(self, agent: str, folder: str) -> int:
        title = ADAPTERS[agent].INFO.title if agent in ADAPTERS else ""
        return sum(client.title == title and are_nested(client.folder, folder) for client in self._clients)
