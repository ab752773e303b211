"""Tests in forks: all are run once and reported as in one process, and none is lost where a fork dies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import os, signal, warnings
from pathlib import Path
import pytest

RUNS = Path(__file__).with_name("runs")
pytestmark = pytest.mark.quick  # else skilld is loaded first

@pytest.fixture(scope="session")
def once(tmp_path_factory):
    made = tmp_path_factory.mktemp("once")
    with RUNS.open("a") as file: file.write(f"session {os.getpid()}\\n")
    return made

@pytest.mark.parametrize("number", range(100))
def test_many(number, once):
    assert once.is_dir()
    with RUNS.open("a") as file: file.write(f"{number}\\n")

def test_fails():
    print("printed before")
    assert 1 == 2

def test_dies(): os.kill(os.getpid(), signal.SIGKILL)

def test_after(): warnings.warn("look out")

@pytest.mark.skip(reason="not today")
def test_skipped(): pass
"""


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_bytes(CONFTEST.read_bytes())
    (folder / "test_it.py").write_text(TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rA",
        f"--rootdir={folder}",
        "-o",
        "markers=quick",
        "-m",
        "quick",
        *arguments,
    ]
    places = os.pathsep.join(map(str, (CONFTEST.parents[1], CONFTEST.parent)))
    environment = {**os.environ, "PYTHONPATH": places}
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.skipif(sys.platform == "darwin", reason="its frameworks do not bear a fork")
def test_every_test_is_run_once_and_reported(tmp_path: Path) -> None:
    result = _run(tmp_path, "--forks", "3", "test_it.py")
    assert result.returncode == 1, result.stdout + result.stderr
    runs = (tmp_path / "runs").read_text().split("\n")
    assert sorted(run for run in runs if run.isdigit()) == sorted(map(str, range(100)))
    assert 1 < len([run for run in runs if run.startswith("session")]) <= 3, "once in each process"
    assert "2 failed, 101 passed, 1 skipped, 1 warning" in result.stdout
    assert "printed before" in result.stdout
    assert "assert 1 == 2" in result.stdout
    assert "FAILED test_it.py::test_dies - the process that ran test_it.py::test_dies died" in result.stdout
    assert "UserWarning: look out" in result.stdout


@pytest.mark.skipif(sys.platform == "darwin", reason="its frameworks do not bear a fork")
def test_the_first_failure_can_end_it(tmp_path: Path) -> None:
    result = _run(tmp_path, "--forks", "2", "-x", "test_it.py", "-k", "test_fails or test_many")
    assert result.returncode == 1
    assert "stopping after 1 failures" in result.stdout
