"""Workers: one child process per job. JSON in on stdin, lines of JSON out, the last of them the result.

The child has a process group of its own, which is killed when its time is up or the daemon stops. It also ends itself
when its stdin closes, so that it does not outlive a daemon that was killed.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from skilld.types import Outcome

_KEPT = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "VIRTUAL_ENV", "SYSTEMROOT"}
)
_KEPT_PREFIXES = ("LC_", "XDG_", "PYTHON", "AWS_", "AZURE_", "GOOGLE_", "OLLAMA_", "VERTEX")
_KEPT_SUFFIX = "_API_KEY"
_MOST_OUTPUT = 4 << 20
_PLAN = b'{"type": "plan"'

Keep = Callable[[dict[str, Any]], None]


class Worker:
    """One running job."""

    def __init__(self, job: Mapping[str, Any], environment: Mapping[str, str], seconds: float) -> None:
        self._seconds = seconds
        self._job = json.dumps(job).encode() + b"\n"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "skilld.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=worker_environment(environment),
            cwd="/",
            start_new_session=True,
        )

    def result(self, keep: Keep) -> dict[str, Any]:
        """Wait for the end and return the result; whatever went wrong becomes one.

        `keep` is given the worker's plan, if it makes one, and must have kept it when it returns.
        """
        process = self._process
        lines: list[bytes] = []
        try:
            # stdin stays open until the end: its closing tells the child that we are gone.
            self._send(self._job)
            for line in _lines(process, self._seconds):
                if line.startswith(_PLAN):
                    keep(json.loads(line))
                    self._send(b"go\n")
                else:
                    lines.append(line)
        except TimeoutError:
            self.kill()
            return _failed(Outcome.RETRY, f"it took longer than {self._seconds:.0f} seconds and was ended")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it died before it read its job
        finally:
            self.kill()
        return _parse(lines, process.returncode)

    def _send(self, data: bytes) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def kill(self) -> None:
        """End the worker and everything it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        self._process.wait()


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a worker may know of our environment: no GIT_ variables, no agent's, no unrelated secrets."""
    return {
        name: value
        for name, value in environment.items()
        if name in _KEPT or name.startswith(_KEPT_PREFIXES) or name.endswith(_KEPT_SUFFIX)
    } | {"SKILLD_CHILD": "1"}


def _lines(process: subprocess.Popen[bytes], seconds: float) -> Iterator[bytes]:
    """Yield the lines that the child writes, until it ends. Raises TimeoutError when its time is up."""
    if process.stdout is None or process.stderr is None:
        return
    deadline = time.monotonic() + seconds
    output = bytearray()
    taken = 0
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(deadline - time.monotonic())
            if not ready and time.monotonic() >= deadline:
                raise TimeoutError
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stdout and taken < _MOST_OUTPUT:
                    taken += len(data)
                    output += data
            *whole, rest = bytes(output).split(b"\n")
            output[:] = rest
            yield from whole
    process.wait(timeout=max(1.0, deadline - time.monotonic()))


def _parse(lines: list[bytes], code: int | None) -> dict[str, Any]:
    try:
        result = json.loads(lines[-1])
        if result["type"] == "result":
            Outcome(result["outcome"])
            return dict(result)
    except (IndexError, ValueError, KeyError, TypeError):
        pass
    return _failed(Outcome.RETRY, f"the worker ended without a result (exit {code})")


def _failed(outcome: Outcome, detail: str) -> dict[str, Any]:
    return {"type": "result", "outcome": outcome.value, "detail": detail}
