"""Measures whether a call takes more than linear time: repetitive texts, the cost of a call, and its growth.

Cost is processor time of this thread, so other programs on the machine do not affect it. A call counts as growing too
fast only if it also costs something, and only if a second measurement confirms it.
"""

from __future__ import annotations

import builtins
import functools
import gc
import io
import math
import os
import signal
import socket
import sys
import sysconfig
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from types import CodeType, FrameType
from typing import Any

_MOST = 5.0  # seconds of processor time after which a call is ended
_MOST_TIMES = 20  # what a linear one should take
_MOST_TRACED = 20.0  # the same while its lines are counted
_LATER = 0.1  # seconds after which a call is ended that was importing something when it should have been
_ODD, _STEEP = 5.5, 8  # times the cost for four times the text: four would be linear, sixteen quadratic
_FAR_FROM_LINEAR = 3  # times what the shortest text lets expect of the longest
_TIMES = 3  # that something is measured to be sure
LEAST = 4000  # characters
_LIBRARIES = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), "<")
_LETTERS = "abcdefghijklmnopqrst"


def _words(length: int) -> str:
    """Return words that are all different."""
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


# Every fourth is of a kind of its own: those are looked at first (support/function_growth.py).
RUNS: dict[str, Callable[[int], str]] = {
    "blanks": _run(" "),
    "quotation marks": _run('"'),
    "blanks and newlines": _run(" \n"),
    "opening brackets": _run("("),
    "nested brackets": lambda length: "(" * (length // 2) + ")" * (length // 2),
    "pairs of brackets": _run("[]"),
    "angles": _run("<"),
    "comments without an end": _run("<!--\n"),
    "newlines": _run("\n"),
    "opening quotation marks": _run("“"),
    "backticks": _run("`"),
    "one letter": _run("a"),
    "slashes": _run("a/"),
    "digits": _run("7"),
    "full stops": _run("."),
    "a.": _run("a."),
    "one-letter sentences": _run("a. "),
    "commas": _run("a, "),
    "dashes": _run("- "),
    "hyphens": _run("-"),
    "list items": _run("- a\n"),
    "quoted lines": _run("> a\n"),
    "capitals": _run("A"),
    "CJK": _run("漢"),
    "words": _words,
}


@functools.cache
def make_text(run: str, length: int) -> str:
    """Return a text of about `length` characters: half of it after a rule in its line, half at the start of a line."""
    half = RUNS[run](length // 2)
    return f"From now on always sort the entries{half}x\n{half}x"


class TooSlowError(Exception):
    """A call was ended because it took more processor time than any linear one does."""


class ForbiddenChangeError(BaseException):
    """A call was about to change something outside. No handler of the program's own may mistake it for its error."""


_CHANGES = frozenset(
    """
    subprocess.Popen os.system os.exec os.fork os.forkpty os.posix_spawn os.remove os.rename os.mkdir os.rmdir os.chmod
    os.chown os.link os.symlink os.truncate os.kill os.killpg os.listdir os.scandir os.chdir os.putenv os.unsetenv
    os.utime shutil.rmtree shutil.move shutil.copyfile sqlite3.connect socket.connect socket.bind socket.__new__
    tempfile.mkstemp tempfile.mkdtemp pty.spawn _thread.start_new_thread
    """.split()  # noqa: SIM905 - a list of names
)
_IMPORTING = "<frozen importlib._bootstrap>"
_watched: int | None = None  # the thread that is held back; others, which something else has started, are let be
_hooked = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if (
        (event in _CHANGES or (event == "open" and _writes(arguments)))  # first: there is an event for each traced line
        and _watched == threading.get_ident()
        and not _imports(sys._getframe())
    ):
        raise ForbiddenChangeError(event)


def _writes(arguments: tuple[Any, ...]) -> bool:
    return bool(isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR))


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is being imported: what that reads and keeps is not the called function's work."""
    while frame and frame.f_code.co_filename != _IMPORTING:
        frame = frame.f_back
    return frame is not None


@contextmanager
def side_effects_forbidden(seconds: float) -> Iterator[None]:
    """Let nothing inside change the world, print, wait for input, or take more than `seconds` of processor time.

    A call that would start a thread has touched the world too: no audit event of Python 3.11 tells of it. What is
    collected meanwhile would do its work in here, and a collection takes 0.1 s in whichever call it falls: none is.
    """
    global _watched, _hooked  # noqa: PLW0603 - an audit hook stays for good, so it has a switch
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked = True
    before = signal.signal(signal.SIGVTALRM, _too_slow)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    quiet = io.StringIO()
    # In front of the fence of the tests, which is asked before any hook of ours and counts the attempt.
    replaced = socket.getaddrinfo, threading.Thread.start
    gc.disable()
    try:
        with redirect_stdout(quiet), redirect_stderr(quiet):
            socket.getaddrinfo = _touches
            threading.Thread.start = _touches  # type: ignore[method-assign]
            _watched = threading.get_ident()
            yield
    finally:
        _watched = None
        socket.getaddrinfo, threading.Thread.start = replaced  # type: ignore[method-assign]
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        gc.enable()


def _touches(*_: Any, **__: Any) -> Any:
    raise ForbiddenChangeError("a thread or another machine")


def _too_slow(_number: int, frame: FrameType | None) -> None:
    if _imports(frame):  # half a module is worse than a late end
        signal.setitimer(signal.ITIMER_VIRTUAL, _LATER)
    else:
        raise TooSlowError


_OF_THE_PROGRAM = (Exception, builtins.SystemExit)


def cost(call: Callable[[], object], seconds: float = _MOST) -> float:
    """Return the processor seconds of a call, whatever it raises; `TooSlowError` where it is ended."""
    with side_effects_forbidden(seconds):
        begun = time.thread_time()
        try:
            call()
        except TooSlowError:
            raise
        except _OF_THE_PROGRAM:
            pass
        return time.thread_time() - begun


Line = tuple[CodeType, int | str]
_Counts = defaultdict[int | str, int]


class _Trace:
    """Counts lines, built-ins and calls; of what is in `apart`, and of all that it calls, its own calls only."""

    def __init__(self, apart: frozenset[int]) -> None:
        self._apart = apart
        self._below = 0  # functions apart that have not returned
        # By id: the hash of code is a slow one.
        self._seen: dict[int, tuple[CodeType, _Counts, Callable[..., Any] | None]] = {}

    def entered(self, frame: FrameType, _event: str, _: Any) -> Any:
        if self._below:
            return None
        code = frame.f_code
        if (known := self._seen.get(id(code))) is None:
            known = self._seen[id(code)] = self._new(code)
        known[1][0] += 1
        if id(code) not in self._apart:
            return known[2]
        self._below += 1
        frame.f_trace_lines = False
        return self._leaves

    def _new(self, code: CodeType) -> tuple[CodeType, _Counts, Callable[..., Any] | None]:
        counts: _Counts = defaultdict(int)

        def line(frame: FrameType, event: str, _: Any) -> Any:
            if event == "line":
                counts[frame.f_lineno] += 1
            return line

        return code, counts, None if code.co_filename.startswith(_LIBRARIES) else line

    def _leaves(self, _frame: FrameType, event: str, _: Any) -> Any:
        self._below -= event == "return"
        return self._leaves

    def builtin(self, frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call" and not self._below and (known := self._seen.get(id(frame.f_code))) and known[2]:
            known[1][function.__name__] += 1

    def counts(self) -> Counter[Line]:
        return Counter({(code, line): times for code, all_, _ in self._seen.values() for line, times in all_.items()})


def count_loops(call: Callable[[], object], apart: frozenset[int] = frozenset()) -> Counter[Line]:
    """Return how often a call reaches each line of ours, each built-in from there, and each library (line 0).

    Of the functions whose code has an id in `apart`, and of all that they call, only how often they are called counts.
    """
    trace = _Trace(apart)
    before = sys.gettrace(), sys.getprofile()
    with suppress(*_OF_THE_PROGRAM), side_effects_forbidden(_MOST_TRACED):
        sys.setprofile(trace.builtin)
        sys.settrace(trace.entered)
        try:
            call()
        finally:
            sys.settrace(before[0])
            sys.setprofile(before[1])
    return trace.counts()


def grows_too_fast(
    prepare: Callable[[int], Callable[[], object]], longest: int, *, seconds: float, floor: float = 0.01
) -> str:
    """Return how a call takes disproportionately long for a text four times as long; nothing if it does not.

    The longer text has `longest` characters; fewer, but `LEAST` at least, where a linear call would take more than
    `seconds` for it, beside what it costs with any text. What costs no more than `floor` seconds is let be.
    """
    most = _MOST_TIMES * seconds
    fewest, last = LEAST, 0.0
    try:
        least = _measured(prepare, LEAST, 4 * most)
        each = least / LEAST
        if least > floor and 4 * least > seconds:  # dear: for its text, or for tables of its own?
            with suppress(TooSlowError):  # what gives up on longer texts may take more for a shorter one
                lesser = _measured(prepare, LEAST // 4, least)
                each = (least - lesser) / (LEAST - LEAST // 4)
                if 4 * LEAST * each > seconds:
                    fewest, longest, least, last = LEAST // 4, LEAST, lesser, least
        while longest >= 8 * fewest and each * longest > seconds:
            longest //= 2
        # A call that is dear but linear takes longer than any fixed time on a machine with other work to do.
        most = max(most, _FAR_FROM_LINEAR * least * longest / fewest)
        last = last or _measured(prepare, longest, most)
        if last <= floor:
            return ""
        shorter = least if longest < 8 * fewest else min(_measured(prepare, longest // 4, most) for _ in range(2))
        if last <= _ODD * shorter and last <= _FAR_FROM_LINEAR * least * longest / fewest:
            return ""
        if last <= _STEEP * shorter:  # not clear yet: what is copied each time costs little until it is long
            longest *= 4
            most *= 8  # twice what is in proportion: on a busy machine one figure may be that much above another
        # Measured again: one figure can be spoilt by whatever else the machine does, all of six are not.
        before = min(_measured(prepare, longest // 4, most) for _ in range(_TIMES))
        after = math.inf
        for _ in range(_TIMES):
            after = min(after, _measured(prepare, longest, most))
            if after <= max(floor, _STEEP * before):
                return ""
    except TooSlowError:
        return f"{longest:,} characters or fewer take more than {most:g} s"
    return f"{longest // 4:,} characters take {before:.4f} s, {longest:,} take {after:.4f} s"


@functools.cache
def _caches() -> list[Any]:
    """Return the bounded caches, which hold what is derived from texts. What never changes is in unbounded ones."""
    gc.unfreeze()  # what is frozen is not listed
    found = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
    gc.freeze()
    return [one for one in found if one.cache_parameters()["maxsize"]]


def _measured(prepare: Callable[[int], Callable[[], object]], length: int, most: float) -> float:
    """Return what a call costs, set up afresh each time: a second one would find what the first has used up or changed.

    What is done once only, such as to import a library or to fill a cache, does not count: where something was
    imported, or it took too long, it is called again. What an earlier call left in a cache would make shorter texts,
    whose words it holds, cheap beside the longest, whose words it does not hold.
    """
    call = prepare(length)  # which may fill caches, too
    for cache in _caches():
        cache.cache_clear()
    known = len(sys.modules)
    try:
        spent = cost(call, most)
    except TooSlowError:
        return cost(prepare(length), most)
    return spent if len(sys.modules) == known else cost(prepare(length), most)
