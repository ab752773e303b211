"""Runs a client once with limits on time and size: bytes to stdin, its output back, no process left behind.

The client gets a process group of its own, led by a guard that holds a pipe to us: when we end, however we end, the
pipe closes and the guard ends the group and removes the room. Knows no client.
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
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

MAX_OUTPUT = 4 << 20  # bytes of stdout
_MAX_COMPLAINT = 64 << 10  # bytes of stderr; the last ones say what went wrong, behind a prompt that is repeated
_LOOK = 0.1  # seconds between looks at whether it has ended: what it started may hold its output open
_GRACE = 2.0  # seconds between asking it to end and ending it

# POSIX sh. `kill 0` reaches the whole group; the guard itself ends with the last one.
_GUARD = "trap '' TERM INT HUP; read -r _; kill -TERM 0; rm -rf -- \"$1\"; kill -KILL 0"


class ExitResult(Enum):
    """How a client's run came to its end."""

    BY_ITSELF = "by itself"
    OVER_TIME = "over time"
    OVER_SIZE = "over size"


@dataclass(frozen=True, slots=True)
class Run:
    """What came of a run. `status` is the exit status, negative for a signal; `complaint` the end of stderr."""

    ended: ExitResult
    status: int
    output: bytes
    complaint: str


class Output:
    """Complete lines of output but those that begin with `noise`, up to a size."""

    def __init__(self, noise: bytes) -> None:
        self._noise = noise
        self._kept = bytearray()
        self._line = b""

    def add(self, data: bytes) -> bool:
        """Take more of the output; False once it is too much."""
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            if not (self._noise and line.startswith(self._noise)):
                self._kept += line + b"\n"
        return len(self._kept) + len(self._line) <= MAX_OUTPUT

    def text(self) -> bytes:
        """Return what was kept, with an unfinished last line."""
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
) -> Run:
    """Run a program with `text` on stdin for at most `seconds`. `folder` is removed should this process be killed.

    Raises OSError if the program cannot be started.
    """
    guard = _guard(folder)
    try:
        with tempfile.TemporaryFile(dir=folder) as given:  # a file, for no deadlock with what it prints meanwhile
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


def _guard(folder: Path) -> subprocess.Popen[bytes]:
    """Start the leader of the process group, which ends that and removes `folder` when we are gone."""
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "skilld-guard", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath},
        cwd="/",
        process_group=0,
    )


def _follow(child: subprocess.Popen[bytes], seconds: float, noise: bytes) -> Run:
    deadline = time.monotonic() + seconds
    output, complaint = Output(noise), b""
    how = None
    with selectors.DefaultSelector() as selector:
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ)
        while how is None:
            gone = child.poll() is not None
            ready = selector.select(0 if gone else _LOOK) if selector.get_map() else []
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is child.stderr:
                    complaint = (complaint + data)[-_MAX_COMPLAINT:]
                elif not output.add(data):
                    how = ExitResult.OVER_SIZE
            if how is None:
                how = _how(child, deadline, gone=gone and not ready, deaf=not selector.get_map())
    return Run(how, child.returncode or 0, output.text(), complaint.decode("utf-8", "replace"))


def _how(child: subprocess.Popen[bytes], deadline: float, *, gone: bool, deaf: bool) -> ExitResult | None:
    if gone:
        return ExitResult.BY_ITSELF
    if time.monotonic() >= deadline and child.poll() is None:  # what has ended is still read out
        return ExitResult.OVER_TIME
    if deaf:  # it has closed its output; nothing is left to wait for but its end
        with suppress(subprocess.TimeoutExpired):
            child.wait(_LOOK)
    return None


def _end(child: subprocess.Popen[bytes], group: int) -> None:
    """End what still runs: politely first, because clients keep settings and logs of the person's open."""
    if child.poll() is None:
        _signal(group, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE)
    _signal(group, signal.SIGKILL)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
        os.killpg(group, number)
