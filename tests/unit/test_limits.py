"""A worker gives way to everything else and cannot take the whole memory; real processes, asked by the kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ASK = """
import json, os, sys
from skilld.worker import limits
limits.lower(int(sys.argv[1]))
if sys.argv[2] == "fill":
    try:
        held = bytearray(500_000_000)
    except MemoryError:
        print(json.dumps("refused"))
    else:
        print(json.dumps("held"))
else:
    import ctypes, platform
    number = {"x86_64": 252, "aarch64": 31}[platform.machine()]
    print(json.dumps([os.nice(0), ctypes.CDLL(None).syscall(number, 1, 0) >> 13]))
"""


def ask(memory: int, what: str) -> object:
    """Return what a process says that has set its limits."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(memory), what], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts such memory on Linux only")
def test_memory_has_an_end_unless_it_is_switched_off() -> None:
    assert ask(300, "fill") == "refused"
    assert ask(0, "fill") == "held"


@pytest.mark.skipif(sys.platform != "linux", reason="asks by system calls of Linux")
def test_it_is_nice_and_its_disk_class_is_idle() -> None:
    assert ask(0, "rank") == [min(os.nice(0) + 5, 19), 3]
