"""Runs a worker: a child process that does one job at a time, within limits.

A job is written as a line of JSON to its stdin; it answers with lines of JSON, the last of which is the result. The
child has its own process group, which is killed when a job's time is up, when the daemon stops, and when the child has
been idle for a while. If this process is killed (kill -9), a guard kills the group: a shell that waits for the end of
a pipe that only this process holds. The child watches its stdin as well, but inside a long regular expression no
thread of it can run.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Self, cast

from skilld import codec
from skilld.classify.backends.agent_cli.clients import is_client_variable
from skilld.classify.backends.paid_calls import Charge, ModelCall
from skilld.protocol import GIT_WORK, GO, FromWorker, Job, JobEnd, Obstacle, PartialResult, Result, VerbJob
from skilld.types import Cause, Outcome

_KEPT_VARIABLES = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "VIRTUAL_ENV", "SYSTEMROOT"}
    | {"ALL_PROXY", "all_proxy", "NODE_EXTRA_CA_CERTS"}
)
_KEPT_PREFIXES = ("LC_", "XDG_", "PYTHON", "AWS_", "AZURE_", "GOOGLE_", "OLLAMA_", "VERTEX")
_KEPT_SUFFIX = "_API_KEY"
_MAX_LINE = 4 << 20
_MESSAGE_START = b'{"type": "'
_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
_MAX_IDLE_SECONDS = 30.0
# POSIX sh. The first line is the process group; there is no second one: `read` returns when our end is closed.
_GUARD_SCRIPT = "trap '' TERM INT HUP; read -r group || exit 0; read -r _; kill -s KILL -- \"-$group\""

Keep = Callable[[PartialResult], None]


def ignore_plan(_plan: PartialResult) -> None:
    """Store nothing: for jobs without partial results."""


def refuse_calls(_call: ModelCall) -> str:
    """Refuse every call of a model."""
    return "this job may not call a model"


class _Child:
    """One child process and its guard. Raises OSError if it cannot be started."""

    def __init__(self, program: Sequence[str], environment: Mapping[str, str]) -> None:
        self.asked_models = False  # whether litellm is loaded in it
        self._ended = False
        self._guard = _start_guard()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", *program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        except OSError:
            self._dismiss_guard()
            raise
        # Its input stays open: closing it tells the child that we are gone.
        self.input, self.output = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        _send(cast("IO[bytes]", self._guard.stdin), b"%d\n" % self.process.pid)

    def end(self) -> int:
        """Kill it and everything it started, and return its exit code. Harmless if it has ended."""
        self._dismiss_guard()
        if not self._ended:  # otherwise the group's number may have been reused
            self._ended = True
            with suppress(ProcessLookupError, PermissionError):  # macOS forbids it if only zombies are left
                os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait()

    def close(self) -> None:
        """Close our ends of its pipes. Only for the thread that uses them."""
        for stream in (self.input, self.output):
            with suppress(BrokenPipeError):
                stream.close()

    def _dismiss_guard(self) -> None:
        """End the guard before the number of its group can be reused."""
        self._guard.kill()
        self._guard.wait()
        if self._guard.stdin is not None:
            with suppress(BrokenPipeError):
                self._guard.stdin.close()


class Worker:
    """Does jobs one after the other in a child process, which is started when there is none fit for the next job.

    `do` and `close_if_idle` are for one thread at a time; `kill` may be called from any.
    """

    _program: Sequence[str] = ("skilld.worker",)

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = self._child_environment(environment)
        self._child: _Child | None = None
        self._idle_since = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def do(self, job: Job, seconds: float, keep: Keep = ignore_plan, *, charge: Charge = refuse_calls) -> Result:
        """Do a job within so many seconds and return the result; any failure becomes a result.

        `keep` gets the worker's partial results and must have stored them when it returns; `charge` books each call of
        a model and may refuse it.
        """
        try:
            child = self._child_for(job)
        except OSError:  # no memory, or too many processes
            return _failure_result("the worker could not be started")
        late = threading.Event()

        def time_is_up() -> None:
            late.set()
            child.end()

        # Ends both reading and writing: a child that hangs before it reads its job blocks our write.
        timer = threading.Timer(seconds, time_is_up)
        ended: JobEnd | None = None
        try:
            timer.start()
        except RuntimeError:  # the machine, or a user limit, allows no more threads
            self.close()
            return no_thread_result()
        try:
            ended = _exchange(child, job, keep, charge)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it died before it read the job
        finally:
            timer.cancel()
            timer.join()
            if ended is None or not ended.stays:
                self.close()
        if ended is not None:
            child.asked_models, self._idle_since = ended.asked_models, time.monotonic()
            return ended.result
        if late.is_set():
            why = f"it took longer than {seconds:.0f} seconds and was stopped"
            return Result(outcome=Outcome.RETRY, detail=why)
        return _exit_result(child.end())

    def close_if_idle(self) -> None:
        """End the child if it has been idle for a while."""
        if time.monotonic() - self._idle_since > _MAX_IDLE_SECONDS:
            self.close()

    def close(self) -> None:
        """End the child, if there is one, and release it."""
        if self._child is not None:
            self._child.end()
            self._child.close()
            self._child = None

    def kill(self) -> None:
        """Kill the child at once; its current job gets a result that says so."""
        if (child := self._child) is not None:
            child.end()

    def _child_for(self, job: Job) -> _Child:
        child = self._child
        if child is not None and (
            child.process.poll() is not None or (child.asked_models and isinstance(job.work, GIT_WORK))
        ):
            self.close()
        if self._child is None:
            self._child = _Child(self._program, self._environment)
        return self._child

    @staticmethod
    def _child_environment(environment: Mapping[str, str]) -> dict[str, str]:
        return worker_environment(environment)


class VerbWorker(Worker):
    """Runs a verb of skilld as a job; the verb reads the settings and the store itself."""

    def _child_for(self, job: Job) -> _Child:
        if isinstance(job.work, VerbJob):
            self._program = "skilld", *job.work.words  # its child ends with the job
        return super()._child_for(job)

    @staticmethod
    def _child_environment(environment: Mapping[str, str]) -> dict[str, str]:
        return {**environment, "SKILLD_CHILD": "1"}


def _exchange(child: _Child, job: Job, keep: Keep, charge: Charge) -> JobEnd | None:
    """Send a job and return its end, None if the child ended without one."""
    _send(child.input, codec.encode(job).encode() + b"\n")
    while line := child.output.readline(_MAX_LINE):
        if not line.startswith(_MESSAGE_START):
            continue  # output of a library
        if len(line) == _MAX_LINE:
            return _invalid_end("its output was too large to process", Outcome.RETRY)
        try:
            told: FromWorker = codec.decode(FromWorker, line)
        except codec.DecodeError as error:  # a retry would not help
            return _invalid_end(
                f"an internal error in skilld: the worker's result is invalid ({error})", Outcome.FAILED
            )
        if isinstance(told, JobEnd):
            return told
        if isinstance(told, ModelCall):
            why_not = charge(told)
            if told.used is None:
                _send(child.input, f"{why_not or GO}\n".encode())
            continue
        keep(told.what)
        _send(child.input, f"{GO}\n".encode())
    return None


def _invalid_end(detail: str, outcome: Outcome) -> JobEnd:
    return JobEnd(Result(outcome=outcome, detail=detail), stays=False, asked_models=False)


def _start_guard() -> subprocess.Popen[bytes]:
    """Start the process that kills a worker's process group when we are gone."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD_SCRIPT, "skilld-guard"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath},
        cwd="/",
        start_new_session=True,
    )


