"""The real daemon as a child, known to be ready by its own word; and its yardstick, the program kit/bare.py."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.kit.children import LIMIT, environment, scratch

_STOP_LIMIT = 30.0


@dataclass(frozen=True, slots=True)
class Running:
    """A running child; `ready_after` is the number of seconds from its start until it said that it was ready."""

    pid: int
    ready_after: float


@contextmanager
def daemon(home: Path, more: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Run `skilld run` on `home` while the context lasts, `more` being variables of its environment."""
    _warm()
    with _daemon(home, more or {}) as running:
        yield running


@contextmanager
def bare(home: Path, folder: Path) -> Iterator[Running]:
    """Run the daemon's yardstick, watching `folder`, while the context lasts."""
    _warm()
    with _bare(home, folder) as running:
        yield running


def database(home: Path) -> Path:
    """Return where the daemon of `home` keeps its database."""
    return home / ".local/state/skilld/skilld.db"


@cache
def _warm() -> None:
    """Run both once on nothing, so that all their modules are in the bytecode cache."""
    with scratch() as home, _daemon(home, {}), _bare(home, home):
        pass


@contextmanager
def _daemon(home: Path, more: Mapping[str, str]) -> Iterator[Running]:
    address = home / "ready.socket"
    address.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, (home / "run.log").open("ab") as output:
        manager.bind(str(address))
        manager.settimeout(0.5)
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "skilld", "run"],
            env=environment(home, {"NOTIFY_SOCKET": str(address), **more}),
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        try:
            while not _says_ready(manager):
                if process.poll() is not None or time.perf_counter() - start > LIMIT:
                    raise RuntimeError(f"skilld run did not start: {(home / 'run.log').read_text()}")
            yield Running(process.pid, time.perf_counter() - start)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_STOP_LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def _bare(home: Path, folder: Path) -> Iterator[Running]:
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.kit.bare", str(folder)],
        env=environment(home),
        cwd=home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        if process.stdout is None or process.stdout.readline() != b"ready\n":
            raise RuntimeError("the yardstick did not start")
        yield Running(process.pid, time.perf_counter() - start)
    finally:
        process.kill()
        process.communicate()


def _says_ready(manager: socket.socket) -> bool:
    """Whether a message of the sd_notify protocol says so within half a second."""
    try:
        return b"READY=1" in manager.recv(4096)
    except TimeoutError:
        return False
