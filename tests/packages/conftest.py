"""What the tests of packages start from: a release of what is checked out, made once, and homes to install it in."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.fresh_users import LIMIT, NOBODY, FreshUser, pythons
from tools.release import distributions

ROOT = Path(__file__).parents[2]
AT = 1_795_435_200  # 2026-11-23T12:00:00Z


@pytest.fixture(params=["root", "user"])
def visitor(request: pytest.FixtureRequest) -> Iterator[FreshUser]:
    """Give an empty home; pytest's own folders are closed to other users."""
    ordinary = request.param == "user"
    if os.geteuid() != 0 and not ordinary:
        pytest.skip("not root")
    if ordinary and os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    with tempfile.TemporaryDirectory(prefix="skilld-visitor-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        home.chmod(0o755)
        if ordinary and os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
        yield FreshUser(home, ordinary and os.geteuid() == 0)


@pytest.fixture(scope="session")
def wheel() -> Iterator[Path]:
    """Build the wheel of what is checked out, where every user can read it."""
    with tempfile.TemporaryDirectory(prefix="skilld-wheel-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        distributions(ROOT, folder, AT)
        (made,) = folder.glob("*.whl")
        yield made


@pytest.fixture(scope="session")
def installers() -> Iterator[Path]:
    """Install uv and pipx from the package index, where every user can run them; return their folder."""
    with tempfile.TemporaryDirectory(prefix="skilld-installers-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        python = next(iter(pythons().values()))
        pip = f"{folder}/venv/bin/pip"
        for command in ([str(python), "-m", "venv", f"{folder}/venv"], [pip, "install", "--quiet", "uv", "pipx"]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
            if done.returncode:
                pytest.skip(f"no uv and pipx to be had: {done.stderr[-300:]}")
        yield folder / "venv/bin"
