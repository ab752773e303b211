"""What systemd is told about the daemon, on a real socket and a fake clock."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld.daemon.systemd import Manager, Watchdog
from support.rows import for_each

LIMITS = {"intake": 100.0, "look": 50.0}


class FakeSystemd:
    """The manager's end of the socket."""

    def __init__(self, path: Path) -> None:
        self.channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.channel.bind(str(path))
        self.channel.settimeout(0)

    def all(self) -> list[str]:
        found = []
        while True:
            try:
                found.append(self.channel.recv(4096).decode())
            except BlockingIOError:
                return found


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[FakeSystemd]:
    made = FakeSystemd(tmp_path / "notify")
    yield made
    made.channel.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watchdog(tmp_path: Path, clock: Clock) -> Watchdog:
    environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "60000000"}
    return Watchdog(Manager(environment), environment, LIMITS, clock)


def test_until_ready_it_asks_for_more_time_without_a_watchdog_message(
    watchdog: Watchdog, systemd: FakeSystemd, clock: Clock
) -> None:
    for _ in range(3):
        watchdog.beat("intake")
    assert systemd.all() == ["EXTEND_TIMEOUT_USEC=90000000"]
    clock.now += 2
    watchdog.beat("intake")
    watchdog.notify_ready()
    clock.now += 2
    watchdog.beat("intake")
    assert systemd.all() == ["EXTEND_TIMEOUT_USEC=90000000", "READY=1", "WATCHDOG=1"]


def test_one_frozen_stage_silences_it_however_alive_the_others_are(
    watchdog: Watchdog, systemd: FakeSystemd, clock: Clock
) -> None:
    watchdog.notify_ready()
    systemd.all()
    heard = []
    for _ in range(30):
        clock.now += 10
        watchdog.beat("intake")
        heard += systemd.all()
    # 1000 + 50 is the last moment at which the silence of the other one is none.
    assert heard == ["WATCHDOG=1"] * 5
    assert watchdog.frozen_stages() == ["look"]
    watchdog.beat("look")
    clock.now += 2
    watchdog.beat("intake")
    assert systemd.all() == ["WATCHDOG=1"]


def test_a_long_read_that_progresses_freezes_nothing_and_hides_nothing(
    watchdog: Watchdog, systemd: FakeSystemd, clock: Clock
) -> None:
    watchdog.notify_ready()
    clock.now += 40  # of the 50 that the other stage may be silent
    watchdog.begin()
    systemd.all()
    for _ in range(100):
        clock.now += 10
        watchdog.progress("intake")
        assert systemd.all() == ["WATCHDOG=1"]
    assert watchdog.frozen_stages() == []
    for _ in range(3):  # short readings of a daemon whose other stage is dead
        clock.now += 5
        watchdog.begin()
        watchdog.progress("intake")
    assert watchdog.frozen_stages() == ["look"]


def test_a_status_is_sent_once_and_so_is_stopping(watchdog: Watchdog, systemd: FakeSystemd) -> None:
    for words in ("a", "a", "b"):
        watchdog.set_status(words)
    watchdog.notify_stopping()
    first, second, last = systemd.all()
    assert (first, second) == ("STATUS=a", "STATUS=b")
    assert last.startswith("STOPPING=1\n")


@for_each(
    ("variables", "patience"),
    [
        ({}, float("inf")),
        ({"WATCHDOG_USEC": "2000000"}, 2.0),
        ({"WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "own"}, 2.0),
        ({"WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "1"}, float("inf")),  # meant for a process above us
        ({"WATCHDOG_USEC": "0"}, float("inf")),
        ({"WATCHDOG_USEC": "soon"}, float("inf")),
    ],
)
def test_the_timeouts_come_from_the_managers_variables(variables: dict[str, str], patience: float) -> None:
    given = {name: str(os.getpid()) if value == "own" else value for name, value in variables.items()}
    assert Watchdog(Manager(given), given, LIMITS).patience == patience


def test_without_a_manager_nothing_is_sent_and_a_dead_socket_does_no_harm(tmp_path: Path) -> None:
    for environment in ({}, {"NOTIFY_SOCKET": str(tmp_path / "gone")}, {"NOTIFY_SOCKET": "@skilld-no-such"}):
        manager = Manager(environment)
        assert manager.notify("STATUS=lost") is not bool(environment)
        watchdog = Watchdog(manager, environment, LIMITS)
        watchdog.notify_ready()
        watchdog.beat("look")


def test_a_manager_that_does_not_read_is_not_awaited(systemd: FakeSystemd, tmp_path: Path) -> None:
    manager = Manager({"NOTIFY_SOCKET": str(tmp_path / "notify")})
    for number in range(2000):  # more than any queue of a socket holds
        manager.notify(f"STATUS={number}")
    assert systemd.all()[0] == "STATUS=0"


def test_a_lost_status_is_sent_the_next_time(watchdog: Watchdog, systemd: FakeSystemd, tmp_path: Path) -> None:
    manager = Manager({"NOTIFY_SOCKET": str(tmp_path / "notify")})
    while manager.notify("WATCHDOG=1"):
        pass
    watchdog.set_status("paused")
    assert "STATUS=paused" not in systemd.all()
    for _ in range(2):
        watchdog.set_status("paused")
    assert systemd.all() == ["STATUS=paused"]
