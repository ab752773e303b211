"""A worker as the daemon sees it: a child process that does one job at a time, within limits.

A job goes in as a line of JSON on stdin; lines of JSON come out, the last of a job being its result. The child has a
process group of its own, which is killed when a job's time is up, when the daemon stops, and when the child has rested
for a while. A guard kills it when we end without having done so (kill -9): a shell that waits for the closing of a pipe
which only we hold. The child does so as well, but one that is inside a long regular expression has no thread left to
notice it.
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
from typing import IO, ClassVar, Self, cast

from skilld import codec
from skilld.classify.backends.agent_cli.clients import needed
from skilld.errands import Mend, Mine, SyncMachines, SyncTeams
from skilld.protocol import (
    GIT_WORK,
    Blame,
    FromWorker,
    Job,
    JobEnd,
    KeepRequest,
    PartialResult,
    Result,
)
from skilld.types import Cause, Outcome

_KEPT = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "VIRTUAL_ENV", "SYSTEMROOT"}
    | {"ALL_PROXY", "all_proxy", "NODE_EXTRA_CA_CERTS"}
)
_KEPT_PREFIXES = ("LC_", "XDG_", "PYTHON", "AWS_", "AZURE_", "GOOGLE_", "OLLAMA_", "VERTEX")
_KEPT_SUFFIX = "_API_KEY"
_MAX_LINE = 4 << 20
_OURS = b'{"type": "'
_OWN_MACHINE = ("localhost", "127.0.0.1", "::1")
_MAX_IDLE_SECONDS = 30.0
# POSIX sh. The first line is the process group, there is no second one: `read` returns when our end is closed.
_GUARD = "trap '' TERM INT HUP; read -r group || exit 0; read -r _; kill -s KILL -- \"-$group\""

Keep = Callable[[PartialResult], None]


def _ignore(_plan: PartialResult) -> None:
    pass


class _Child:
    """One child process and its guard. Raises OSError if there is no process to be had."""

    def __init__(self, program: Sequence[str], environment: Mapping[str, str]) -> None:
        self.asked_models = False  # whether litellm is loaded in it
        self._ended = False
        self._guard = _guard()
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
        # Its input stays open: its closing tells the child that we are gone.
        self.input, self.output = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        _send(cast("IO[bytes]", self._guard.stdin), b"%d\n" % self.process.pid)

    def end(self) -> int:
        """End it and everything it started; returns its exit code. Does no harm where it has ended."""
        self._dismiss_guard()
        if not self._ended:  # else the number of the group may be another's by now
            self._ended = True
            with suppress(ProcessLookupError, PermissionError):  # macOS forbids it where only zombies are left
                os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait()

    def close(self) -> None:
        """Close our ends of its pipes. Only by the thread that uses them."""
        for stream in (self.input, self.output):
            with suppress(BrokenPipeError):
                stream.close()

    def _dismiss_guard(self) -> None:
        """End the guard, before the number of the group that it guards can become another's."""
        self._guard.kill()
        self._guard.wait()
        if self._guard.stdin is not None:
            with suppress(BrokenPipeError):
                self._guard.stdin.close()


class Worker:
    """Does jobs one after the other, in a child process that is started when there is none fit for the next.

    `do` and `rest` are for one thread at a time; `kill` may come from any.
    """

    _program: Sequence[str] = ("skilld.worker",)

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = self._allowed(environment)
        self._child: _Child | None = None
        self._idle_since = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def do(self, job: Job, seconds: float, keep: Keep = _ignore) -> Result:
        """Do a job that may take so many seconds and return the result; whatever went wrong becomes one.

        `keep` is given the worker's plan, if it makes one, and must have kept it when it returns.
        """
        try:
            child = self._fit_for(job)
        except OSError:  # no memory, no process to be had
            return _not_run("the worker could not be started")
        late = threading.Event()

        def time_is_up() -> None:
            late.set()
            child.end()

        # Ends reading and writing alike: a child that hangs before it reads its job blocks us in writing it.
        timer = threading.Timer(seconds, time_is_up)
        ended: JobEnd | None = None
        try:
            timer.start()
        except RuntimeError:  # the machine, or the person's limits, had no thread left
            self.close()
            return no_thread()
        try:
            ended = _converse(child, job, keep)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it died before it read what we had to say
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
        return _no_result(child.end())

    def rest(self) -> None:
        """End the child where it had nothing to do for a while."""
        if time.monotonic() - self._idle_since > _MAX_IDLE_SECONDS:
            self.close()

    def close(self) -> None:
        """End the child, if there is one, and let go of it."""
        if self._child is not None:
            self._child.end()
            self._child.close()
            self._child = None

    def kill(self) -> None:
        """End the child at once, whatever it does: the job that it has gets a result that says so."""
        if (child := self._child) is not None:
            child.end()

    def _fit_for(self, job: Job) -> _Child:
        child = self._child
        if child is not None and (
            child.process.poll() is not None or (child.asked_models and isinstance(job.work, GIT_WORK))
        ):
            self.close()
        if self._child is None:
            self._child = _Child(self._program, self._environment)
        return self._child

    @staticmethod
    def _allowed(environment: Mapping[str, str]) -> dict[str, str]:
        return worker_environment(environment)


