"""A worker has low priority and limited memory; checked on real processes."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from skilld import codec
from skilld.jobs.limits import ProcessorTimeError, processor_time
from skilld.protocol import FromWorker, Job, JobEnd, ObserveProposals

ROOT = Path(__file__).parents[2]
ASK = """
import json, os, sys
from skilld.jobs import limits
limits.lower_priority()
limits.limit_memory(int(sys.argv[1]))
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


def run_limited(memory: int, what: str) -> object:
    """Return what a process says that has set its limits."""
    result = subprocess.run(
        [sys.executable, "-c", ASK, str(memory), what], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return json.loads(result.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts such memory on Linux only")
def test_memory_is_limited_unless_switched_off() -> None:
    assert run_limited(300, "fill") == "refused"
    assert run_limited(0, "fill") == "held"


@pytest.mark.skipif(sys.platform != "linux", reason="asks by system calls of Linux")
def test_it_runs_with_low_cpu_and_idle_disk_priority() -> None:
    assert run_limited(0, "rank") == [min(os.nice(0) + 5, 19), 3]


def _endless() -> None:
    """Search with a pattern that doubles with every letter: years."""
    re.match("(a+)+$", "a" * 60 + "b")


def _limited(seconds: float) -> None:
    """Search without end in a limit; a job's own handler must not take the limit for an error of its own."""
    with processor_time(seconds), suppress(Exception):
        _endless()


def test_s2_each_job_has_its_own_processor_time_limit() -> None:
    ended = 0
    before = resource.getrlimit(resource.RLIMIT_CPU), signal.getsignal(signal.SIGPROF)
    for _ in range(3):
        with pytest.raises(ProcessorTimeError):
            _limited(0.05)
        ended += 1
    with processor_time(10):
        assert sum(range(1000)) == 499500
    assert ended == 3
    assert (resource.getrlimit(resource.RLIMIT_CPU), signal.getsignal(signal.SIGPROF)) == before
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_s2_a_nested_limit_does_not_reduce_the_outer_one() -> None:
    ended: list[str] = []

    def twice() -> None:
        with processor_time(0.3):
            try:
                _limited(0.05)
            except ProcessorTimeError:
                ended.append("the inner one")
            _endless()

    with pytest.raises(ProcessorTimeError):
        twice()
    assert ended == ["the inner one"]


STUBBORN = """
import sys
from skilld.jobs.limits import ProcessorTimeError, processor_time
from skilld.jobs import limits
limits._GRACE_SECONDS = 0
with processor_time(0.2):
    while True:
        try:
            while True:
                pass
        except ProcessorTimeError:
            pass
"""


def test_s2_a_job_that_ignores_the_limit_is_killed_by_the_kernel() -> None:
    result = subprocess.run([sys.executable, "-c", STUBBORN], cwd=ROOT, capture_output=True, check=False)
    assert result.returncode == -signal.SIGXCPU


WORKER = """
import re, sys
from skilld.proposals import reconcile as observe
def stuck(job):
    re.match("(a+)+$", "a" * 60 + "b")
observe.observe = stuck
from skilld.worker.__main__ import main
main()
"""


def test_s2_a_job_that_never_ends_is_retried() -> None:
    job = codec.encode(Job(ObserveProposals(now=0.0, proposals=()), 0o077, processor_seconds=0.3)) + "\n"
    with subprocess.Popen(
        [sys.executable, "-c", WORKER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(job.encode())
        worker.stdin.flush()
        told = codec.decode(FromWorker, worker.stdout.readline())
    assert isinstance(told, JobEnd)
    assert told.result.outcome == "retry"
    assert "worker.processor_seconds" in told.result.detail
    assert not told.stays
