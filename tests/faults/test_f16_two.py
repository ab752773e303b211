"""F-16: a second daemon ends at once and writes nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from faults import apart
from support.program import Program

ONCE = ("run", "--once")


def _state(home: Path) -> dict[str, str]:
    files = (path for path in (home / ".local/state/skilld").iterdir() if not path.name.endswith("-shm"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize(
    "arguments",
    [("run",), *(pytest.param(other, marks=pytest.mark.slow) for other in (ONCE, (*ONCE, "--backfill", "7")))],
)
def test_f16_a_second_daemon_changes_nothing(home: Path, program: Program, arguments: tuple[str, ...]) -> None:
    with apart.daemon(program) as first:
        apart.stop(first.pid)  # so that it writes nothing itself; the lock stays its own
        before = _state(home)
        result = program.run(*arguments)
        after = _state(home)
    assert result.returncode == 4
    assert "skilld is already running" in result.stderr
    assert after == before
