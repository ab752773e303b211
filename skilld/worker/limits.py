"""What a worker may take of the machine: it runs when nothing else wants to, and its memory has an end.

What it starts inherits both. The memory limit is that of private writable memory (RLIMIT_DATA, setrlimit(2)): git maps
whole packs, and mapped files are nobody's burden. macOS does not hold to it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import sys
from contextlib import suppress

USUAL = 2048  # MB
_NICE = 5  # a third of what others get; with 10 a busy machine starves it past its time
# ioprio_set(2) has no wrapper in the C library; the numbers are those of the kernel's tables.
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
_WHO_PROCESS, _CLASS_IDLE = 1, 3 << 13
_POLICY_DISK, _SCOPE_PROCESS, _THROTTLE = 0, 0, 3  # setiopolicy_np(3) of macOS


def lower(memory_mb: int) -> None:
    """Let this process give way to all others, and have at most `memory_mb` (10^6 bytes; 0: no limit)."""
    os.nice(_NICE)
    _yield_the_disk()
    if memory_mb:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = memory_mb * 1_000_000
        with suppress(OSError, ValueError):  # a system that does not take it: the work is worth more than the limit
            resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


def _yield_the_disk() -> None:
    library = ctypes.CDLL(None)
    if sys.platform == "darwin":
        library.setiopolicy_np(_POLICY_DISK, _SCOPE_PROCESS, _THROTTLE)
    elif number := _IOPRIO_SET.get(platform.machine()):
        library.syscall(number, _WHO_PROCESS, 0, _CLASS_IDLE)
