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
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from types import CodeType, FrameType
from typing import Any

_MOST = 5.0  # seconds of processor time after which a call is ended
_MOST_TIMES = 20  # what a linear one should take
_MOST_TRACED = 20.0  # the same while its lines are counted
_ODD, _STEEP = 5.5, 8  # times the cost for four times the text: four would be linear, sixteen quadratic
LEAST = 4000  # characters
_LIBRARIES = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), "<")
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
    tempfile.mkstemp tempfile.mkdtemp pty.spawn _thread.start_new_thread
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


Line = tuple[CodeType, int | str]


def loops(call: Callable[[], object]) -> Counter[Line]:
    """Return how often a call reaches each line of ours, each built-in from there, and each library (line 0)."""
    counts: Counter[Line] = Counter()

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            counts[frame.f_code, frame.f_lineno] += 1
        return line

    def entered(frame: FrameType, _event: str, _: Any) -> Any:
        counts[frame.f_code, 0] += 1
        return None if frame.f_code.co_filename.startswith(_LIBRARIES) else line

    def builtin(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call" and not frame.f_code.co_filename.startswith(_LIBRARIES):
            counts[frame.f_code, function.__name__] += 1

    before = sys.gettrace(), sys.getprofile()
    with suppress(*_OF_THE_PROGRAM), harmless(_MOST_TRACED):
        sys.setprofile(builtin)
        sys.settrace(entered)
        try:
            call()
        finally:
            sys.settrace(before[0])
            sys.setprofile(before[1])
    return counts


def grows_too_fast(
    prepare: Callable[[int], Callable[[], object]], longest: int, *, seconds: float, floor: float = 0.01
) -> str:
    """Return how a call takes much more than in proportion for a text four times as long; nothing where it does not.

    The longer text has `longest` characters; fewer, but four times `LEAST` at least, where a linear call would take
    more than `seconds` for it. What costs no more than `floor` seconds is let be.
    """
    most = _MOST_TIMES * seconds
    try:
        before = cost(prepare(LEAST), most)
        while longest >= 8 * LEAST and before * longest / LEAST > seconds:
            longest //= 2
        shorter = before if longest < 8 * LEAST else cost(prepare(longest // 4), most)
        last = cost(prepare(longest), most)
        if last <= max(floor, _ODD * shorter):
            return ""
        if last <= _STEEP * shorter:  # not clear yet: what is copied each time costs little until it is long
            longest *= 4
            most *= 4
        # Measured again: one figure can be spoilt by whatever else the machine does, all of six are not.
        before, after = (_best(prepare, length, most) for length in (longest // 4, longest))
        if after > max(floor, _STEEP * before):
            return f"{longest // 4:,} characters take {before:.4f} s, {longest:,} take {after:.4f} s"
    except TooSlowError:
        return f"{longest:,} characters or fewer take more than {most:g} s"
    return ""


def _best(prepare: Callable[[int], Callable[[], object]], length: int, most: float) -> float:
    call = prepare(length)
    return min(cost(call, most) for _ in range(3))
