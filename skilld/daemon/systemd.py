"""Telling systemd how we are (sd_notify): one datagram to the socket it names. Nothing happens elsewhere."""

from __future__ import annotations

import socket
from collections.abc import Mapping


class Manager:
    """The service manager that started us, if any. Source: sd_notify(3)."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")

    def tell(self, *messages: str) -> None:
        """Send states such as READY=1, WATCHDOG=1, STOPPING=1 or STATUS=text; a lost one does no harm."""
        if not self._address:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            try:
                channel.sendto("\n".join(messages).encode(), address)
            except OSError:
                return
