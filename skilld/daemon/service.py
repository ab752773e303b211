"""The running daemon: one loop on one thread; watching, scheduling, working and signals only post to its queue."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from apscheduler.schedulers.background import BackgroundScheduler

from skilld import __version__
from skilld.daemon.engine import Engine
from skilld.daemon.observing import Observing
from skilld.daemon.spawn import Worker
from skilld.daemon.systemd import Manager
from skilld.intake.agents import ADAPTERS
from skilld.intake.watch import Watcher
from skilld.notify.desktop import Desktop, about_budget, about_new
from skilld.store.batches import StoredBatch
from skilld.store.meta import DAEMON, NOTICES
from skilld.times import rfc3339
from skilld.types import Proposal

log = structlog.get_logger()

# Seconds between looks. Events make things quick; these make them sure.
_SWEEP = 30
_LOOK = 5  # for new folders, due batches, the person's decisions, a resumed pause
_HEARTBEAT = 20
_DRAIN = 10.0


@dataclass(frozen=True, slots=True)
class _Changed:
    path: str


@dataclass(frozen=True, slots=True)
class _Tick:
    name: str


@dataclass(frozen=True, slots=True)
class _Done:
    batch: StoredBatch | None  # None: a look at decisions made in git
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Planned:
    batch: StoredBatch
    plan: Mapping[str, Any]
    kept: threading.Event


@dataclass(frozen=True, slots=True)
class _Noticed:
    why_not: str


@dataclass(frozen=True, slots=True)
class _Stop:
    signal: int


_Message = _Changed | _Tick | _Planned | _Done | _Noticed | _Stop


class Service:
    """The daemon in the foreground. `proposed` is told every new proposal; without a `desktop` no notice is shown."""

    def __init__(
        self, engine: Engine, proposed: Callable[[list[Proposal]], None], desktop: Desktop | None = None
    ) -> None:
        self._engine = engine
        self._proposed = proposed
        self._desktop = desktop
        self._inbox: queue.SimpleQueue[_Message] = queue.SimpleQueue()
        self._observing = Observing(engine.store, engine.around.umask)
        self._manager = Manager(engine.around.environment)
        self._worker: Worker | None = None
        self._stopping = False
        self._watcher: Watcher | None = None

    def run(self) -> None:
        """Follow, judge and propose until a signal says stop."""
        self._engine.store.batches.recover()
        self._watcher = Watcher(
            changed=lambda path: self._inbox.put(_Changed(path)),
            lost=lambda: self._inbox.put(_Tick("sweep")),
            appeared=lambda: self._inbox.put(_Tick("look")),
        )
        self._watcher.watch(root.folder for root in self._engine.roots)
        scheduler = self._schedule()
        log.info("daemon started", version=__version__, pid=os.getpid(), folders=self._watcher.folders)
        self._handle(_Tick("sweep"))
        self._manager.tell("READY=1", "STATUS=following transcripts")
        try:
            while not self._stopping:
                self._handle_all(self._inbox.get())
        finally:
            self._manager.tell("STOPPING=1")
            scheduler.shutdown(wait=False)
            self._watcher.stop()
            self._drain()
            log.info("daemon stopped")

    def _schedule(self) -> BackgroundScheduler:
        # APScheduler's defaults drop a job that is a second late; after a suspend everything is late.
        scheduler = BackgroundScheduler(
            job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1}, timezone="UTC"
        )
        for name, seconds in (("sweep", _SWEEP), ("look", _LOOK), ("heartbeat", _HEARTBEAT)):
            scheduler.add_job(self._inbox.put, "interval", (_Tick(name),), seconds=seconds, id=name)
        scheduler.start()
        return scheduler

    def take_signals(self) -> None:
        """Let TERM and INT end the daemon in order, and a second one at once. Call it first."""

        def stop(number: int, frame: object) -> None:
            del frame
            if self._stopping:
                os._exit(128 + number)  # the second signal: leave everything as it is
            self._stopping = True
            self._inbox.put(_Stop(number))

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)

    def _handle_all(self, first: _Message) -> None:
        """Handle what has come in; many events of one file are one look at it."""
        paths: dict[str, None] = {}
        others: list[_Message] = []
        message: _Message | None = first
        while message is not None:
            if isinstance(message, _Changed):
                paths[message.path] = None
            elif message not in others:
                others.append(message)
            try:
                message = self._inbox.get_nowait()
            except queue.Empty:
                message = None
        new = sum(self._take_up(path) for path in paths)
        for other in others:
            self._handle(other)
        if new:
            self._engine.close_due(time.time())
        self._work()

    def _take_up(self, path: str) -> int:
        if not path.endswith(".jsonl"):
            return 0
        file = Path(path)
        for root in self._engine.roots:
            if file.is_relative_to(root.folder) and ADAPTERS[root.agent].is_transcript(file):
                return self._engine.follower.take_up(root.agent, file)
        return 0

    def _handle(self, message: _Message) -> None:
        now = time.time()
        match message:
            case _Tick("sweep"):
                self._sweep(now)
            case _Tick("look"):
                self._look(now)
            case _Tick("heartbeat"):
                self._manager.tell("WATCHDOG=1")
                self._say(now)
            case _Planned(batch, plan, kept):
                self._engine.keep_plan(batch, plan, now)
                kept.set()
            case _Done(batch, result):
                self._worker = None
                if batch is None:
                    self._observing.apply(result, now)
                elif new := self._engine.finish(batch, result, now):
                    self._proposed(new)
                    self._notify(about_new(new))
            case _Noticed(why_not):
                self._engine.store.meta.set(NOTICES, why_not)
            case _:
                pass

    def _sweep(self, now: float) -> None:
        self._engine.follower.sweep()
        self._engine.close_due(now)
        self._say(now)

    def _look(self, now: float) -> None:
        if self._watcher is not None:
            if not self._watcher.alive:
                log.warning("watching restarted")
                self._watcher.restart()
            if self._watcher.watch(root.folder for root in self._engine.roots):
                self._engine.follower.sweep()
        self._engine.close_due(now)

    def _work(self) -> None:
        if self._worker is not None or self._stopping:
            return
        now = time.time()
        if batch := self._engine.next_batch(now):
            self._spawn(batch, self._engine.start(batch))
        elif news := self._engine.budget_news():
            self._notify(about_budget(news))
        elif job := self._observing.job(now):
            self._spawn(None, job)

    def _spawn(self, batch: StoredBatch | None, job: Mapping[str, Any]) -> None:
        worker = Worker(job, self._engine.around.environment, self._engine.settings.worker.seconds)
        self._worker = worker

        def keep(plan: Mapping[str, Any]) -> None:
            if batch is not None:
                planned = _Planned(batch, plan, threading.Event())
                self._inbox.put(planned)
                planned.kept.wait()

        threading.Thread(
            target=lambda: self._inbox.put(_Done(batch, worker.result(keep))), name="worker", daemon=True
        ).start()

    def _notify(self, message: str) -> None:
        if self._desktop is not None:
            delivery = self._desktop.show(message)
            delivery.add_done_callback(lambda done: self._inbox.put(_Noticed(done.result())))

    def _drain(self) -> None:
        """Let a running worker come to its end, for a while; what it had then starts again next time."""
        deadline = time.monotonic() + _DRAIN
        while self._worker is not None and time.monotonic() < deadline:
            try:
                message = self._inbox.get(timeout=0.2)
            except queue.Empty:
                continue
            if isinstance(message, _Planned | _Done):
                self._handle(message)
        if self._worker is not None:
            self._worker.kill()
            self._engine.store.batches.recover()

    def _say(self, now: float) -> None:
        """Keep what `status` shows of us."""
        watcher = self._watcher
        self._engine.store.meta.set(
            DAEMON,
            {
                "pid": os.getpid(),
                "version": __version__,
                "seen_at": rfc3339(now),
                "watched": watcher.folders if watcher else 0,
                "unreadable": dict(list(self._engine.follower.unreadable.items())[:20]),
            },
        )
