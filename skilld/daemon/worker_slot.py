"""The one worker at a time: started here, waited for on a thread of its own, which posts what it tells to the loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from skilld.daemon.messages import Done, Message, Planned
from skilld.store.batches import StoredBatch
from skilld.worker.spawn import Worker, start

_OVERDUE = 60.0  # seconds after its time was up by which a worker must be gone


class Working:
    """What runs now, if anything. `post` is given its plan, which it waits to have kept, and its end."""

    def __init__(self, post: Callable[[Message], None]) -> None:
        self._post = post
        self._worker: Worker | None = None
        self._due = 0.0

    @property
    def busy(self) -> bool:
        """Whether a worker runs whose end was not taken in yet."""
        return self._worker is not None

    @property
    def overdue(self) -> bool:
        """Whether a worker should have ended, or been ended, long ago."""
        return self._worker is not None and time.monotonic() >= self._due

    def start(
        self, batch: StoredBatch | None, job: Mapping[str, Any], environment: Mapping[str, str], seconds: float
    ) -> None:
        """Start a worker on a job that may take so many seconds; `batch` is what it is about, if anything."""
        worker = self._worker = start(job, environment, seconds)
        self._due = time.monotonic() + seconds + _OVERDUE

        def keep(plan: Mapping[str, Any]) -> None:
            if batch is not None:
                planned = Planned(batch, plan, threading.Event())
                self._post(planned)
                planned.kept.wait()

        worker.follow(keep, lambda result: self._post(Done(batch, result)))

    def ended(self) -> None:
        """Take in that its end was told."""
        self._worker = None

    def kill(self) -> None:
        """End the worker and everything it started."""
        if self._worker is not None:
            self._worker.kill()
