"""A real session bus with a small notification server on it, whose buttons can be pressed, or which hangs."""

# The annotations of dbus-fast are D-Bus signatures, not types.
# mypy: ignore-errors

import asyncio
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dbus_fast import Message
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_method, signal

from support.waiting import LIMIT, wait_for

NAME = "org.freedesktop.Notifications"
_PATH = "/org/freedesktop/Notifications"


class _Server(ServiceInterface):
    """The methods of the desktop notification specification that a sender calls."""

    def __init__(self, shown: list[dict[str, Any]], *, hangs: bool) -> None:
        super().__init__(NAME)
        self._shown = shown
        self._hangs = hangs
        self.answers = asyncio.Event()
        self.answers.set()

    @dbus_method()
    async def GetCapabilities(self) -> "as":  # noqa: F722, N802 - D-Bus signatures and names
        if self._hangs:
            await asyncio.Event().wait()
        return ["body", "actions"]

    @dbus_method()
    def GetServerInformation(self) -> "ssss":  # noqa: F821, N802 - as above
        return ["test", "skilld", "1", "1.2"]

    @dbus_method()
    async def Notify(  # noqa: N802, PLR0917 - as above
        self,
        app_name: "s",  # noqa: F821
        replaces_id: "u",  # noqa: F821
        app_icon: "s",  # noqa: F821
        summary: "s",  # noqa: F821
        body: "s",  # noqa: F821
        actions: "as",  # noqa: F722
        hints: "a{sv}",  # noqa: F722
        expire_timeout: "i",  # noqa: F821
    ) -> "u":  # noqa: F821
        del replaces_id, hints, expire_timeout
        buttons = dict(zip(actions[::2], actions[1::2], strict=True))
        self._shown.append({"app": app_name, "icon": app_icon, "title": summary, "body": body, "buttons": buttons})
        await self.answers.wait()
        return len(self._shown)

    @dbus_method()
    def CloseNotification(self, id: "u"):  # noqa: A002, ANN202, F821, N802 - as above
        self.NotificationClosed(id, 3)

    @signal()
    def NotificationClosed(self, id: "u", reason: "u") -> "uu":  # noqa: A002, F821, N802 - as above
        return [id, reason]

    @signal()
    def ActionInvoked(self, id: "u", action: "s") -> "us":  # noqa: A002, F821, N802 - as above
        return [id, action]


class Notifications:
    """A session bus of its own at `address`; `shown` has what was shown on it, oldest first."""

    def __init__(self, address: str, *, hangs: bool = False) -> None:
        self.address = address
        self.shown: list[dict[str, Any]] = []
        self._server = _Server(self.shown, hangs=hangs)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result(LIMIT)

    def answer(self, *, really: bool) -> None:
        """From now on, confirm that what is shown was shown, or show it and say nothing."""
        answers = self._server.answers
        self._loop.call_soon_threadsafe(answers.set if really else answers.clear)

    async def _serve(self) -> None:
        bus = await MessageBus(bus_address=self.address).connect()
        bus.export(_PATH, self._server)
        await bus.request_name(NAME)

    def wait(self, count: int) -> dict[str, Any]:
        """Wait until this many notices were shown, and return the newest."""
        wait_for(f"notice {count}", lambda: len(self.shown) >= count, context=lambda: str(self.shown))
        return self.shown[count - 1]

    def press(self, action: str, number: int = 1) -> None:
        """Press a button of a notice (`default`: click it)."""

        async def emit() -> None:
            self._server.ActionInvoked(number, action)

        asyncio.run_coroutine_threadsafe(emit(), self._loop).result(LIMIT)

    def forge(self, action: str, number: int = 1) -> None:
        """Say that a button was pressed as another program on the bus, which is not the notification server."""

        async def emit() -> None:
            bus = await MessageBus(bus_address=self.address).connect()
            await bus.send(Message.new_signal(_PATH, NAME, "ActionInvoked", "us", [number, action]))
            await bus.introspect(NAME, _PATH)  # what was sent before this was answered has been delivered
            bus.disconnect()

        asyncio.run_coroutine_threadsafe(emit(), self._loop).result(LIMIT)

    def stop(self) -> None:
        """End the calls that hang, which Python would report later, in another test; then the loop."""

        async def end() -> None:
            calls = asyncio.all_tasks() - {asyncio.current_task()}
            for call in calls:
                call.cancel()
            await asyncio.wait(calls) if calls else None

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(LIMIT)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LIMIT)


@contextmanager
def session_bus() -> Iterator[str]:
    """Yield the address of a session bus of its own."""
    command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    daemon = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert daemon.stdout is not None
    try:
        yield daemon.stdout.readline().strip()
    finally:
        daemon.terminate()
        daemon.wait(LIMIT)


@contextmanager
def notification_server(*, hangs: bool = False) -> Iterator[Notifications]:
    """Yield a notification server on a bus of its own; one that `hangs` takes calls and never answers."""
    with session_bus() as address:
        server = Notifications(address, hangs=hangs)
        try:
            yield server
        finally:
            server.stop()
