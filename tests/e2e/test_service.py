"""What the daemon tells a service manager from start to end, on a real socket."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.program import Program
from support.waiting import LIMIT, wait_for


class FakeSystemd:
    """The manager's end of the socket, and all that was said."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self.lines: list[str] = []

    def has(self, line: str) -> bool:
        """Take in what came, and tell whether a line of it begins so."""
        try:
            while True:
                self.lines += self._channel.recv(4096).decode().splitlines()
        except BlockingIOError:
            return any(said.startswith(line) for said in self.lines)


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[FakeSystemd]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(str(tmp_path / "notify"))
        channel.settimeout(0)
        yield FakeSystemd(channel)


def test_ready_watchdog_and_stopping_are_sent_in_order(systemd: FakeSystemd, program: Program, tmp_path: Path) -> None:
    program.environment |= {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "2000000"}
    with program.daemon() as process:
        wait_for("READY", lambda: systemd.has("READY=1"))
        wait_for("WATCHDOG", lambda: systemd.has("WATCHDOG=1"))
        assert program.run("pause").returncode == 0
        wait_for("the pause", lambda: systemd.has("STATUS=paused; batches waiting: 0"))
        process.send_signal(signal.SIGTERM)
        wait_for("STOPPING", lambda: systemd.has("STOPPING=1"))
        assert process.wait(LIMIT) == 0
    order = [systemd.lines.index(line) for line in ("READY=1", "WATCHDOG=1", "STOPPING=1")]
    assert order == sorted(order)
