"""The server of `support.warm`: it has imported skilld, run none of it, and forks a child for each program asked for.

A child is set up like an exec'd one: its standard streams, folder, whole environment, umask, session and terminal are
those of the request, its signals are the default ones, no other file is open, and it ends as Python does. The only
thing it shares with its neighbours is that skilld is imported. `python warm_server.py NUMBERS PADDING`: the socket, the
one that processes connect to if several share it, and room for the command line that the kernel shows for a child.

Programs that may ask a model or count tokens are forked from a fork of the server that also has litellm and the
tokenizer: the fewer of their 220 MB a process has, the less a fork of it costs.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib.abc
import importlib.machinery
import json
import os
import pkgutil
import random
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

_HEADER = 8  # bytes of the length before a request
_STREAMS = 3
_PERSON = "a person"  # for whom a program is started at a terminal, and ends with whoever waits for it
_TEST = "a test"  # for which it ends so too, and has no terminal
_DAEMON = "a daemon"  # which starts it as skilld starts a worker
_MAX_WORD = 65536
_FLUSH_FAILED = 120  # what Python ends with where its output could not be written
# What only a full screen or a server of MCP need: they look at the environment when imported.
_LATER = frozenset({"skilld.review.app", "skilld.mcp.server", "skilld.cli.mine_report"})
_LARGE = frozenset({"--model", "--tokens", "trim", "pr"})  # words of commands that ask a model or count tokens
# What litellm imports for its first call.
_FIRST_CALL = (
    "httpcore",
    "h2.connection",
    "openai.resources",
    "litellm.proxy._types",
    "litellm.litellm_core_utils.default_encoding",  # later it would not find the vocabulary beside itself
)


class Running:
    """A child: its end is reported on `reports`; `master` is the other side of its terminal, if it has one.

    An owned one ends with the process that asked for it.
    """

    def __init__(self, pid: int, reports: socket.socket, master: int, *, is_owned: bool) -> None:
        self.pid, self.reports, self.master, self.is_owned = pid, reports, master, is_owned
        self.is_drained = master < 0


def _ready(waited_for: list[Any]) -> list[Any]:
    """Wait until something can be read. Numbers of files may be above the 1,024 that `select` bears."""
    with selectors.DefaultSelector() as selector:
        for one in waited_for:
            selector.register(one, selectors.EVENT_READ)
        return [key.fileobj for key, _ in selector.select()]


class Server:
    """Waits for requests, ends of children, and askers that go away."""

    def __init__(self, control: socket.socket, *listeners: socket.socket, is_small: bool = True) -> None:
        self._is_small = is_small
        self._controls = [control]
        self._listeners = listeners
        self._large: tuple[int, socket.socket] | None = None  # the process that has litellm, and how to reach it
        self._children: dict[int, Running] = {}
        self._woken, wakes = socket.socketpair()
        for one in (self._woken, wakes):
            one.setblocking(False)  # noqa: FBT003 - the library's
        self._wakes = wakes
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        """Serve until the first control socket is closed; then end what still runs."""
        first = self._controls[0]
        while first in self._controls:
            masters = {one.master: one for one in self._children.values() if not one.is_drained}
            reports = {one.reports: one for one in self._children.values() if one.reports.fileno() >= 0}
            waited_for: list[Any] = [self._woken, *self._listeners, *self._controls, *reports, *masters]
            for one in _ready(waited_for):
                if one is self._woken:
                    with suppress(BlockingIOError):
                        self._woken.recv(_MAX_WORD)
                elif one in self._listeners:
                    self._controls.append(one.accept()[0])
                elif one in masters:
                    self._drain(masters[one])
                elif one in reports:
                    self._abandon(reports[one])
                elif not self._start(one):
                    self._controls.remove(one)
                    one.close()
            self._check_ends()
        for child in self._children.values():
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)
        if self._large:
            pid, control = self._large
            control.close()
            os.waitpid(pid, 0)

    def _drain(self, child: Running) -> None:
        with suppress(OSError):
            if os.read(child.master, _MAX_WORD):
                return
        child.is_drained = True  # nobody has it open; closing it would hang up on whoever leads its session

    def _abandon(self, child: Running) -> None:
        """Whoever asked for a child has gone."""
        child.reports.close()
        if child.is_owned:
            os.kill(child.pid, signal.SIGKILL)  # it is ours, and not waited for yet

    def _check_ends(self) -> None:
        for child in list(self._children.values()):
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid:
                self._reap(child, status)

    def _reap(self, child: Running, status: int) -> None:
        del self._children[child.pid]
        with suppress(OSError):
            child.reports.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        child.reports.close()
        if child.master >= 0:
            os.close(child.master)

    def _start(self, control: socket.socket) -> bool:
        """Take one request and start its child; False where there is nobody left to ask."""
        head, handed, _, _ = socket.recv_fds(control, _HEADER, _STREAMS + 1)
        if not head:
            return False
        head += _receive(control, _HEADER - len(head))
        size = int.from_bytes(head, "big")
        text = _receive(control, size)
        if len(text) < size:  # whoever asked was killed meanwhile
            for number in handed:
                os.close(number)
            return False
        request = json.loads(text)
        if self._is_small and is_large(request):
            larger = self._larger()
            socket.send_fds(larger, [head], handed)
            larger.sendall(text)
            for number in handed:
                os.close(number)
            return True
        *streams, reports = handed
        master, slave = os.openpty() if request["for"] == _PERSON else (-1, -1)
        ours, theirs = socket.socketpair() if request["lends"] else (None, None)
        pid = os.fork()
        if not pid:
            self._run_child(request, streams, slave, theirs)
        for number in (*streams, *([slave] if slave >= 0 else [])):
            os.close(number)
        if ours is not None and theirs is not None:
            theirs.close()
            self._controls.append(ours)
        running = Running(pid, socket.socket(fileno=reports), master, is_owned=request["for"] != _DAEMON)
        self._children[pid] = running
        try:
            running.reports.sendall(f"{pid}\n".encode())
        except OSError:
            self._abandon(running)
        return True

    def _larger(self) -> socket.socket:
        """Return how to reach the server with litellm, started when it is first needed."""
        if not self._large:
            ours, theirs = socket.socketpair()
            pid = os.fork()
            if not pid:
                self._detach()
                kept = os.dup2(theirs.detach(), _STREAMS)
                ours.detach()
                os.closerange(_STREAMS + 1, min(os.sysconf("SC_OPEN_MAX"), 4096))
                load_litellm()
                _settle()
                Server(socket.socket(fileno=kept), is_small=False).serve()
                os._exit(0)
            theirs.close()
            self._large = pid, ours
        return self._large[1]

    def _detach(self) -> None:
        """In a fork: keep the collector from closing a number that belongs to another file by then."""
        signal.set_wakeup_fd(-1)
        reports = [child.reports for child in self._children.values()]
        large = [self._large[1]] if self._large else []
        for one in (*self._controls, *self._listeners, self._woken, self._wakes, *reports, *large):
            one.detach()

    def _run_child(
        self, request: dict[str, Any], streams: list[int], slave: int, lends: socket.socket | None
    ) -> None:  # and never return
        code, was_interrupted = 1, False
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._detach()
            code = run_program(request, streams, slave, lends.detach() if lends else -1)
        except BaseException as error:  # noqa: BLE001 - shown as an interpreter does; none may go on as the server
            was_interrupted = isinstance(error, KeyboardInterrupt)
            sys.excepthook(*cast("Any", sys.exc_info()))
        finally:
            with suppress(BaseException):
                code = finish(code)
            if was_interrupted:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGINT)
            os._exit(code)


def _receive(control: socket.socket, size: int) -> bytes:
    """Return `size` bytes, or fewer if the other end is closed first."""
    text = b""
    while len(text) < size and (part := control.recv(size - len(text))):
        text += part
    return text


def run_program(request: dict[str, Any], streams: list[int], slave: int, lends: int) -> int:
    """Be the program that was asked for; returns its exit code."""
    os.setsid()
    if slave >= 0:
        import fcntl
        import termios

        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    high = os.sysconf("SC_OPEN_MAX")
    for number, stream in enumerate(streams):  # all of them are above the standard ones, which are open
        os.dup2(stream, number)
    kept = -1
    if lends >= 0:
        import fcntl

        kept = fcntl.fcntl(lends, fcntl.F_DUPFD_CLOEXEC, min(high, 1024) - 24)
        os.closerange(_STREAMS, kept)
    os.closerange(max(_STREAMS, kept + 1), min(high, 4096))
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.umask(request["umask"])
    os.chdir(request["folder"])
    sys.path[:1] = [str(Path.cwd())] if request["for"] != _DAEMON else []  # a worker is started with -P
    _fill_streams()
    program, *words = request["command"]
    sys.orig_argv = [sys.executable, *(["-P", "-m"] if request["for"] == _DAEMON else ["-m"]), program, *words]
    _show(sys.orig_argv, request["environment"])
    module = importlib.import_module(f"{program}.__main__")
    sys.argv = [str(module.__file__), *words]
    if request.get("kept_out"):
        keep_out()
    if "below" in request:
        _show_below(request["below"])
    if kept >= 0:
        lend_workers(kept, kept_out=request.get("kept_out", False))
    return _code_of(cast("Callable[[], int | None]", module.main))


def keep_out() -> None:
    """Take the right to read and write everything (capabilities(7)) from root and from all that it starts."""
    libc, read_and_write = ctypes.CDLL(None, use_errno=True), (1, 2)
    version, held = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    failed = libc.capget(version, held)
    for one in read_and_write:
        failed |= libc.prctl(24, one, 0, 0, 0)  # PR_CAPBSET_DROP: a program that is started gets it back otherwise
        for kind in range(3):
            held[kind] &= ~(1 << one)
    if failed | libc.capset(version, held):
        raise OSError(ctypes.get_errno(), "cannot drop capabilities")


def _show(command: list[str], environment: Mapping[str, str]) -> None:
    """Make the kernel show these for this process (/proc/PID), because programs and tests look them up."""
    with suppress(OSError, ValueError):
        numbers = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        variables = [f"{name}={value}" for name, value in environment.items()]
        for first, words in ((45, command), (47, variables)):  # proc(5): fields 48 to 51, and the first two are cut off
            start, end = int(numbers[first]), int(numbers[first + 1])
            text = b"".join(os.fsencode(word) + b"\0" for word in words)
            if len(text) <= end - start:
                ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)


def _show_below(daemon: int) -> None:
    """Make skilld see the daemon that asked for this process above it, because a verb may look for it in /proc."""
    from skilld.caller import tree

    read, own = tree._read_process, str(os.getpid())

    def read_process(folder: Path, marks: frozenset[bytes]) -> tree.Process | None:
        found = read(folder, marks)
        return replace(found, parent=daemon) if found and folder.name == own else found

    cast("Any", tree)._read_process = read_process


def _fill_streams() -> None:
    """Make the streams as Python makes them at its start where LANG is C.UTF-8."""
    for number, (name, mode, errors) in enumerate(
        [("stdin", "rb", "surrogateescape"), ("stdout", "wb", "surrogateescape"), ("stderr", "wb", "backslashreplace")]
    ):
        import io

        buffer = open(number, mode, closefd=False)  # noqa: SIM115 - open to the end
        lines = name == "stderr" or buffer.isatty()
        stream = io.TextIOWrapper(buffer, "utf-8", errors, newline="\n", line_buffering=lines)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _code_of(main: Callable[[], int | None]) -> int:
    """Run it, and return the exit code that `sys.exit(main())` would give."""
    try:
        return main() or 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1


def finish(code: int) -> int:
    """Do what an interpreter does when it ends."""
    cast("Any", threading)._shutdown()
    cast("Any", atexit)._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = _FLUSH_FAILED
    return code & 0xFF


def ask_for(control: socket.socket, request: Mapping[str, Any], streams: list[int]) -> socket.socket:
    """Ask the server for a child with these standard streams; return where its number and its end are reported."""
    reports, theirs = socket.socketpair()
    umask = os.umask(0o77)
    os.umask(umask)
    text = json.dumps({**request, "umask": umask}).encode()
    with theirs:
        socket.send_fds(control, [len(text).to_bytes(_HEADER, "big")], [*streams, theirs.fileno()])
        control.sendall(text)
    return reports


class Started:
    """A child of the server, with the interface of `subprocess.Popen`."""

    def __init__(self, control: socket.socket, request: Mapping[str, Any], streams: list[int]) -> None:
        self._told = ask_for(control, request, streams)
        self._lines = self._told.makefile("rb")
        self.pid = int(self._lines.readline())
        self.returncode: int | None = None
        self._turn = threading.Lock()

    def poll(self) -> int | None:
        """Return its exit code, None while it runs."""
        if self.returncode is None and not self._has_ended(0):
            return None
        return self.wait()

    def _has_ended(self, timeout: float | None) -> bool:
        ready = select.poll()  # select() takes no descriptor above 1,023, and a run in one process opens more
        ready.register(self._told, select.POLLIN)
        return bool(ready.poll(None if timeout is None else 1000 * timeout))

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return its exit code."""
        with self._turn:
            if self.returncode is None:
                if not self._has_ended(timeout):
                    raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
                self.returncode = int(self._lines.readline())
                self._lines.close()
                self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def is_child_of_daemon(command: Sequence[str]) -> bool:
    """Whether a command is a worker, or a verb that is run as one and starts no processes of Python's own."""
    program = list(command[3:5])
    return list(command[:3]) == [sys.executable, "-P", "-m"] and (
        program[:1] == ["skilld.worker"] or program in (["skilld", verb] for verb in ("effect", "machines", "team"))
    )