def _send(stream: IO[bytes], data: bytes) -> None:
    stream.write(data)
    stream.flush()


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a worker: no GIT_ variables, no agents' variables, no unrelated secrets."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in _KEPT_VARIABLES
        or name.startswith(_KEPT_PREFIXES)
        or name.endswith(_KEPT_SUFFIX)
        or is_client_variable(name)
    }
    # Requests to a model on this machine must not go through a proxy, but httpx would use one.
    direct = ",".join([*filter(None, [environment.get("no_proxy") or environment.get("NO_PROXY")]), *_LOOPBACK_HOSTS])
    return kept | {"no_proxy": direct, "NO_PROXY": direct, "SKILLD_CHILD": "1"}


def no_thread_result() -> Result:
    """Return the result for a job for which no thread could be started."""
    return _failure_result("this machine cannot start any more threads")


def _exit_result(code: int) -> Result:
    """Return the result for a child that ended without one, by its exit code."""
    if code == -signal.SIGXCPU:
        why = "it used more CPU time than worker.processor_seconds allows and was stopped"
        return Result(outcome=Outcome.RETRY, detail=why)
    return _failure_result(f"the worker exited without a result (exit code {code})", code)


def _failure_result(detail: str, code: int | None = None) -> Result:
    """Return the result for a process without one; `code` is its exit code, None if it never ran."""
    return Result(outcome=Outcome.RETRY, detail=detail, cause=Obstacle(Cause.PROCESS), exit=code)
