"""The daemon's event loop on one thread. The watcher, the schedule, workers and signals only post to its queue."""

from __future__ import annotations

import os
import queue
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from skilld import __version__
from skilld.classify.backends.paid_calls import ModelCall
from skilld.clock import rfc3339
from skilld.daemon import judges, recovery, settings_cache, systemd
from skilld.daemon import schedule as nightly
from skilld.daemon.engine import Engine
from skilld.daemon.messages import FileChanged, Message, Tick, WorkerSlot
from skilld.daemon.notices import Notices
from skilld.daemon.obstacles import Setbacks
from skilld.daemon.reload import SettingsFile
from skilld.daemon.schedule import Schedule
from skilld.daemon.surveys import SurveySchedule
from skilld.daemon.systemd import Manager, Watchdog
from skilld.daemon.watching import FolderWatch
from skilld.errors import SkilldError
from skilld.ingest.watch import Throttle
from skilld.logs import get_logger
from skilld.notify.desktop import Desktop
from skilld.notify.notice import CANNOT_STORE, WAITING, about_budget, about_stall, about_waiting
from skilld.proposals.poll import PollSchedule
from skilld.proposals.poll import record_observation as record_look
from skilld.protocol import GitResult, Job, Result
from skilld.store.batches import StoredBatch
from skilld.store.budget import Account
from skilld.store.connection import DamagedError, StoreError
from skilld.store.meta import DAEMON, LAST_ERROR
from skilld.types import Proposal
from skilld.worker.spawn import VerbWorker, Worker

log = get_logger()

# Periodic checks: events make skilld fast, these make it reliable.
_SWEEP_SECONDS = 30  # of new folders and errands as well
_FULL_SWEEP_SECONDS = 600  # also of folders in which nothing happened lately
_RECENT_SECONDS = 300.0
_LOOK_SECONDS = 5  # for due batches, the person's decisions, a resumed pause
_HEARTBEAT_SECONDS = 20
_COUNT_SECONDS = 600  # of the watched folders, and of the daily copy
# After this time without a sign of life a stage counts as frozen. A silent schedule is woken after 15 s.
_FROZEN_SECONDS = {"intake": 4 * _SWEEP_SECONDS, "look": 12 * _LOOK_SECONDS, "worker": 3 * _HEARTBEAT_SECONDS}
_DRAIN_SECONDS = 10.0  # seconds for what runs at the end, together


