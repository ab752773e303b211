"""Starts skilld as a fork of a process that has imported it, for a tenth of the processor time of a new Python.

One server (`support.warm_server`) serves all processes of a pytest run, and another serves fault tests, which change
Python at its start (tests/faults/inject). Each is started when it is first needed and ends with pytest. Its children
have what an exec'd program has (folder, environment, streams, session, terminal, umask, signals, exit code), so a test
sees the same of a verb; `fits` says for which programs that holds. A test about how a program starts (its imports,
entry points, what /proc shows of it) starts a real one. So does everything if SKILLD_TEST_WARM is 0, and on macOS,
whose frameworks do not survive a fork.
"""

from __future__ import annotations

import atexit
import locale
import os
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from support import warm_server
from support.fake_callers import in_terminal

REPOSITORY = Path(__file__).resolve().parents[2]
CHOSEN = "SKILLD_TEST_WARM"
INJECT = REPOSITORY / "tests/faults/inject"
_PATHS = {  # what PYTHONPATH a server has -> the other variables that Python reads when it starts
    str(REPOSITORY): frozenset[str](),
    f"{REPOSITORY}:{INJECT}": frozenset({"PYTHONFAULTS"}),
}
_SERVER = Path(__file__).with_name("warm_server.py")
_MAX_TYPED = 16384  # bytes that every pipe takes at once
_MAX_SHOWN = 8192  # bytes of what the kernel shows of a command, and of an environment
_LANG = "C.UTF-8"
# What Python reads when it starts, or a library when it is imported.
_AT_START = ("LC_", "PYTHON", "_ARC", "LITELLM", "TEXTUAL", "COVERAGE_")


# What changes nothing for a worker, which ends each line that it writes by writing it.
_NO_MATTER = frozenset({"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"})


class _Server:
    """The other end of a server of this process's own, or of the one that all processes of this pytest share."""

    def __init__(self, path: str, listener: socket.socket | None = None) -> None:
        self.owner = os.getpid()
        self.turn = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        if shared_in and listener is None:
            self.control = socket.socket(socket.AF_UNIX)
            self.control.connect(str(_door(shared_in, path)))
            return
        self.control, theirs = socket.socketpair()
        environment = {"PATH": os.environ["PATH"], "HOME": "/", "LANG": _LANG, "PYTHONPATH": path}
        environment |= dict.fromkeys(_PATHS[path], "/nowhere") | {"ROOM": "-" * _MAX_SHOWN}
        handed = [one.fileno() for one in (theirs, listener) if one]
        numbers = ",".join(map(str, handed))
        with theirs:
            self.process = subprocess.Popen(
                [*in_terminal(), sys.executable, str(_SERVER), numbers, "-" * _MAX_SHOWN],
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                pass_fds=handed,
            )
        atexit.register(self.close)

    def close(self) -> None:
        """Let it end, and wait for it."""
        if self.owner == os.getpid():
            self.control.close()
            if self.process:
                self.process.wait()

    @property
    def is_gone(self) -> bool:
        """Whether it has ended, or belongs to the process that this one was forked from."""
        return self.owner != os.getpid() or (self.process is not None and self.process.poll() is not None)


shared_in: Path | None = None  # the folder with the doors of the servers that all processes of this pytest share
_servers: dict[str, _Server] = {}
_starting = threading.Lock()


def _door(folder: Path, path: str) -> Path:
    return folder / str([*_PATHS].index(path))


def share(*, at_once: bool) -> tuple[Path, Callable[[], None]]:
    """Have servers for the processes that set `shared_in` to the folder returned; call the other thing at the end.

    Each took five seconds of processor time to import all that it has, in each process. Unless they are to be there
    `at_once`, each is started when it is first asked for something.
    """
    folder = Path(tempfile.mkdtemp(prefix="skilld-warm-"))
    selector, started = selectors.DefaultSelector(), list[_Server]()
    ending, ends = socket.socketpair()
    selector.register(ending, selectors.EVENT_READ)
    for path in _PATHS:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(_door(folder, path)))
        listener.listen(64)
        if at_once:
            with listener:
                started.append(_Server(path, listener))
        else:
            selector.register(listener, selectors.EVENT_READ, path)

    def serve() -> None:
        while len(selector.get_map()) > 1:
            for key, _ in selector.select():
                if key.fileobj is ending:
                    return
                selector.unregister(key.fileobj)
                with cast("socket.socket", key.fileobj) as listener:
                    started.append(_Server(key.data, listener))

    thread = threading.Thread(target=serve)
    thread.start()

    def close() -> None:
        ends.close()
        thread.join()
        for server in started:
            server.close()
        shutil.rmtree(folder)

    return folder, close


