"""Runs a client once with limits on time and size, and leaves no process behind. Knows nothing of particular clients.

The client gets a process group of its own, led by a guard with a pipe from this process: when this process ends, in
whatever way, the pipe closes, and the guard ends the group and removes the workspace.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path

from skilld.values import value_class

MAX_OUTPUT = 4 << 20  # bytes of stdout
_MAX_STDERR = 64 << 10  # bytes; the last ones contain the error, after a repeated prompt
_POLL_SECONDS = 0.1  # for its exit, since its own children may keep its output open
_GRACE_SECONDS = 2.0  # between SIGTERM and SIGKILL

# POSIX sh. `kill 0` reaches the whole group; the guard itself ends with the last one.
_GUARD_SCRIPT = "trap '' TERM INT HUP; read -r _; kill -TERM 0; rm -rf -- \"$1\"; kill -KILL 0"


class ExitResult(Enum):
    """How a client's run ended."""

    BY_ITSELF = "by itself"
    OVER_TIME = "over time"
    OVER_SIZE = "over size"


@value_class
class RunResult:
    """The result of a run. `status` is the exit status, negative for a signal; `complaint` is the end of stderr."""

    ended: ExitResult
    status: int
    output: bytes
    complaint: str


class OutputBuffer:
    """Collects output without the lines that begin with `noise`, up to a size."""

    def __init__(self, noise: bytes) -> None:
        self._noise = noise
        self._kept = bytearray()
        self._line = b""

    def add(self, data: bytes) -> bool:
        """Add output; return False once there is too much."""
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            if not (self._noise and line.startswith(self._noise)):
                self._kept += line + b"\n"
        return len(self._kept) + len(self._line) <= MAX_OUTPUT

    def text(self) -> bytes:
        """Return the collected output, including an unfinished last line."""
        return bytes(self._kept) + self._line


def run(
    arguments: Sequence[str],
    text: str,
    *,
    folder: Path,
    cwd: Path,
    environment: Mapping[str, str],
    seconds: float,
    noise: bytes = b"",
) -> RunResult:
    """Run a program with `text` on stdin for at most `seconds`. `folder` is removed if this process is killed.

    Raises OSError if the program cannot be started.
    """
    guard = _start_guard(folder)
    try:
        with tempfile.TemporaryFile(dir=folder) as given:  # a file, so that its output cannot cause a deadlock
            given.write(text.encode("utf-8", "replace"))
            given.seek(0)
            child = subprocess.Popen(
                arguments,
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=environment,
                process_group=guard.pid,
            )
        with child:
            try:
                return _follow(child, seconds, noise)
            finally:
                _end(child, guard.pid)
    finally:
        _signal(guard.pid, signal.SIGKILL)
        guard.communicate()


def _start_guard(folder: Path) -> subprocess.Popen[bytes]:
    """Start the leader of the process group, which ends the group and removes `folder` when this process ends."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD_SCRIPT, "skilld-guard", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath},
        cwd="/",
        process_group=0,
    )


def _follow(child: subprocess.Popen[bytes], seconds: float, noise: bytes) -> RunResult:
    deadline = time.monotonic() + seconds
    output, complaint = OutputBuffer(noise), b""
    how = None
    with selectors.DefaultSelector() as selector:
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ)
        while how is None:
            gone = child.poll() is not None
            ready = selector.select(0 if gone else _POLL_SECONDS) if selector.get_map() else []
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is child.stderr:
                    complaint = (complaint + data)[-_MAX_STDERR:]
                elif not output.add(data):
                    how = ExitResult.OVER_SIZE
            if how is None:
                how = _exit_result(child, deadline, gone=gone and not ready, deaf=not selector.get_map())
    return RunResult(how, child.returncode or 0, output.text(), complaint.decode("utf-8", "replace"))


def _exit_result(child: subprocess.Popen[bytes], deadline: float, *, gone: bool, deaf: bool) -> ExitResult | None:
    if gone:
        return ExitResult.BY_ITSELF
    if time.monotonic() >= deadline and child.poll() is None:  # the output of an ended process is still read
        return ExitResult.OVER_TIME
    if deaf:  # it has closed its output and only has to exit
        with suppress(subprocess.TimeoutExpired):
            child.wait(_POLL_SECONDS)
    return None


def _end(child: subprocess.Popen[bytes], group: int) -> None:
    """End the processes that still run, first with SIGTERM, because clients may be writing settings and logs."""
    if child.poll() is None:
        _signal(group, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE_SECONDS)
    _signal(group, signal.SIGKILL)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS raises the latter for a group of zombies
        os.killpg(group, number)
