"""Reports the daemon's state to systemd (sd_notify); without systemd it does nothing.

The watchdog is only notified while every stage has given a sign of life within its limit: if the main loop runs but
reading or the schedule is dead, systemd restarts the daemon.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

from skilld import __version__
from skilld.store import Store
from skilld.types import State

_EXTEND_TIMEOUT = "EXTEND_TIMEOUT_USEC=90000000"  # systemd's default timeout for READY=1, starting now
_MIN_INTERVAL_SECONDS = 1.0
_READY_SECONDS = 5.0  # to deliver READY=1, without which the manager would end us


class Manager:
    """The service manager that started us, if any. Source: sd_notify(3)."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")

    def notify(self, *messages: str, patience: float = 0.0) -> bool:
        """Send states such as READY=1, WATCHDOG=1, STOPPING=1 or STATUS=text; False if they were lost.

        If the manager's short queue is full, wait for at most `patience` seconds.
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
    """Collects signs of life of the daemon's stages, and notifies the manager.

    `limits` has the seconds after which a silent stage counts as frozen. For one thread only.
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
        self.patience = int(usec) / 1e6 if meant and int(usec) else float("inf")  # the manager's timeout in seconds

    def begin(self) -> None:
        """Note that the thread begins something new."""
        self._busy_since = self._clock()

    def progress(self, stage: str) -> None:
        """Note that a stage makes progress; meanwhile the other stages cannot give signs of life."""
        now = self._clock()
        for other in self._beats:
            self._beats[other] += now - self._busy_since
        self._busy_since = now
        self.beat(stage)

    def beat(self, stage: str) -> None:
        """Note that a stage is alive, and notify the manager if it is time. Cheap enough to be called often."""
        now = self._beats[stage] = self._clock()
        if now - self._told >= min(_MIN_INTERVAL_SECONDS, self.patience / 4):
            self._told = now
            if not self._ready:
                self._manager.notify(_EXTEND_TIMEOUT)
            elif not self.frozen_stages():
                self._manager.notify("WATCHDOG=1")

    def frozen_stages(self) -> list[str]:
        """Return the stages that have been silent for longer than their limits."""
        now = self._clock()
        return [stage for stage, at in self._beats.items() if now - at > self._limits[stage]]

    def set_status(self, status: str) -> None:
        """Report a new status text; if it is lost, the next call reports it again."""
        if status != self._status and self._manager.notify(f"STATUS={status}"):
            self._status = status

    def notify_ready(self) -> None:
        """Report that the daemon is ready."""
        self._ready = True
        self._manager.notify("READY=1", patience=_READY_SECONDS)

    def notify_stopping(self) -> None:
        """Report that the daemon is stopping."""
        self._manager.notify("STOPPING=1", "STATUS=finishing running jobs")


# The daemon's state for `status`, `doctor` and the service manager: counts and paths, nothing that anyone said.

_MAX_SHOWN_FILES = 20  # unreadable files


def daemon_facts(unreadable: Mapping[str, str], settings: str, environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the facts that `status` shows. `settings` is the message about the settings file.

    Of the keys in the environment only the names are stored, to tell a person which one the daemon lacks.
    """
    return {
        "pid": os.getpid(),
        "version": __version__,
        "settings": settings,
        "keys": sorted(name for name, value in environment.items() if value and name.endswith("_API_KEY")),
        "unreadable": dict(list(unreadable.items())[:_MAX_SHOWN_FILES]),
    }


def status_text(store: Store, now: float) -> str:
    """Return the status text for the service manager: counts only."""
    what = "paused" if store.meta.paused(now) else "following transcripts"
    waiting, open_ = store.batches.counts()["pending"], store.proposals.count(State.OPEN)
    return f"{what}; batches waiting: {waiting}; proposals open: {open_}"