class LentWorker(Started):
    """What the server forks for a `run`: a worker, or a verb that is run as one. It sees `below` above it."""

    def __init__(
        self,
        control: socket.socket,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        asks: bool = False,
        kept_out: bool = False,
        below: int = 0,
    ) -> None:
        program = list(command[3:])
        (stdin, ours_in), (ours_out, stdout) = os.pipe(), os.pipe()
        errors = os.open(os.devnull, os.O_WRONLY)
        request = {"command": program, "folder": "/", "environment": dict(environment), "for": _DAEMON, "asks": asks}
        request |= {"lends": program[0] == "skilld", "kept_out": kept_out, "below": below or os.getpid()}
        super().__init__(control, request, [stdin, stdout, errors])
        for one in (stdin, stdout, errors):
            os.close(one)
        self.stdin, self.stdout = open(ours_in, "wb"), open(ours_out, "rb")  # noqa: SIM115, PTH123 - as Popen's


def lend_workers(number: int, *, kept_out: bool = False) -> None:
    """Let the server fork workers; everything else is started as usual."""
    from skilld.worker import spawn

    control, turn = socket.socket(fileno=number), threading.Lock()

    def start(command: list[str], **options: Any) -> Any:
        if not is_child_of_daemon(command):
            return subprocess.Popen(command, **options)
        with turn:
            return LentWorker(control, command, options["env"], kept_out=kept_out)

    cast("Any", spawn).subprocess = SimpleNamespace(Popen=start, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL)