class VerbWorker(Worker):
    """A verb of the program's own as a job: it reads settings and store and finds the agents' folders by itself."""

    _programs: ClassVar = {
        Mine: ("skilld", "mine", "--nightly", "--yes"),
        Mend: ("skilld", "effect", "--mend"),
        SyncTeams: ("skilld", "team", "sync", "--unasked"),
        SyncMachines: ("skilld", "machines", "sync", "--unasked"),
    }

    def _fit_for(self, job: Job) -> _Child:
        self._program = self._programs[type(job.work)]  # its child ends with the job
        return super()._fit_for(job)

    @staticmethod
    def _allowed(environment: Mapping[str, str]) -> dict[str, str]:
        return {**environment, "SKILLD_CHILD": "1"}


def _converse(child: _Child, job: Job, keep: Keep) -> JobEnd | None:
    """Hand over a job and return its end, None if the child ended without one."""
    _send(child.input, codec.encode(job).encode() + b"\n")
    while line := child.output.readline(_MAX_LINE):
        if not line.startswith(_OURS):
            continue  # a library's own words
        if len(line) == _MAX_LINE:
            return _bad("its output was too large to process", Outcome.RETRY)
        try:
            told: KeepRequest | JobEnd = codec.decode(FromWorker, line)
        except codec.DecodeError as error:  # it makes no sense, and would not a second time
            return _bad(f"an internal error in skilld: the worker's result is invalid ({error})", Outcome.FAILED)
        if isinstance(told, JobEnd):
            return told
        keep(told.what)
        _send(child.input, b"go\n")
    return None


def _bad(detail: str, outcome: Outcome) -> JobEnd:
    return JobEnd(Result(outcome=outcome, detail=detail), stays=False, asked_models=False)


def _guard() -> subprocess.Popen[bytes]:
    """Start what kills a worker's process group when we are gone."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "skilld-guard"],
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
    """Return what a worker may know of our environment: no GIT_ variables, no agent's, no unrelated secrets."""
    kept = {
        name: value
        for name, value in environment.items()
        if name in _KEPT or name.startswith(_KEPT_PREFIXES) or name.endswith(_KEPT_SUFFIX) or needed(name)
    }
    # What is asked of a model on this machine must not go through a proxy: httpx would.
    direct = ",".join([*filter(None, [environment.get("no_proxy") or environment.get("NO_PROXY")]), *_OWN_MACHINE])
    return kept | {"no_proxy": direct, "NO_PROXY": direct, "SKILLD_CHILD": "1"}


def no_thread() -> Result:
    """Return the result of a job for which there was no thread."""
    return _not_run("this machine cannot start any more threads")


def _no_result(code: int) -> Result:
    """Return the result of a child that ended without one, by its exit code."""
    if code == -signal.SIGXCPU:
        why = "it used more CPU time than worker.processor_seconds allows and was stopped"
        return Result(outcome=Outcome.RETRY, detail=why)
    return _not_run(f"the worker exited without a result (exit code {code})", code)


def _not_run(detail: str, code: int | None = None) -> Result:
    """Return the result of a process that gave none; `code` is its exit, None if it never ran."""
    return Result(outcome=Outcome.RETRY, detail=detail, cause=Blame(Cause.PROCESS), exit=code)
