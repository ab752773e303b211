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
from collections.abc import Mapping
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

    def result(self) -> dict[str, Any]:
        """Wait for the end and return the result; whatever went wrong becomes one."""
        process = self._process
        output = b""
        try:
            # stdin stays open until the end: its closing tells the child that we are gone.
            if process.stdin is not None:
                process.stdin.write(self._job)
                process.stdin.flush()
            output = _read_until_end(process, self._seconds)
        except TimeoutError:
            self.kill()
            return _failed(Outcome.RETRY, f"it took longer than {self._seconds:.0f} seconds and was ended")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it died before it read its job
        finally:
            self.kill()
        return _parse(output, process.returncode)

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


def _read_until_end(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    if process.stdout is None or process.stderr is None:
        return b""
    deadline = time.monotonic() + seconds
    output = bytearray()
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
                elif key.fileobj is process.stdout and len(output) < _MOST_OUTPUT:
                    output += data
    process.wait(timeout=max(1.0, deadline - time.monotonic()))
    return bytes(output)


def _parse(output: bytes, code: int | None) -> dict[str, Any]:
    lines = [line for line in output.split(b"\n") if line.strip()]
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