def is_large(request: Mapping[str, Any]) -> bool:
    """Whether a program may ask a model through litellm, or count tokens. One judged wrongly loads them itself."""
    environment: Mapping[str, str] = request["environment"]
    if request.get("asks") or not _LARGE.isdisjoint(request["command"]):
        return True
    if model := environment.get("SKILLD_MODEL"):
        return model != "offline"
    settings = Path(environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME", "/")) / ".config") / "skilld"
    with suppress(OSError):
        return "model" in (settings / "config.toml").read_text(encoding="utf-8", errors="replace")
    return False


class _Imported(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """A library that is already imported, but is among the modules only once it is imported, as in a new process."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._modules = {one: sys.modules.pop(one) for one in [*sys.modules] if one.partition(".")[0] == name}

    def find_spec(self, fullname: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name or (real := self._modules[fullname].__spec__) is None:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=real.origin)
        spec.submodule_search_locations = real.submodule_search_locations
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        sys.modules.update(self._modules)
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        pass


def load() -> None:
    """Load skilld as `load_skilld` does, and use this for what is forked from now on."""
    load_skilld()
    importlib.import_module("git_clock").use_real_git_for_readers()  # it lies beside this script
    _settle()


def load_skilld() -> None:
    """Import skilld and what its verbs import, but for what only a few of them need; collect no garbage from then on.

    What the program makes once and keeps is made too: the offline detector's expressions and the table of meanings took
    most of a `run` that judges one batch.
    """
    import skilld
    from skilld.classify.backends.agent_cli.clients import is_client_variable
    from skilld.classify.backends.offline import Offline
    from skilld.classify.content import choice_members
    from skilld.classify.offline import grammar
    from skilld.classify.offline.reported import reporting
    from skilld.classify.verify import verify
    from skilld.redact.naming import names_a_key, names_a_user
    from skilld.redact.redactor import Redactor
    from skilld.types import Message, SkillDoc

    gc.disable()  # until all is imported: looking through what stays took a quarter of it
    for module in pkgutil.walk_packages(skilld.__path__, "skilld."):
        if module.name not in _LATER:
            importlib.import_module(module.name)
    for language in grammar.languages().values():
        language.patterns()
    reporting().patterns()
    reporting(frozenset({"en"})).patterns()
    said = [Message("From now on, always sort the entries.", turn=1), Message("ok go on", turn=2)]  # or is it French?
    skill = SkillDoc(1, "notes", "/SKILL.md", "# Notes")
    verify(Offline().detect(said, [skill]), said, [skill])
    choice_members("Sort the entries.")
    Redactor(bytes(32)).redact("It runs on 2 servers.")
    names_a_key(""), names_a_user(""), is_client_variable("")


def load_litellm() -> None:
    """Import litellm, what it imports for its first call, and the tokenizer: 2, 0.5 and 0.5 seconds.

    Collect no garbage from then on.
    """
    from skilld.classify.backends import completion
    from skilld.context.tokenizer import tokenizer

    gc.disable()
    before = dict(os.environ)
    completion.load_litellm()
    for name in _FIRST_CALL:
        importlib.import_module(name)
    tokenizer()
    sys.meta_path.insert(0, _Imported("litellm"))
    os.environ.clear()
    os.environ.update(before)


def _settle() -> None:
    tempfile.tempdir = None  # litellm and tiktoken have asked, and it follows the environment
    random.seed()
    gc.collect()
    gc.freeze()  # what all share is not looked through, and so not copied, by each
    importlib.import_module("huge_pages").collapse()
    gc.enable()


if __name__ == "__main__":
    load()
    Server(*(socket.socket(fileno=int(number)) for number in sys.argv[1].split(","))).serve()
