"""Tells systemd the daemon's state (sd_notify) over the socket it names; without systemd, nothing happens.

That we are well is told only while every stage gave a sign of life within its limit: a process whose main loop turns
while its reading or its schedule is dead is not well, and systemd starts it again.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

from skilld import __version__
from skilld.clock import rfc3339
from skilld.store import Store
from skilld.types import State

_MORE = "EXTEND_TIMEOUT_USEC=90000000"  # what systemd waits for READY=1 by default, from now on
_AT_MOST_EVERY = 1.0  # second
_READY = 5.0  # seconds: without that word the manager would end us


class Manager:
    """The service manager that started us, if any. Source: sd_notify(3)."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")

    def tell(self, *messages: str, patience: float = 0.0) -> bool:
        """Send states such as READY=1, WATCHDOG=1, STOPPING=1 or STATUS=text; False if they were lost.

        A manager that does not read is waited for no longer than `patience` seconds: its queue holds few messages.
        """
        if not self._address:
            return True
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.settimeout(patience)
            try:
                channel.sendto("\n".join(messages).encode(), address)
            except OSError:
                return False
        return True


class Watchdog:
    """Signs of life of the daemon's stages, and what the manager is told of them.

    `limits` has the seconds after which a silent stage counts as frozen. Used from one thread.
    """

    def __init__(
        self,
        manager: Manager,
        environment: Mapping[str, str],
        limits: Mapping[str, float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._manager = manager
        self._limits = limits
        self._clock = clock
        self._busy_since = clock()
        self._beats = dict.fromkeys(limits, self._busy_since)
        self._ready = False
        self._status = ""
        self._told = 0.0
        usec, pid = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", "")
        meant = usec.isdecimal() and pid in {"", str(os.getpid())}
        self.patience = int(usec) / 1e6 if meant and int(usec) else float("inf")  # seconds the manager waits for a word

    def begin(self) -> None:
        """Take note that the thread takes up something new."""
        self._busy_since = self._clock()

    def progress(self, stage: str) -> None:
        """Take note that a stage gets on with what was begun: as long as it does, the others cannot speak."""
        now = self._clock()
        for other in self._beats:
            self._beats[other] += now - self._busy_since
        self._busy_since = now
        self.beat(stage)

    def beat(self, stage: str) -> None:
        """Take note that a stage is alive, and tell it if it is time. Cheap: call it as often as there is progress."""
        now = self._beats[stage] = self._clock()
        if now - self._told >= min(_AT_MOST_EVERY, self.patience / 4):
            self._told = now
            if not self._ready:
                self._manager.tell(_MORE)
            elif not self.frozen():
                self._manager.tell("WATCHDOG=1")

    def frozen(self) -> list[str]:
        """Return the stages that were silent for longer than their limits."""
        now = self._clock()
        return [stage for stage, at in self._beats.items() if now - at > self._limits[stage]]

    def say(self, status: str) -> None:
        """Tell in a few words what we do, where that is something new; what was lost is told the next time."""
        if status != self._status and self._manager.tell(f"STATUS={status}"):
            self._status = status

    def ready(self) -> None:
        """Tell that we are there for what we were started for."""
        self._ready = True
        self._manager.tell("READY=1", patience=_READY)

    def stopping(self) -> None:
        """Tell that we are on our way out."""
        self._manager.tell("STOPPING=1", "STATUS=finishing running jobs")


# What the daemon says of itself: facts for `status` and `doctor`, a few words for the service manager.
#
# Counts and places; nothing that anyone said.

_SHOWN = 20  # unreadable files


def facts(unreadable: Mapping[str, str], settings: str, now: float) -> dict[str, Any]:
    """Return what is kept for `status`. `settings` is what is to be said of the settings file."""
    return {
        "pid": os.getpid(),
        "version": __version__,
        "seen_at": rfc3339(now),
        "settings": settings,
        "unreadable": dict(list(unreadable.items())[:_SHOWN]),
    }


def words(store: Store, now: float) -> str:
    """Return what the service manager shows: counts only."""
    what = "paused" if store.meta.paused(now) else "following transcripts"
    waiting, open_ = store.batches.counts()["pending"], store.proposals.count(State.OPEN)
    return f"{what}; batches waiting: {waiting}; proposals open: {open_}"
