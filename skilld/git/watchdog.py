"""Ends what takes too long, with one thread for all: a timer for each answer of git would cost more than the answer."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Watchdog:
    """Watches blocks of code in any thread; its own thread ends some time after the last of them has."""

    def __init__(self) -> None:
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._changed = threading.Condition()
        self._watched: dict[object, tuple[float, Callable[[], object]]] = {}
        self._wakes_at = 0.0
        self._is_running = False

    @contextmanager
    def limit(self, seconds: float, end: Callable[[], object]) -> Iterator[None]:
        """Call `end`, in another thread, if the block takes longer than `seconds`."""
        block = object()
        until = time.monotonic() + seconds
        with self._changed:
            self._watched[block] = until, end
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._watch, name="git watchdog", daemon=True).start()
            elif until < self._wakes_at:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._watched.pop(block, None)

    def _watch(self) -> None:
        with self._changed:
            while self._watched:
                now = time.monotonic()
                for block, (until, end) in [*self._watched.items()]:
                    if until <= now:
                        del self._watched[block]
                        end()
                if self._watched:
                    self._wakes_at = min(until for until, _ in self._watched.values())
                    self._changed.wait(self._wakes_at - now)
            self._is_running = False


WATCHDOG = Watchdog()
