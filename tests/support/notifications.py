"""A real session bus with a small notification server on it, and a bus that never answers."""

# The annotations of dbus-fast are D-Bus signatures, not types.
# mypy: ignore-errors

import asyncio
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_method

NAME = "org.freedesktop.Notifications"


class _Server(ServiceInterface):
    """The methods of the desktop notification specification that a sender calls."""

    def __init__(self, shown: list[dict[str, Any]]) -> None:
        super().__init__(NAME)
        self._shown = shown

    @dbus_method()
    def GetCapabilities(self) -> "as":  # noqa: F722, N802 - D-Bus signatures and names
        return ["body", "actions"]

    @dbus_method()
    def GetServerInformation(self) -> "ssss":  # noqa: F821, N802 - as above
        return ["test", "skilld", "1", "1.2"]

    @dbus_method()
    def Notify(  # noqa: N802, PLR0917 - as above
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
        del replaces_id, actions, hints, expire_timeout
        self._shown.append({"app": app_name, "icon": app_icon, "title": summary, "body": body})
        return len(self._shown)

    @dbus_method()
    def CloseNotification(self, id: "u"):  # noqa: A002, ANN202, F821, N802 - as above
        del id


@contextmanager
def notification_server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the address of a session bus of its own, and the list of what was shown on it."""
    command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    daemon = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert daemon.stdout is not None
    address = daemon.stdout.readline().strip()
    shown: list[dict[str, Any]] = []
    ready, loop = threading.Event(), asyncio.new_event_loop()

    async def serve() -> None:
        bus = await MessageBus(bus_address=address).connect()
        bus.export("/org/freedesktop/Notifications", _Server(shown))
        await bus.request_name(NAME)
        ready.set()

    server = threading.Thread(target=loop.run_forever, daemon=True)
    server.start()
    asyncio.run_coroutine_threadsafe(serve(), loop)
    try:
        assert ready.wait(10), "the notification server did not come up"
        yield address, shown
    finally:
        loop.call_soon_threadsafe(loop.stop)
        server.join(5)
        daemon.terminate()
        daemon.wait(5)


@contextmanager
def silent_bus(folder: Path) -> Iterator[str]:
    """Yield the address of a bus that takes connections and says nothing."""
    path = folder / "silent-bus"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        yield f"unix:path={path}"
