"""The messages to the daemon's loop, from the watcher, the schedule, workers, notifications and signals.

Also the thread that waits for a worker's job and posts two of the messages.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

from skilld.classify.backends.paid_calls import Charge, ModelCall
from skilld.notify.notice import Digest
from skilld.protocol import BatchResult, Job, PartialResult, Result
from skilld.store.batches import StoredBatch
from skilld.values import value_class
from skilld.worker.spawn import Worker, no_thread_result, refuse_calls


@value_class
class FileChanged:
    """A file may have changed."""

    path: str


@value_class
class Tick:
    """A periodic check is due."""

    name: str


@value_class
class ClockSetBack:
    """The wall clock was set back; 0 seconds: the machine was suspended."""

    seconds: float


@value_class
class JobDone:
    """A job has ended. Without a batch it was one of the daemon's own: an observation, a survey, a recovery."""

    working: WorkerSlot
    batch: StoredBatch | None
    result: Result


@value_class
class JobPlanned:
    """A worker waits until its plan is `kept`."""

    batch: StoredBatch
    plan: BatchResult
    kept: threading.Event


@value_class
class CallReported:
    """A worker reports a call of a model and waits for the answer of `charge`, which books it."""

    call: ModelCall
    charge: Charge
    answer: queue.SimpleQueue[str]


@value_class
class NoticeShown:
    """The notice for a digest was shown at a Unix time, or `why_not`."""

    why_not: str | None
    digest: Digest
    at: float


@value_class
class Stop:
    """A signal asks the daemon to end."""

    signal: int


Message = FileChanged | Tick | ClockSetBack | JobPlanned | CallReported | JobDone | NoticeShown | Stop


# One job at a time: a thread waits for the worker and posts its result to the loop.

_OVERDUE_SECONDS = 60.0  # after its time limit, by which a job must have ended


class WorkerSlot:
    """A worker and its current job, if any. `post` gets the job's plan, which must be stored, and its end."""

    def __init__(self, post: Callable[[Message], None], worker: Worker) -> None:
        self._post = post
        self._worker = worker
        self._due: float | None = None

    @property
    def busy(self) -> bool:
        """Whether there is a job whose end has not been handled."""
        return self._due is not None

    @property
    def overdue(self) -> bool:
        """Whether the job should have ended, or been killed, long ago."""
        return self._due is not None and time.monotonic() >= self._due

    def start(self, batch: StoredBatch | None, job: Job, seconds: float, charge: Charge = refuse_calls) -> None:
        """Start a job that may take so many seconds; `batch` is its batch, if any, `charge` books its calls."""
        self._due = time.monotonic() + seconds + _OVERDUE_SECONDS

        def keep(plan: PartialResult) -> None:
            if batch is not None and isinstance(plan, BatchResult):
                planned = JobPlanned(batch, plan, threading.Event())
                self._post(planned)
                planned.kept.wait()

        def report(call: ModelCall) -> str:
            told = CallReported(call, charge, queue.SimpleQueue())
            self._post(told)
            return told.answer.get()

        def work() -> None:
            self._post(JobDone(self, batch, self._worker.do(job, seconds, keep, charge=report)))

        try:
            threading.Thread(target=work, name="worker", daemon=True).start()
        except RuntimeError:  # no more threads are allowed
            self._post(JobDone(self, batch, no_thread_result()))

    def clear(self) -> None:
        """Mark the job's end as handled."""
        self._due = None

    def close_if_idle(self) -> None:
        """End a worker that has been idle for a while."""
        if not self.busy:
            self._worker.close_if_idle()

    def stop(self) -> None:
        """Kill the worker and everything it started."""
        self._worker.kill()
