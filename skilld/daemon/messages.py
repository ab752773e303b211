"""The messages to the daemon's loop, from the watcher, the schedule, workers, notifications and signals.

Also the thread that waits for a worker's job and has the loop do what follows.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from skilld.classify.backends.paid_calls import Charge, ModelCall
from skilld.protocol import BatchResult, Job, PartialResult, Result
from skilld.values import value_class
from skilld.worker.spawn import Worker, no_thread_result, refuse_calls

Answer = TypeVar("Answer")


@value_class
class FileChanged:
    """A file may have changed."""

    path: str


@value_class
class Tick:
    """A periodic check is due."""

    name: str


Action = Callable[[float], None]
"""What the loop is to do on its thread at a Unix time; it is done again if the store could not be written."""

Message = FileChanged | Tick | Action


# One job at a time: a thread waits for the worker, and the loop handles its result.

_OVERDUE_SECONDS = 60.0  # after its time limit, by which a job must have ended


class WorkerSlot:
    """A worker and its current job, if any. `post` gets what the loop is to do for the job."""

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

    def start(
        self,
        job: Job,
        seconds: float,
        done: Callable[[Result, float], None],
        save: Callable[[BatchResult, float], None] = lambda _plan, _now: None,
        charge: Charge = refuse_calls,
    ) -> None:
        """Start a job that may take so many seconds. On the loop's thread `done` gets its end, and `save` its plan.

        `charge` books its calls there; the worker waits for that, and for the plan to be saved.
        """
        self._due = time.monotonic() + seconds + _OVERDUE_SECONDS

        def keep(plan: PartialResult) -> None:
            if isinstance(plan, BatchResult):
                self._have_done(partial(save, plan))

        def report(call: ModelCall) -> str:
            return self._have_done(lambda _: charge(call))

        def end(result: Result, now: float) -> None:
            self._due = None
            done(result, now)

        def work() -> None:
            self._post(partial(end, self._worker.do(job, seconds, keep, charge=report)))

        try:
            threading.Thread(target=work, name="worker", daemon=True).start()
        except RuntimeError:  # no more threads are allowed
            self._post(partial(end, no_thread_result()))

    def _have_done(self, action: Callable[[float], Answer]) -> Answer:
        """Have the loop do something, and return its answer."""
        answer: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._post(lambda now: answer.put(action(now)))
        return answer.get()

    def close_if_idle(self) -> None:
        """End a worker that has been idle for a while."""
        if not self.busy:
            self._worker.close_if_idle()

    def stop(self) -> None:
        """Kill the worker and everything it started."""
        self._worker.kill()
