"""What a worker may use of the machine: lowest priority, bounded memory and time.

What it starts inherits all three. The memory limit is that of private writable memory (RLIMIT_DATA, setrlimit(2)): git
maps whole packs, and mapped files are nobody's burden. macOS does not hold to it.

Processor time is limited job by job (`processor_time`), so that one process can do several.
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_AGAIN_SECONDS = 1.0  # seconds after which a job that goes on all the same is told once more
_AT_ONCE_SECONDS = 0.001  # seconds
_GRACE_SECONDS = 5  # seconds after which the kernel ends it
_NICE = 5  # a third of what others get; with 10 a busy machine starves it past its time
# ioprio_set(2) has no wrapper in the C library; the numbers are those of the kernel's tables.
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
_WHO_PROCESS, _CLASS_IDLE = 1, 3 << 13
_POLICY_DISK, _SCOPE_PROCESS, _THROTTLE = 0, 0, 3  # setiopolicy_np(3) of macOS


def give_way() -> None:
    """Let this process give way to all others."""
    os.nice(_NICE)
    _yield_the_disk()


def limit_memory(megabytes: int) -> None:
    """Let this process have at most so many megabytes (10^6 bytes; 0: no limit) from now on."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = megabytes * 1_000_000 or hard
    with suppress(OSError, ValueError):  # a system that does not take it: the work is worth more than the limit
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


class ProcessorTimeError(BaseException):
    """A job has used up its processor time. No handler of errors may take it for one of the job's own."""


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Give what is done inside so many seconds of processor time, counted from here; 0: no limit.

    When they are used up, ProcessorTimeError is raised in the main thread, which must be the one that does the job.
    Regular expressions notice it while they search (Python looks for signals every 4,096 steps of one). Where nothing
    notices, the kernel ends the process some seconds later with SIGXCPU. What is started inside has as much for itself.
    One limit may stand inside another. Outside the main thread there is none: no other can be interrupted.
    """
    if not seconds or threading.current_thread() is not threading.main_thread():
        yield
        return
    begun = _used()
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    handler = signal.signal(signal.SIGPROF, _used_up)
    left, _ = signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_SECONDS)
    _end_at(math.ceil(begun + seconds) + _GRACE_SECONDS, hard)
    try:
        yield
    finally:
        is_armed = True
        while is_armed:
            try:  # the signal comes again until somebody has noticed it: perhaps just now
                signal.setitimer(signal.ITIMER_PROF, 0)
                is_armed = False
            except ProcessorTimeError:
                continue
        signal.signal(signal.SIGPROF, handler)
        _end_at(soft, hard)
        if left:
            signal.setitimer(signal.ITIMER_PROF, max(left - (_used() - begun), _AT_ONCE_SECONDS), _AGAIN_SECONDS)


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _end_at(seconds: int, hard: int) -> None:
    """Have the kernel end this process when it has used so many seconds all in all."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds if hard < 0 else min(seconds, hard), hard))


def _used_up(_number: int, _frame: FrameType | None) -> None:
    raise ProcessorTimeError


def _yield_the_disk() -> None:
    library = ctypes.CDLL(None)
    if sys.platform == "darwin":
        library.setiopolicy_np(_POLICY_DISK, _SCOPE_PROCESS, _THROTTLE)
    elif number := _IOPRIO_SET.get(platform.machine()):
        library.syscall(number, _WHO_PROCESS, 0, _CLASS_IDLE)
