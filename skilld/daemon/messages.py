"""The messages to the daemon's loop: from the watcher, the schedule, workers, notifications and signals."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skilld.notify.notice import Digest
from skilld.protocol import BatchResult, Result
from skilld.store.batches import StoredBatch

if TYPE_CHECKING:
    from skilld.daemon.worker_slot import WorkerSlot


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
