"""Runs the collected tests in forks of the process that collected them, which has imported and compiled everything.

Processes that collect for themselves, as xdist's do, each spend five seconds of processor time on imports, five on
collecting and three on the offline detector's expressions. Forks get one file of tests after another, the slow ones
first, so none has much left to do at the end. A fork that dies is replaced, and the test it was running has failed.
"""

from __future__ import annotations

import os
import pickle
import random
import selectors
import signal
import socket
import struct
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import pytest

_LENGTH = struct.Struct("!Q")
_MOST = 40  # tests handed out at once: of a file of hundreds, several processes have a share
_SLOW_FIRST = ("e2e", "faults", "security", "unit")


def share_out(items: list[pytest.Item]) -> deque[list[int]]:
    """Return which tests are handed out together, by their numbers, in order."""
    places = {name: place for place, name in enumerate(_SLOW_FIRST)}

    def late(number: int) -> tuple[bool, int]:
        item = items[number]
        return item.get_closest_marker("quick") is not None, places.get(item.path.parent.name, 0)

    ordered = sorted(range(len(items)), key=late)
    files = [list(numbers) for _, numbers in groupby(ordered, key=lambda number: items[number].path)]
    return deque(file[start : start + _MOST] for file in files for start in range(0, len(file), _MOST))


class _Fork:
    """A process that runs tests, as the one that collected them sees it."""

    def __init__(self, pid: int, control: socket.socket) -> None:
        self.pid, self.control = pid, control
        self.handed = deque[int]()  # the tests that it has not ended


class Forks:
    """Hands out the tests of a session and reports what comes back; `begin` makes a new fork's folders its own."""

    def __init__(self, session: pytest.Session, count: int, begin: Callable[[int], None]) -> None:
        self._session, self._begin = session, begin
        self._waiting = share_out(session.items)
        self._selector = selectors.DefaultSelector()
        self._started = 0
        capture = session.config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled():
            self._errors = os.dup(2)
        for _ in range(min(count, len(self._waiting))):
            self._start()

    def run(self) -> None:
        """Return when all tests are run, or enough have failed."""
        try:
            while self._selector.get_map() and not (self._session.shouldfail or self._session.shouldstop):
                for key, _ in self._selector.select():
                    self._hear(key.data)
        finally:
            for key in [*self._selector.get_map().values()]:
                os.kill(key.data.pid, signal.SIGKILL)
                self._end(key.data)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)
        assert not self._waiting, "no process is left to run the tests"

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self._started += 1
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            code = 1
            try:
                for key in self._selector.get_map().values():
                    key.data.control.close()
                ours.close()
                self._begin(self._started)
                _Runner(self._session, theirs).run()
                code = 0
            except BaseException:  # noqa: BLE001 - none may go on as the process that collected
                os.write(self._errors, traceback.format_exc().encode())
            finally:
                os._exit(code)
        theirs.close()
        self._selector.register(ours, selectors.EVENT_READ, _Fork(pid, ours))

    def _end(self, fork: _Fork) -> None:
        self._selector.unregister(fork.control)
        fork.control.close()
        os.waitpid(fork.pid, 0)

    def _hear(self, fork: _Fork) -> None:
        heard = _receive(fork.control)
        if heard is None:
            self._end(fork)
            if fork.handed:
                self._replace(fork)
            return
        kind, content = heard
        hook = self._session.config.hook
        if kind == "next":
            numbers = self._waiting.popleft() if self._waiting else []
            fork.handed += numbers
            _send(fork.control, numbers)
        elif kind == "end":
            item = self._session.items[content]
            fork.handed.remove(content)
            hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        elif kind == "warning":
            hook.pytest_warning_recorded.call_historic(kwargs=content)
        else:
            report = hook.pytest_report_from_serializable(config=self._session.config, data=content)
            name = f"process {fork.pid}"
            report.node = SimpleNamespace(gateway=SimpleNamespace(id=name), _workerinfocache=f"[{name}]")  # as xdist's
            hook.pytest_runtest_logreport(report=report)

    def _replace(self, fork: _Fork) -> None:
        """Report the test that a fork was running when it died, and give its remaining tests to another fork."""
        item = self._session.items[fork.handed.popleft()]
        if fork.handed:
            self._waiting.appendleft([*fork.handed])
        self._start()
        text = f"the process that ran {item.nodeid} died"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call")
        self._session.config.hook.pytest_runtest_logreport(report=report)


class _Runner:
    """Runs tests in a fork; a plugin that passes reports on."""

    def __init__(self, session: pytest.Session, control: socket.socket) -> None:
        self._session, self._control = session, control

    def run(self) -> None:
        """Run what is handed out, until nothing is."""
        config = self._session.config
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(self, "forks")
        random.seed()
        capture = config.pluginmanager.getplugin("capturemanager")
        if capture.is_globally_capturing():  # its files are the other processes' too
            capture.stop_global_capturing()
            capture.start_global_capturing()
        numbers = self._numbers()
        number = next(numbers, None)
        while number is not None:
            following = next(numbers, None)
            item = self._session.items[number]
            after = None if following is None else self._session.items[following]
            config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            _send(self._control, ("end", number))
            number = following

    def _numbers(self) -> Iterator[int]:
        while True:
            _send(self._control, ("next", None))
            numbers = _receive(self._control)
            if not numbers:
                return
            yield from numbers

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Pass on a report."""
        config = self._session.config
        data = config.hook.pytest_report_to_serializable(config=config, report=report)
        _send(self._control, ("report", data))

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        """Pass on a warning, as text."""
        warning_message.message = UserWarning(str(warning_message.message))
        warning_message.category, warning_message.source = UserWarning, None
        content = {"warning_message": warning_message, "when": when, "nodeid": nodeid, "location": location}
        _send(self._control, ("warning", content))


def _send(control: socket.socket, content: Any) -> None:
    data = pickle.dumps(content)
    control.sendall(_LENGTH.pack(len(data)) + data)


def _receive(control: socket.socket) -> Any:
    """Return what the other end sent, None if it is gone."""
    head = _receive_exactly(control, _LENGTH.size)
    if head is None:
        return None
    return pickle.loads(_receive_exactly(control, *_LENGTH.unpack(head)) or b"N.")  # noqa: S301 - from our own fork


def _receive_exactly(control: socket.socket, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        part = control.recv(size - len(data))
        if not part:
            return None
        data += part
    return data
