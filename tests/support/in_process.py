"""Runs one skilld command in the test's own process, in a fifth of the time of a separate program."""

from __future__ import annotations

import gc
import io
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from contextvars import Context
from functools import cache
from pathlib import Path
from threading import current_thread, main_thread
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
import structlog

from support import warm
from support.fake_callers import terminal_process_tree

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPROF)


def run_in_process(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in this folder and environment, with `typed` on standard input and no terminal."""
    from skilld.__main__ import main

    out, err = _Stream(), _Stream()
    with (
        _Stream(typed) as stdin,
        _stores_closed(),
        _process_as_before(),
        patch.dict(os.environ, environment, clear=True),
        patch.dict("skilld.git.environment._taken", clear=True),
        patch.object(sys, "stdin", stdin),
        patch.object(sys, "argv", ["skilld", *arguments]),
        chdir(folder),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            code = int(main(list(arguments)))
        except SystemExit as end:  # argparse's own way out
            code = int(str(end.code or 0))
    return subprocess.CompletedProcess(["skilld", *arguments], code, out.text(), err.text())


@contextmanager
def _process_as_before() -> Iterator[None]:
    """Make a person the caller, and workers no programs; restore umask, signals, collector and log afterwards."""
    from skilld.cli import common, permissions, run
    from skilld.worker import spawn

    forks = SimpleNamespace(Popen=_start_worker, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL)
    umask = os.umask(0o022)
    os.umask(umask)
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    log, configured, is_collecting = logging.getLogger("skilld"), structlog.get_config(), gc.isenabled()
    kept = log.handlers[:], log.level, log.propagate
    try:
        with (
            patch.object(permissions, "process_tree", terminal_process_tree),
            patch.object(spawn, "subprocess", forks),
            patch.object(spawn.Worker, "do", _do_here(spawn.Worker.do)),
            patch.object(run, "_load_redactor", cache(common.redactor)),  # which it keeps to its end
            patch.object(gc, "freeze", int),  # what the tests leave would stay for ever
        ):
            yield
    finally:
        os.umask(umask)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for log_file in set(log.handlers) - set(kept[0]):
            log_file.close()
        log.handlers[:], log.level, log.propagate = kept
        structlog.configure(**configured)
        (gc.enable if is_collecting else gc.disable)()


def _start_worker(command: list[str], **options: Any) -> Any:
    if "skilld" in command:
        pytest.fail("a verb that a daemon starts looks for the `run` above it: set Program.is_started")
    return warm.start_worker(command, **options)


def _do_here(do_in_fork: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `Worker.do` that does a job in this process, in a worker's environment, folder and umask.

    In a fork it would take 30 ms more, mostly for copied memory. A job that may ask a model or is not the main thread's
    goes to one: litellm stays in a process, and only the main thread can be interrupted.
    """
    from skilld import codec
    from skilld.classify.backends import OFFLINE
    from skilld.jobs import limits
    from skilld.protocol import GIT_WORK, AnalyseBatch, FromWorker, Job, JobEnd, KeepRequest, SurveyTranscripts
    from skilld.worker import __main__ as child
    from skilld.worker import spawn

    def passed(kind: Any, message: Any) -> Any:
        return codec.decode(kind, codec.encode(message))

    def is_offline(work: Any) -> bool:
        match work:
            case AnalyseBatch():
                return work.backend.model == work.matcher.model == OFFLINE
            case SurveyTranscripts():
                return all(one.backend.model == OFFLINE for one in work.surveys)
            case _:
                return isinstance(work, GIT_WORK)

    def do(worker: Any, job: Job, seconds: float, keep: Any = spawn.ignore_plan, **options: Any) -> Any:
        if type(worker) is not spawn.Worker or not is_offline(job.work) or current_thread() is not main_thread():
            return do_in_fork(worker, job, seconds, keep, **options)
        daemon: Any = SimpleNamespace(
            keep=lambda plan: keep(passed(FromWorker, KeepRequest(plan)).what),
            charge=options.get("charge", spawn.refuse_calls),
        )
        umask = os.umask(0o077)
        try:
            with (
                patch.dict(os.environ, worker._environment, clear=True),
                patch.dict("skilld.git.environment._taken", clear=True),
                patch.object(limits, "limit_memory"),
                chdir("/"),
            ):
                result, stays = Context().run(child._run_job, passed(Job, job), daemon)
        finally:
            os.umask(umask)
        return passed(FromWorker, JobEnd(result, stays, asked_models=False)).result

    return do


@contextmanager
def _stores_closed() -> Iterator[None]:
    """Close the databases that this thread opens meanwhile, as the end of a program does."""
    from skilld.store import Store

    opened, thread, make = list[Store](), threading.get_ident(), Store.__init__

    def keep(store: Store, *arguments: Any) -> None:
        make(store, *arguments)
        if threading.get_ident() == thread:
            opened.append(store)

    with patch.object(Store, "__init__", keep):
        try:
            yield
        finally:
            for store in opened:
                with suppress(Exception):  # it may be closed already
                    store.close()


class _Stream(io.TextIOWrapper):
    """A UTF-8 stream with a descriptor, like a program's with such a LANG."""

    def __init__(self, typed: str = "") -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `text`
        self._file.write(typed.encode())
        self._file.seek(0)
        super().__init__(self._file, encoding="utf-8", errors="surrogateescape", newline="")

    def text(self) -> str:
        """Return what was written, and close it."""
        self.flush()
        self._file.seek(0)
        with self:
            return self._file.read().decode("utf-8", "surrogateescape")