def _the_server(path: str) -> _Server:
    with _starting:
        server = _servers.get(path)
        if server is None or server.is_gone:
            server = _servers[path] = _Server(path)
        return server


def _may_fork() -> bool:
    return sys.platform != "darwin" and os.environ.get(CHOSEN) != "0"


def fits(environment: Mapping[str, str], typed: str = "") -> bool:
    """Whether a fork can replace a program with this environment and this standard input."""
    at_start = {name for name in environment if name.startswith(_AT_START)}
    path = environment.get("PYTHONPATH", "")
    return (
        _may_fork()
        and environment.get("LANG") == _LANG
        and path in _PATHS
        and at_start == {"PYTHONPATH", *_PATHS[path]}
        and len(typed.encode()) <= _MAX_TYPED
    )


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    typed: str,
    timeout: float,
    kept_out: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run `python -m COMMAND...` to its end, typed in a terminal, with `typed` on its standard input."""
    stdin, types = os.pipe()
    os.write(types, typed.encode())
    os.close(types)
    (out, told_out), (err, told_err) = os.pipe(), os.pipe()
    server = _the_server(environment["PYTHONPATH"])
    with server.turn:
        request = _request(command, folder, environment, "a person") | {"kept_out": kept_out}
        ours = warm_server.ask_for(server.control, request, [stdin, told_out, told_err])
    for one in (stdin, told_out, told_err):
        os.close(one)
    with ours, open(out, "rb", 0) as output, open(err, "rb", 0) as errors:  # noqa: PTH123 - descriptors
        texts = {output.fileno(): bytearray(), errors.fileno(): bytearray(), ours.fileno(): bytearray()}
        try:
            _read(texts, time.monotonic() + timeout)
        except TimeoutError:
            raise subprocess.TimeoutExpired(list(command), timeout) from None
        said, complained, told = (bytes(text) for text in texts.values())
    numbers = told.split()
    assert len(numbers) == 2, f"the warm server did not tell the end of {' '.join(command)}"
    return subprocess.CompletedProcess(list(command), int(numbers[1]), _text(said), _text(complained))


def _request(command: Sequence[str], folder: Path, environment: Mapping[str, str], whom: str) -> dict[str, Any]:
    return {
        "command": list(command),
        "folder": str(folder),
        "environment": dict(environment),
        "for": whom,
        "lends": command[0] == "skilld",
    }


class Process(Protocol):
    """What tests do with a process that they started, with `subprocess.Popen` or with `start`."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, number: int, /) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


def start(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    output: int,
    *,
    typed: int | None = None,
    kept_out: bool = False,
) -> Process:
    """Start `python -m COMMAND...`; what it prints goes to `output`. It ends with this process.

    It has no terminal, unless `typed`, its standard input, and `output` are one.
    """
    server = _the_server(environment["PYTHONPATH"])
    nothing = os.open(os.devnull, os.O_RDWR)
    told = nothing if output == subprocess.DEVNULL else output
    with server.turn:
        request = _request(command, folder, environment, "a test") | {"kept_out": kept_out}
        streams = [nothing if typed is None else typed, told, told]
        process = warm_server.Started(server.control, request, streams)
    os.close(nothing)
    return process


def _read(texts: Mapping[int, bytearray], until: float) -> None:
    """Read all to their ends."""
    with selectors.DefaultSelector() as selector:
        for number in texts:
            selector.register(number, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(until - time.monotonic())
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                if data := os.read(key.fd, 65536):
                    texts[key.fd] += data
                else:
                    selector.unregister(key.fd)


def _text(data: bytes) -> str:
    """Decode as `subprocess` does."""
    return data.decode(locale.getpreferredencoding(do_setlocale=False)).replace("\r\n", "\n").replace("\r", "\n")


def start_worker(command: list[str], **options: Any) -> Any:
    """Start what a daemon starts as `subprocess.Popen` would, but as a fork if possible; everything else as usual."""
    environment = options.get("env") or {}
    at_start = {name for name in environment if name.startswith(_AT_START)}
    if not warm_server.is_child_of_daemon(command) or at_start - _NO_MATTER or not _may_fork():
        return subprocess.Popen(command, **options)
    server = _the_server(str(REPOSITORY))
    asks = os.environ.get("SKILLD_MODEL", "offline") != "offline"  # the worker itself is told with its job
    with server.turn:
        return warm_server.LentWorker(server.control, command, environment, asks=asks)