class Loop:
    """The daemon in the foreground.

    `tell` gets proposals that are new or were repeated, and the number of learnings that wait for a file if it grew.
    `check` raises if the daemon must stop. `show_life` gets the Unix time at least every 20 s. `warn` gets a line when
    a batch fails or must wait, once for each reason, when nothing can be stored, or when new settings are refused.
    """

    def __init__(
        self,
        engine: Engine,
        tell: Callable[[list[Proposal], int], None],
        desktop: Desktop | None = None,  # without one no notice is shown
        settings_file: Path | None = None,
        check: Callable[[], None] = lambda: None,
        *,
        show_life: Callable[[float], None] = lambda _: None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._engine = engine
        self._tell = tell
        self._check = check
        self._show_life = show_life
        self._warn = warn
        self._setbacks = Setbacks(engine.store)
        self._inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._notices = Notices(engine.store, engine.settings.notify, desktop, self._inbox.put, engine.host.environment)
        self._observing = PollSchedule(engine.store)
        self._surveys = SurveySchedule(engine.store, engine.host)
        environment = engine.host.environment
        self._watchdog = Watchdog(Manager(environment), environment, _FROZEN_SECONDS)
        self._working = WorkerSlot(self._inbox.put, Worker(environment))
        self._verb = WorkerSlot(self._inbox.put, VerbWorker(environment))
        self._due: list[Message] = []  # to be handled; kept here while it cannot be stored
        self._trouble = ""
        self._watching: FolderWatch | None = None
        self._settings_file = SettingsFile(settings_file, engine.settings)
        self._swept = False  # since errands were last looked for
        self._stopping = False
        self._drain_seconds = _DRAIN_SECONDS
        self.stopped_by = 0  # the signal, once there was one
        self._rests = Throttle(lambda path: self._inbox.put(FileChanged(str(path))))

    def run(self) -> None:
        """Follow, judge and propose until a signal stops it."""
        self._engine.store.batches.recover()
        self._engine.follower.progress = lambda: self._watchdog.progress("intake")
        self._watching = FolderWatch(self._engine.roots, self._inbox.put)
        heartbeat = min(_HEARTBEAT_SECONDS, self._watchdog.patience / 3)
        periods = {
            "sweep": _SWEEP_SECONDS,
            "full sweep": _FULL_SWEEP_SECONDS,
            "look": _LOOK_SECONDS,
            "heartbeat": heartbeat,
            "count": _COUNT_SECONDS,
        }
        schedule = Schedule(lambda name: self._inbox.put(Tick(name)), periods)
        log.info("daemon started", version=__version__, pid=os.getpid(), folders=self._watching.folders)
        self._inbox.put(Tick("count"))
        self._handle_safely(Tick("full sweep"))
        self._watchdog.notify_ready()
        try:
            while not self._stopping:
                message = self._next_message(schedule)
                self._check_files()
                self._handle_safely(message)
        finally:
            self._watchdog.notify_stopping()
            schedule.stop()
            self._watching.stop()
            self._drain()
            log.info("daemon stopped")

    def _check_files(self) -> None:
        """Raise if the daemon must stop. Running jobs are then stopped too, and done again at the next start."""
        try:
            self._check()
        except SkilldError:
            self._drain_seconds = 0.0
            raise

    def handle_signals(self) -> None:
        """Let TERM, INT and HUP end the daemon gracefully, and a second one at once. Call it first."""

        def stop(number: int, frame: object) -> None:
            del frame
            if self._stopping:
                os._exit(128 + number)  # the second signal: exit at once
            self._stopping = True
            self.stopped_by = number
            self._inbox.put(lambda _: None)  # wakes the loop

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:  # nohup ignores it
            signal.signal(signal.SIGHUP, stop)

    def _next_message(self, schedule: Schedule) -> Message:
        """Return the next message, waking a silent schedule."""
        while True:
            if (set_back := schedule.wake_if_silent()) is not None:
                log.warning("the clock was set back, or the machine slept", seconds=round(set_back))
                seconds = set_back
                return lambda _: self._engine.clock_was_set_back(seconds)
            with suppress(queue.Empty):
                return self._inbox.get(timeout=schedule.patience)

    def _handle_safely(self, message: Message) -> None:
        """Handle a message. If the store cannot be written, as on a full disk, it waits for the next one."""
        self._watchdog.begin()
        try:
            self._handle_all(message)
            if self._trouble:
                self._engine.store.meta.set(LAST_ERROR, {"at": rfc3339(time.time()), "message": self._trouble})
                self._trouble = ""
        except DamagedError:
            raise
        except StoreError as error:
            if not self._trouble:
                log.warning("the database cannot be written", error=error.cause)
                self._warn(f"{CANNOT_STORE} {error.cause}")
                with suppress(StoreError):
                    self._notices.add_trouble("store", CANNOT_STORE, time.time())
            self._trouble = str(error)
            if Tick("full sweep") not in self._due:
                self._due.append(Tick("full sweep"))

    def _handle_all(self, first: Message) -> None:
        """Handle all queued messages; many events of one file are handled as one."""
        paths: dict[str, None] = {}
        message: Message | None = first
        while message is not None:
            if isinstance(message, FileChanged):
                paths[message.path] = None
            elif message not in self._due:
                self._due.append(message)
            try:
                message = self._inbox.get_nowait()
            except queue.Empty:
                message = None
        unreadable = dict(self._engine.follower.unreadable)
        self._engine.follower.read_all_new(filter(None, map(self._transcript_of, paths)))
        if unreadable != self._engine.follower.unreadable:
            self._store_status(time.time())
        busy = bool(self._due)
        while self._due:
            self._handle(self._due[0])
            del self._due[0]
        if self._engine.follower.touched and self._engine.close_touched(time.time()):
            busy = True
        if busy:
            self._start_work()

    def _transcript_of(self, path: str) -> tuple[str, Path] | None:
        """Return the agent and transcript of a changed path; None if it is not one, or was read just now."""
        for root in self._engine.roots:
            if path.startswith(str(root.folder)) and (file := root.transcript(Path(path))) is not None:
                return (root.agent, file) if not root.changes_in_place or self._rests.is_due(file) else None
        return None

    def _handle(self, message: Message) -> None:
        now = time.time()
        match message:
            case Tick(name):
                self._tick(name, now)
            case FileChanged():
                pass  # it was read
            case action:
                action(now)

    def _charge(self, account: Account, call: ModelCall) -> str:
        """Book a call as `Account.charge` does; a lowered budget holds from the next call on."""
        self._apply_settings(time.time())
        return account.charge(call)

    def _finish_batch(self, batch: StoredBatch, result: Result, now: float) -> None:
        new, waiting = self._engine.finish(batch, result, now), self._engine.new_waiting_count()
        again = self._engine.repeated_proposals(result)
        if new or waiting or again:
            self._tell([*new, *again], waiting)
        if waiting:
            self._notices.add_trouble(WAITING, about_waiting(waiting), now)
        self._notices.add_judged(new, result.outcome, now)
        if why := self._setbacks.new_reason(batch.id, now):
            self._warn(why)
        self._report_judges(now)

    def _record_daemon_job(self, result: Result, now: float) -> None:
        """Record the result of a survey, of recovery while the store is being rebuilt, or of observing git."""
        if self._surveys.busy:
            self._surveys.record(result)
        elif self._engine.store.rebuild.state is not None:
            recovery.record_recovery(self._engine.store, result, now)
        elif isinstance(result, GitResult):
            record_look(self._engine.store, result, now)

    def _tick(self, name: str, now: float) -> None:
        match name:
            case "sweep" | "full sweep":
                self._sweep(now, full=name == "full sweep")
            case "look":
                self._look(now)
            case "folders":
                if self._watching and self._watching.watch_new_folders():
                    self._engine.follower.sweep()
            case "count":
                if self._watching:
                    self._watching.check_events()
                recovery.save_daily_copy(self._engine.store, now)
                self._engine.forget_words(now)
                self._engine.check_drift()
                if why := judges.new_stall(self._engine.store, now):
                    self._notices.add_trouble("dead", about_stall(why), now)
                self._report_judges(now)
                self._store_status(now)
            case _:
                if not (self._working.overdue or self._verb.overdue):
                    self._watchdog.beat("worker")
                self._store_status(now)

    def _report_judges(self, now: float) -> None:
        model, environment = self._engine.settings.model, self._engine.host.environment
        for cause, text in judges.unreported_problems(
            self._engine.store, model, environment, now, unattended=not sys.stdin.isatty()
        ):
            self._notices.add_trouble(cause, text, now)

    def _sweep(self, now: float, *, full: bool) -> None:
        full = full or self._watching is None or self._watching.watch_new_folders() or not self._watching.reliable
        self._engine.follower.sweep(None if full else now - _RECENT_SECONDS)
        if self._watching:
            self._watching.watch_sessions(self._engine.follower.newest)
        self._swept = True
        self._watchdog.beat("intake")
        self._engine.close_due(now)
        self._store_status(now)

    def _look(self, now: float) -> None:
        self._watchdog.beat("look")
        self._apply_settings(now)
        self._engine.close_due(now)
        self._engine.obstacles.retry_cleared(now)
        self._notices.show_due(now)
        self._working.close_if_idle()

    def _apply_settings(self, now: float) -> None:
        if self._settings_file.apply_changes(self._engine, self._notices, now):
            if self._settings_file.message:
                self._warn(f"Settings: {self._settings_file.message}")
            self._store_status(now)

    def _start_work(self) -> None:
        if self._working.busy or self._stopping:
            return
        now = time.time()
        self._apply_settings(now)
        seconds, umask = self._engine.settings.worker.seconds, self._engine.host.umask
        # What was decided while skilld was not running comes before what was said since.
        if first := self._observing.first_job(now):
            self._working.start(Job(first, umask), seconds, self._record_daemon_job)
        elif batch := self._engine.next_batch(now):
            done, save = partial(self._finish_batch, batch), partial(self._engine.save_plan, batch)
            charge = partial(self._charge, self._engine.account(batch))
            self._working.start(self._engine.start(batch), seconds, done, save, charge)
        elif news := self._engine.new_budget_reason():
            self._notices.add_trouble("budget", about_budget(news), now)
            self._warn(about_budget(news))
        elif work := (
            recovery.recovery_job(self._engine.store, self._engine.host, now)
            or self._observing.job(now)
            or self._surveys.job(self._engine.settings, now)
        ):
            charge = partial(self._charge, self._surveys.account(lambda: self._engine.settings))
            self._working.start(Job(work, umask), seconds, self._record_daemon_job, charge=charge)
        elif self._swept and not self._verb.busy:
            self._swept = False
            if verb := nightly.due_verb(self._engine, now):
                self._verb.start(Job(verb, umask), nightly.MAX_VERB_SECONDS, lambda _result, _now: None)

    def _drain(self) -> None:
        """Wait a while for workers and button actions; an interrupted batch is started again later."""
        deadline = time.monotonic() + self._drain_seconds
        for message in self._due:
            self._inbox.put(message)
        while (self._working.busy or self._verb.busy) and time.monotonic() < deadline:
            try:
                message = self._inbox.get(timeout=0.2)
            except queue.Empty:
                continue
            if not isinstance(message, FileChanged | Tick):
                with suppress(StoreError):  # the next start does it again
                    self._handle(message)
        self._verb.stop()
        self._working.stop()
        if self._working.busy:
            with suppress(StoreError):
                self._engine.store.batches.recover()
        self._notices.wait_for_actions(deadline)

    def _store_status(self, now: float) -> None:
        unreadable, environment = self._engine.follower.unreadable, self._engine.host.environment
        self._show_life(now)
        facts = systemd.daemon_facts(unreadable, self._settings_file.message, environment)
        facts["has_key"] = bool(self._engine.settings.model_api_key or self._engine.settings.model_base_url)
        facts["variables"] = settings_cache.judge_variables(environment)
        facts |= self._watching.facts() if self._watching else {}
        if self._engine.store.meta.get(DAEMON) != facts:  # each write waits for the disk
            self._engine.store.meta.set(DAEMON, facts)
        self._watchdog.set_status(systemd.status_text(self._engine.store, now))
