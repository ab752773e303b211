"""A threaded HTTP server on an ephemeral loopback port, for the stand-ins of model APIs.

A stand-in subclasses `LoopbackServer` and says how a request is answered. Closing it cuts every delay short, so no
test waits for an answer that nobody reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

Answer = Callable[[], None]


class LoopbackServer:
    """Serves until closed. Subclasses implement `answer_get` and `answer_post`; both run in a thread per request."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def origin(self) -> str:
        """Scheme, host and port, without a final slash."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()

    def pause(self, seconds: float) -> None:
        """Hold an answer back for `seconds`, or until the server is closed."""
        self._closing.wait(seconds)

    def answer_get(self, request: Handler) -> None:
        request.send_body(404, b"{}")

    def answer_post(self, request: Handler, body: bytes) -> None:
        raise NotImplementedError


class Handler(BaseHTTPRequestHandler):
    """One request. A client that went away is not an error: tests kill clients and workers in mid-answer."""

    protocol_version = "HTTP/1.1"
    server_of: LoopbackServer

    def do_GET(self) -> None:
        self._guarded(lambda: self.server_of.answer_get(self))

    def do_HEAD(self) -> None:
        self._guarded(lambda: self.send_body(200, b""))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._guarded(lambda: self.server_of.answer_post(self, body))

    def send_body(
        self, status: int, body: bytes, *, kind: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        """Send a whole answer and close the connection."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the standard library's
        """Write nothing: requests are kept by the stand-ins, not printed."""

    def _guarded(self, answer: Answer) -> None:
        try:
            answer()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


def _handler_for(server: LoopbackServer) -> type[Handler]:
    return type("BoundHandler", (Handler,), {"server_of": server})
