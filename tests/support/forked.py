"""The daemon as a fork of a process that has imported skilld (`support.warm`), where its start is not the matter."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from subprocess import CompletedProcess
from typing import NamedTuple

from skilld.caller.clients import is_alive
from support.program import Program
from support.waiting import LIMIT, wait_for


class Forked(NamedTuple):
    """A daemon: its process, and what came of it once it has ended."""

    pid: int
    run: Future[CompletedProcess[str]]

    def kill(self) -> None:
        """Kill it, and wait for its end."""
        os.kill(self.pid, signal.SIGKILL)
        self.run.result(LIMIT)


@contextmanager
def forked_daemon(program: Program) -> Iterator[Forked]:
    """Run `skilld run` as `Program.daemon` does; its workers are forks too, so `workers_of` does not find them."""
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(program.run, "run")
        daemon = Forked(wait_for("skilld run to be up", lambda: _up(program, run), every=0.2), run)
        try:
            yield daemon
        finally:
            if not run.done():
                with suppress(ProcessLookupError):
                    os.kill(daemon.pid, signal.SIGTERM)
            run.result(LIMIT)


def _up(program: Program, run: Future[CompletedProcess[str]]) -> int:
    """Return the process of a daemon that has looked once, 0 until there is one: at first its predecessor is named."""
    assert not run.done(), f"skilld run ended at once: {run.result()}"
    status = program.json("status")
    process = int(status["daemon"]["pid"]) if status["running"] and status["daemon"] else 0
    return process if process and is_alive(process) else 0
