"""The messages to the daemon's loop: from the watcher, the schedule, workers, notifications and signals.

The one job at a time that a worker has is here too: its thread posts two of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from skilld.notify.notice import Digest
from skilld.protocol import BatchResult, Job, PartialResult, Result
from skilld.store.batches import StoredBatch
from skilld.worker.spawn import Worker, no_thread_result


@dataclass(frozen=True, slots=True)
class FileChanged:
    """A file may have changed."""

    path: str


@dataclass(frozen=True, slots=True)
class Tick:
    """It is time for something."""

    name: str


@dataclass(frozen=True, slots=True)
class SetBack:
    """The wall clock was set back; 0 seconds: the machine slept."""

    seconds: float


@dataclass(frozen=True, slots=True)
class JobDone:
    """A job of `working` has ended. Without a batch it was the daemon's own: a look into git, a finding again."""

    working: WorkerSlot
    batch: StoredBatch | None
    result: Result


@dataclass(frozen=True, slots=True)
class JobPlanned:
    """A worker waits with what it is about to do until it is `kept`."""

    batch: StoredBatch
    plan: BatchResult
    kept: threading.Event


@dataclass(frozen=True, slots=True)
class NoticeShown:
    """A notice of what a digest says was shown at a Unix time, or `why_not`."""

    why_not: str
    digest: Digest
    at: float


@dataclass(frozen=True, slots=True)
class Stop:
    """A signal asks us to end."""

    signal: int


Message = FileChanged | Tick | SetBack | JobPlanned | JobDone | NoticeShown | Stop


# One job at a time: a thread waits for the worker and posts its result to the loop.

_OVERDUE = 60.0  # seconds after its time was up by which a job must have ended


class WorkerSlot:
    """The job that a worker has now, if any. `post` is given its plans, which it waits to have kept, and its end."""

    def __init__(self, post: Callable[[Message], None], worker: Worker) -> None:
        self._post = post
        self._worker = worker
        self._due: float | None = None

    @property
    def busy(self) -> bool:
        """Whether there is a job whose end was not taken in yet."""
        return self._due is not None

    @property
    def overdue(self) -> bool:
        """Whether the job should have ended, or been ended, long ago."""
        return self._due is not None and time.monotonic() >= self._due

    def start(self, batch: StoredBatch | None, job: Job, seconds: float) -> None:
        """Hand over a job that may take so many seconds; `batch` is what it is about, if anything."""
        self._due = time.monotonic() + seconds + _OVERDUE

        def keep(plan: PartialResult) -> None:
            if batch is not None and isinstance(plan, BatchResult):
                planned = JobPlanned(batch, plan, threading.Event())
                self._post(planned)
                planned.kept.wait()

        def work() -> None:
            self._post(JobDone(self, batch, self._worker.do(job, seconds, keep)))

        try:
            threading.Thread(target=work, name="worker", daemon=True).start()
        except RuntimeError:  # the machine, or the person's limits, had none left
            self._post(JobDone(self, batch, no_thread_result()))

    def ended(self) -> None:
        """Take in that its end was told."""
        self._due = None

    def rest(self) -> None:
        """Let go of a worker that had nothing to do for a while."""
        if not self.busy:
            self._worker.rest()

    def stop(self) -> None:
        """End the worker and everything it started, whatever it does."""
        self._worker.kill()
