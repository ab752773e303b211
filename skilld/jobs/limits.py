"""The limits of a worker: low priority, bounded memory and processor time.

Its children inherit all three. The memory limit is for private writable memory (RLIMIT_DATA, setrlimit(2)), because
git maps whole packs, and mapped files cost nothing. macOS does not enforce it.

Processor time is limited per job (`processor_time`), so that one process can do several.
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

_REPEAT_SECONDS = 1.0  # until a job that goes on is interrupted again
_MIN_TIMER_SECONDS = 0.001
_GRACE_SECONDS = 5  # until the kernel kills the process
_NICE = 5  # a third of other processes' share; with 10 a busy machine starves it until its time is up
# ioprio_set(2) has no wrapper in the C library; the numbers are those of the kernel's tables.
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
_WHO_PROCESS, _CLASS_IDLE = 1, 3 << 13
_POLICY_DISK, _SCOPE_PROCESS, _THROTTLE = 0, 0, 3  # setiopolicy_np(3) of macOS


def lower_priority() -> None:
    """Give this process the lowest priority for processor and disk."""
    os.nice(_NICE)
    _lower_disk_priority()


def limit_memory(megabytes: int) -> None:
    """Limit this process to so many megabytes (10^6 bytes; 0: no limit)."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = megabytes * 1_000_000 or hard
    with suppress(OSError, ValueError):  # not supported here: do the work without the limit
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


class ProcessorTimeError(BaseException):
    """A job has used up its processor time. A BaseException, so that no error handler of the job catches it."""


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Limit the processor time of the block to so many seconds; 0: no limit.

    Afterwards ProcessorTimeError is raised in the main thread, which must be the one that does the job. It also
    interrupts regular expressions (Python checks for signals every 4,096 steps). If nothing notices the signal, the
    kernel ends the process some seconds later with SIGXCPU. Child processes have the same time for themselves. Limits
    may be nested. There is no limit outside the main thread, because other threads cannot be interrupted.
    """
    if not seconds or threading.current_thread() is not threading.main_thread():
        yield
        return
    begun = _used_seconds()
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    handler = signal.signal(signal.SIGPROF, _raise_time_error)
    left, _ = signal.setitimer(signal.ITIMER_PROF, seconds, _REPEAT_SECONDS)
    _set_kernel_limit(math.ceil(begun + seconds) + _GRACE_SECONDS, hard)
    try:
        yield
    finally:
        is_armed = True
        while is_armed:
            try:  # the signal repeats, so it may arrive just now
                signal.setitimer(signal.ITIMER_PROF, 0)
                is_armed = False
            except ProcessorTimeError:
                continue
        signal.signal(signal.SIGPROF, handler)
        _set_kernel_limit(soft, hard)
        if left:
            signal.setitimer(
                signal.ITIMER_PROF, max(left - (_used_seconds() - begun), _MIN_TIMER_SECONDS), _REPEAT_SECONDS
            )


def _used_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _set_kernel_limit(seconds: int, hard: int) -> None:
    """Have the kernel end this process after so many seconds in total."""
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds if hard < 0 else min(seconds, hard), hard))


def _raise_time_error(_number: int, _frame: FrameType | None) -> None:
    raise ProcessorTimeError


def _lower_disk_priority() -> None:
    library = ctypes.CDLL(None)
    if sys.platform == "darwin":
        library.setiopolicy_np(_POLICY_DISK, _SCOPE_PROCESS, _THROTTLE)
    elif number := _IOPRIO_SET.get(platform.machine()):
        library.syscall(number, _WHO_PROCESS, 0, _CLASS_IDLE)
