"""No core dump of skilld holds what it read."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from skilld.__main__ import main

_ALLOW = "import resource; resource.setrlimit(resource.RLIMIT_CORE, ({hard}, {hard}));"
_CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
_RUN = """
from skilld.__main__ import main
try:
    main(["--version"])
except SystemExit:
    pass
"""


def _crash(folder: Path, code: str) -> list[str]:
    """Crash a process that may dump its core, after `code`; return the files it left."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    done = subprocess.run(
        [sys.executable, "-c", _ALLOW.format(hard=hard) + code], cwd=folder, check=False, capture_output=True
    )
    assert done.returncode == -signal.SIGSEGV
    return [path.name for path in folder.iterdir()]


def test_a_crash_leaves_no_core_dump(tmp_path: Path) -> None:
    if not _crash(tmp_path, _CRASH):
        pytest.skip("this machine writes no core dumps into the folder")
    for path in tmp_path.iterdir():
        path.unlink()
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {_CRASH!r}]);"
    assert _crash(tmp_path, f"{_RUN}{_CRASH}") == []
    assert _crash(tmp_path, f"{_RUN}{child}{_CRASH}") == []


def test_the_hard_limit_stays_so_that_a_program_of_the_persons_may_allow_dumps_again() -> None:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    try:
        with pytest.raises(SystemExit):
            main(["--version"])
        soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
        assert (soft <= 1, hard) == (True, before[1])
        resource.setrlimit(resource.RLIMIT_CORE, before)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
