"""The isolation of tests: without it a test could read a person's transcripts or send them away."""

from __future__ import annotations

import os
import pwd
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import git_clock

REAL_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)
needs_a_home = pytest.mark.skipif(len(REAL_HOME.parts) == 1, reason="this user has no home to protect")


def test_the_home_is_empty(home: Path) -> None:
    assert Path.home() == home
    assert sorted(path.name for path in home.iterdir()) == [".gitconfig", ".runtime"]


@needs_a_home
@pytest.mark.parametrize("path", [".gitconfig", ".claude/projects/x.jsonl"])
def test_opening_a_file_of_the_real_home_fails(fence: Any, path: str) -> None:
    with pytest.raises(RuntimeError, match="must not touch"):
        (REAL_HOME / path).open(encoding="utf-8")
    assert fence.reached == [f"open {REAL_HOME / path}"]
    fence.reached.clear()


@needs_a_home
def test_listing_or_opening_databases_of_the_real_home_fails(fence: Any) -> None:
    with pytest.raises(RuntimeError):
        os.listdir(REAL_HOME / ".claude")  # noqa: PTH208 - the call that is watched
    with pytest.raises(RuntimeError):
        sqlite3.connect(REAL_HOME / "state.db")
    assert len(fence.reached) == 2
    fence.reached.clear()


@pytest.mark.parametrize("address", [("192.0.2.1", 443), ("2001:db8::1", 443, 0, 0)])
def test_connecting_to_another_machine_fails(fence: Any, address: tuple[Any, ...]) -> None:
    family = socket.AF_INET if len(address) == 2 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_STREAM) as connection, pytest.raises(RuntimeError, match="must not touch"):
        connection.connect(address)
    assert len(fence.reached) == 1
    fence.reached.clear()


def test_resolving_another_machines_address_fails(fence: Any) -> None:
    with pytest.raises(RuntimeError, match=r"example\.org"):
        socket.create_connection(("example.org", 443))
    fence.reached.clear()


def test_nothing_of_the_real_environment_is_left() -> None:
    names = subprocess.run(["env"], check=True, capture_output=True, text=True).stdout
    assert not [name for name in ("XDG_CONFIG_HOME=", "API_KEY", "CLAUDE", "CODEX", "DBUS_SESSION") if name in names]


def test_a_swallowed_violation_still_fails_the_test(tmp_path: Path) -> None:
    test = "import socket, contextlib\ndef test_x():\n    with contextlib.suppress(Exception):\n"
    test += "        socket.create_connection(('example.org', 443))\n"
    (tmp_path / "test_x.py").write_text(test)
    conftest = Path(__file__).parents[1] / "conftest.py"
    (tmp_path / "conftest.py").write_bytes(conftest.read_bytes())
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(tmp_path)]
    tests = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (conftest.parents[1], conftest.parent)))}
    result = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=tests)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "the test touched the real home or the network" in result.stdout


def test_a_clock_inside_another_starts_the_real_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.setenv(git_clock.CHOSEN, "seconds")
    outer, inner = (tmp_path / f"{git_clock.PREFIX}{name}" for name in ("outer", "inner"))
    git_clock.install(outer)
    git_clock.install(inner)  # as in a fork of pytest
    assert os.environ["PATH"].count(git_clock.PREFIX) == 1
    assert git_clock.PREFIX not in (inner / "git").read_text().splitlines()[-1]
    assert git_clock.PREFIX not in git_clock.unclocked_git(str(inner / "git"), ["status"])
