"""Work that must not grow faster than the text: texts of runs, the cost of a call, and who grows faster.

Cost is processor time of this thread, so other programs of the machine take nothing of it. A call counts as growing too
fast only where it also costs something, and where it does so again when it is measured once more.
"""

from __future__ import annotations

import builtins
import functools
import gc
import io
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import FrameType
from typing import Any

_MOST = 5.0  # seconds of processor time after which a call is ended
_TRIFLE = 0.05  # seconds
_LETTERS = "abcdefghijklmnopqrst"


def _words(length: int) -> str:
    """Return words of which no two are alike."""
    found = (
        "".join(_LETTERS[int(digit, 16)] for digit in f"{number * 7919 % 0xFFFFF:05x}") for number in range(length)
    )
    out: list[str] = []
    size = 0
    for word in found:
        out.append(word)
        size += len(word) + 1
        if size >= length:
            break
    return " ".join(out)[:length]


def _run(unit: str) -> Callable[[int], str]:
    return lambda length: unit * (length // len(unit))


RUNS: dict[str, Callable[[int], str]] = {
    "blanks": _run(" "),
    "newlines": _run("\n"),
    "blanks and newlines": _run(" \n"),
    "opening brackets": _run("("),
    "pairs of brackets": _run("[]"),
    "nested brackets": lambda length: "(" * (length // 2) + ")" * (length // 2),
    "angles": _run("<"),
    "comments without an end": _run("<!--\n"),
    "quotation marks": _run('"'),
    "opening quotation marks": _run("“"),
    "backticks": _run("`"),
    "one letter": _run("a"),
    "capitals": _run("A"),
    "digits": _run("7"),
    "full stops": _run("."),
    "a.": _run("a."),
    "one-letter sentences": _run("a. "),
    "commas": _run("a, "),
    "dashes": _run("- "),
    "hyphens": _run("-"),
    "list items": _run("- a\n"),
    "quoted lines": _run("> a\n"),
    "slashes": _run("a/"),
    "CJK": _run("漢"),
    "words": _words,
}


@functools.cache
def text_of(run: str, length: int) -> str:
    """Return a text of about `length` characters: half of it behind a rule in its line, half at the start of a line."""
    half = RUNS[run](length // 2)
    return f"From now on always sort the entries{half}x\n{half}x"


class TooSlowError(Exception):
    """A call was ended because it took more processor time than any linear one does."""


class TouchedError(BaseException):
    """A call was about to change something of the world. No handler of the program's own may take it for its error."""


_CHANGES = frozenset(
    """
    subprocess.Popen os.system os.exec os.fork os.forkpty os.posix_spawn os.remove os.rename os.mkdir os.rmdir os.chmod
    os.chown os.link os.symlink os.truncate os.kill os.killpg os.listdir os.scandir os.chdir os.putenv os.unsetenv
    os.utime shutil.rmtree shutil.move shutil.copyfile sqlite3.connect socket.connect socket.bind socket.__new__
    tempfile.mkstemp tempfile.mkdtemp pty.spawn
    """.split()  # noqa: SIM905 - a list of names
)
_watching = False
_hooked = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and (event in _CHANGES or (event == "open" and _writes(arguments))):
        raise TouchedError(event)


def _writes(arguments: tuple[Any, ...]) -> bool:
    return bool(isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR))


@contextmanager
def harmless(seconds: float) -> Iterator[None]:
    """Let nothing inside change the world, print, wait for input, or take more than `seconds` of processor time."""
    global _watching, _hooked  # noqa: PLW0603 - an audit hook stays for good, so it has a switch
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked = True
    before, written = signal.signal(signal.SIGVTALRM, _too_slow), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    quiet = io.StringIO()
    # In front of the fence of the tests, which is asked before any hook of ours and counts the attempt.
    lookup, socket.getaddrinfo = socket.getaddrinfo, _touches
    try:
        with redirect_stdout(quiet), redirect_stderr(quiet):
            _watching = True
            yield
    finally:
        _watching = False
        socket.getaddrinfo = lookup
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        sys.dont_write_bytecode = written


def _touches(*_: Any, **__: Any) -> Any:
    raise TouchedError("socket.getaddrinfo")


def _too_slow(_number: int, _frame: FrameType | None) -> None:
    raise TooSlowError


_OF_THE_PROGRAM = (Exception, builtins.SystemExit)


def cost(call: Callable[[], object], seconds: float = _MOST) -> float:
    """Return the processor seconds of a call, whatever it raises; `TooSlowError` where it is ended."""
    gc.disable()  # a collection takes 0.1 s with all modules in memory, in whichever call it falls
    begun = time.thread_time()
    try:
        with harmless(seconds):
            begun = time.thread_time()
            call()
    except TooSlowError:
        raise
    except _OF_THE_PROGRAM:
        pass
    finally:
        spent = time.thread_time() - begun
        gc.enable()
    return spent


def grows_too_fast(
    prepare: Callable[[int], Callable[[], object]],
    shortest: int,
    longest: int,
    *,
    first: float,
    seconds: float,
    floor: float = 0.01,
) -> str:
    """Return how a call grows faster than its text from `shortest` to `longest`, doubling; nothing where it does not.

    `prepare` makes the call for a length, `first` is what the shortest cost. A call that would take more than about
    `seconds` for the longest text though it is linear is looked at with shorter ones, of four times `shortest` at
    least. Where the longest costs no more than `floor` seconds, or in proportion to the shortest, the lengths between
    need not be looked at; nor need the longest where even the square would cost a trifle.
    """
    if first * (longest / shortest) ** 2 < _TRIFLE:
        return ""
    try:
        while longest > 4 * shortest and first * longest / shortest > seconds:
            longest //= 2
        last = cost(prepare(longest))
    except TooSlowError:
        return _where(prepare, shortest, longest, floor) or f"{longest:,} characters take more than {_MOST:g} s"
    if last <= max(floor, 2 * first * longest / shortest):
        return ""
    return _where(prepare, shortest, longest, floor)


def _where(prepare: Callable[[int], Callable[[], object]], shortest: int, longest: int, floor: float) -> str:
    length = shortest
    before = _best(prepare, length)
    while length < longest:
        length *= 2
        after = _best(prepare, length)
        if after > floor and after > 3 * before:
            # Twice over: one figure can be spoilt by whatever else the machine does, four in a row are not.
            before, after = _best(prepare, length // 2), _best(prepare, length)
            if after > floor and after > 3 * before:
                return f"{length // 2:,} characters take {before:.4f} s, {length:,} take {after:.4f} s"
        before = after
    return ""


def _best(prepare: Callable[[int], Callable[[], object]], length: int) -> float:
    call = prepare(length)
    try:
        return min(cost(call) for _ in range(2))
    except TooSlowError:
        return _MOST
