"""Workers: one child process per job. JSON in on stdin, lines of JSON out, the last of them the result.

The child has a process group of its own, which is killed when its time is up or the daemon stops. A guard kills it when
we end without having done so (kill -9): a shell that waits for the closing of a pipe which only we hold. The child does
so as well, but one that is inside a long regular expression has no thread left to notice it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, ClassVar

from skilld.classify.backends.agent_cli.backend import needed
from skilld.types import Cause, Outcome

_KEPT = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "VIRTUAL_ENV", "SYSTEMROOT"}
    | {"ALL_PROXY", "all_proxy", "NODE_EXTRA_CA_CERTS"}
)
_KEPT_PREFIXES = ("LC_", "XDG_", "PYTHON", "AWS_", "AZURE_", "GOOGLE_", "OLLAMA_", "VERTEX")
_KEPT_SUFFIX = "_API_KEY"
_LONGEST_LINE = 4 << 20
_OWN_MACHINE = ("localhost", "127.0.0.1", "::1")
_NO_THREAD = "this machine has no thread left for it"
_PLAN = b'{"type": "plan"'
# POSIX sh. The first line is the process group, there is no second one: `read` returns when our end is closed.
_GUARD = "trap '' TERM INT HUP; read -r group || exit 0; read -r _; kill -s KILL -- \"-$group\""

Keep = Callable[[dict[str, Any]], None]


def start(job: Mapping[str, Any], environment: Mapping[str, str], seconds: float) -> Worker:
    """Return the process that does a job, running: a worker, or for the night's mining the program itself."""
    return (Errand if job["kind"] == "mine" else Worker)(job, environment, seconds)


class Worker:
    """One running job."""

    _program: ClassVar[Sequence[str]] = ("skilld.worker",)

    def __init__(self, job: Mapping[str, Any], environment: Mapping[str, str], seconds: float) -> None:
        self._seconds = seconds
        self._job = json.dumps(job).encode() + b"\n"
        self._late = False
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # no memory, no process to be had: told as the result
            self._guard = _guard()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", *self._program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment(environment),
                cwd="/",
                start_new_session=True,
            )
            if self._guard.stdin is not None:
                _send(self._guard.stdin, b"%d\n" % self._process.pid)

    def result(self, keep: Keep) -> dict[str, Any]:
        """Wait for the end and return the result; whatever went wrong becomes one.

        `keep` is given the worker's plan, if it makes one, and must have kept it when it returns.
        """
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            self._dismiss()
            return _not_run("the worker could not be started")
        # Ends reading and writing alike: a child that hangs before it reads its job blocks us in writing it.
        timer = threading.Timer(self._seconds, self._time_is_up)
        last = b""
        try:
            if not _started(timer):
                return _not_run(_NO_THREAD)
            # stdin stays open until the end: its closing tells the child that we are gone.
            _send(process.stdin, self._job)
            while line := process.stdout.readline(_LONGEST_LINE):
                if line.startswith(_PLAN):
                    if not line.endswith(b"\n"):
                        return _failed(Outcome.RETRY, "what it meant to do was too long to be kept")
                    keep(json.loads(line))
                    _send(process.stdin, b"go\n")
                else:
                    last = line
        except (BrokenPipeError, ConnectionResetError):
            pass  # it died before it read what we had to say
        finally:
            timer.cancel()
            self.kill()
            for stream in (process.stdin, process.stdout):
                with suppress(BrokenPipeError):
                    stream.close()
        if self._late:
            return _failed(Outcome.RETRY, f"it took longer than {self._seconds:.0f} seconds and was ended")
        return _parse(last, process.returncode)

    def follow(self, keep: Keep, done: Callable[[dict[str, Any]], None]) -> None:
        """Wait for the end on a thread of its own; `done` gets the result, at once where there is no thread."""
        if not _started(threading.Thread(target=lambda: done(self.result(keep)), name="worker", daemon=True)):
            self.kill()
            done(_not_run(_NO_THREAD))

    def kill(self) -> None:
        """End the worker and everything it started."""
        self._dismiss()
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):  # macOS forbids it where only zombies are left
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _dismiss(self) -> None:
        """End the guard, before the number of the group that it guards can become another's."""
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()
            if self._guard.stdin is not None:
                with suppress(BrokenPipeError):
                    self._guard.stdin.close()

    @staticmethod
    def _environment(environment: Mapping[str, str]) -> dict[str, str]:
        return worker_environment(environment)

    def _time_is_up(self) -> None:
        self._late = True
        self.kill()


class Errand(Worker):
    """The program's own verb as a job: it reads settings and store and finds the agents' folders by itself."""

    _program = ("skilld", "mine", "--nightly", "--yes")

    @staticmethod
    def _environment(environment: Mapping[str, str]) -> dict[str, str]:
        return {**environment, "SKILLD_CHILD": "1"}


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


def _started(thread: threading.Thread) -> bool:
    """Start a thread; whether the machine, or the person's limits, had one left."""
    try:
        thread.start()
    except RuntimeError:
        return False
    return True


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


def _parse(line: bytes, code: int | None) -> dict[str, Any]:
    try:
        result = json.loads(line)
        if result["type"] == "result":
            Outcome(result["outcome"])
            return dict(result)
    except (ValueError, KeyError, TypeError):
        pass
    if code == -signal.SIGXCPU:
        return _failed(Outcome.RETRY, "it used more processor time than worker.processor_seconds allows and was ended")
    return _not_run(f"the worker ended without a result (exit {code})", code)


def _not_run(detail: str, code: int | None = None) -> dict[str, Any]:
    """Return the result of a process that gave none; `code` is its exit, None where it never ran."""
    cause = {"what": Cause.PROCESS.value, "place": "", "remedy": ""}
    return _failed(Outcome.RETRY, detail) | {"cause": cause, "exit": code}


def _failed(outcome: Outcome, detail: str) -> dict[str, Any]:
    return {"type": "result", "outcome": outcome.value, "detail": detail}
