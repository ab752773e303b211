"""Whether a waiting session is over: its client has exited, or has moved on to another session.

Few logs say that a session is over. A client has one session at a time. So where more sessions of an agent wait in a
folder than clients of it work there, those silent for longest are over: all of them once the last client has gone, and
the one before `/clear` as soon as the next has begun. Wrong now and then, where a session was left open beside others;
its words are then judged sooner than they had to be, and what is said there later makes a batch of its own.

A session whose client was never seen, as in an editor, waits for as long as it ever did.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import PurePath

from skilld.agents import ADAPTERS
from skilld.agents.programs import PROGRAMS
from skilld.batching.closing import SessionKey
from skilld.caller.clients import Client, find_clients, is_alive
from skilld.caller.judge import Agents
from skilld.store.transcripts import Transcripts

_LOOK_AGAIN = 60.0  # seconds
_SETTLED = 2.0  # seconds without a word: what a client writes as it goes has been read by then


class Presence:
    """Knows the clients of the sessions that wait. Kept in memory; looks for processes only when somebody new spoke."""

    def __init__(self, rows: Transcripts, find: Callable[[], list[Client]] | None = None) -> None:
        self._rows = rows
        self._find = find or _find
        self._clients: list[Client] = []
        self._spoke: set[SessionKey] = set()
        self._seen: set[SessionKey] = set()  # those at which a client was seen
        self._alone: dict[SessionKey, float] = {}  # those at which none was when it was last looked for, and when

    def note(self, session: SessionKey) -> None:
        """Somebody spoke in a session that waits: whoever did is at work now."""
        self._spoke.add(session)

    def end(self, waiting: Collection[SessionKey], now: float) -> list[SessionKey]:
        """Record which of the sessions that wait are over (Unix time), and return them."""
        self._seen.intersection_update(waiting)
        self._alone = {one: at for one, at in self._alone.items() if 0 <= now - at < _LOOK_AGAIN}
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
        at_work = self._at_work(agent, folder)
        if at_work:
            self._seen.add(session)
        elif session not in self._seen:
            self._alone.setdefault(session, now)
            return False
        active, _ = self._rows.activity(*session)
        if now - active < _SETTLED:
            return False
        return sum(_related(other, folder) for other in self._rows.folders_after(*session)) >= at_work

    def _is_unknown(self, session: SessionKey) -> bool:
        """Whether to look for the client of a session in which somebody spoke.

        A look at all processes takes 4 ms for 70 of them, so not for each word to a client that is known, nor for each
        in a session at which none was seen, as in an editor.
        """
        if session in self._seen:
            return not self._at_work(session[0], self._rows.cwd(*session) or "")
        return session not in self._alone

    def _at_work(self, agent: str, folder: str) -> int:
        """Return how many clients of an agent are at work in a folder."""
        title = ADAPTERS[agent].INFO.title if agent in ADAPTERS else ""
        return sum(client.title == title and _related(client.folder, folder) for client in self._clients)


def _related(one: str, other: str) -> bool:
    """Whether one folder is the other or within it: a session may name the one in which its last command ran."""
    here, there = PurePath(one).parts, PurePath(other).parts
    return bool(one and other) and all(a == b for a, b in zip(here, there, strict=False))


def _find() -> list[Client]:
    return find_clients(Agents((one.title, one.names, one.packages, one.marks) for one in PROGRAMS))
