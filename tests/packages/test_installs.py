"""18.8: the built wheel in an empty home, by pip, pipx and uv, for root and for anybody, in each Python here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skilld import __version__
from support.fresh_users import FreshUser, pythons

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PYTHONS = pythons()
NEWER = ("3.12", "3.13", "3.14")


def works(visitor: FreshUser, program: Path) -> None:
    """Check what a person tries first."""
    assert visitor.runs(program, "--version").strip() == f"skilld {__version__}"
    told = visitor.runs(program, "demo")
    assert "1 proposal" in told
    assert "+- Always put the ticket number first in each entry." in told
    service = visitor.runs(program, "service", "install", "--dry-run")
    if sys.platform == "linux":
        assert 'ExecStart=:"/' in service
        assert '" "-P" "-m" "skilld" run' in service
    assert "skilld" in visitor.runs(program, "completion", "zsh")
    assert not (visitor.home / ".config/systemd").exists()


def carries(prefix: Path) -> None:
    """Check that what is no Python came along."""
    there = ["man/man1/skilld.1", "bash-completion/completions/skilld", "zsh/site-functions/_skilld"]
    for name in [*there, "fish/vendor_completions.d/skilld.fish"]:
        assert (prefix / "share" / name).is_file(), name


@pytest.mark.parametrize("version", PYTHONS)
def test_a_plain_environment(visitor: FreshUser, wheel: Path, version: str) -> None:
    place = visitor.home / "env"
    if visitor.tries(PYTHONS[version], "-c", "pass").returncode:
        pytest.skip(f"{PYTHONS[version]} is closed to other users")
    visitor.runs(PYTHONS[version], "-m", "venv", place)
    visitor.runs(place / "bin/pip", "install", "--quiet", wheel)
    works(visitor, place / "bin/skilld")
    carries(place)
    visitor.runs(place / "bin/pip", "uninstall", "--quiet", "--yes", "skilld")
    assert visitor.leftover_files() == []


def test_pipx(visitor: FreshUser, wheel: Path, installers: Path) -> None:
    pipx = installers / "pipx"
    visitor.runs(pipx, "install", wheel)
    works(visitor, visitor.home / ".local/bin/skilld")
    assert (visitor.home / ".local/share/man/man1/skilld.1").is_file()
    visitor.runs(pipx, "uninstall", "skilld")
    assert set(visitor.leftover_files()) <= {".local/share/pipx/venvs/.skilld.lock"}, (
        "which newer versions of pipx leave empty"
    )


def test_uv_tool(visitor: FreshUser, wheel: Path, installers: Path) -> None:
    uv = installers / "uv"
    python = next(iter(PYTHONS.values()))
    visitor.runs(uv, "tool", "install", "--no-cache", "--no-managed-python", "--python", python, wheel)
    works(visitor, visitor.home / ".local/bin/skilld")
    visitor.runs(uv, "tool", "uninstall", "skilld")
    assert visitor.leftover_files() == []


@pytest.mark.parametrize("version", NEWER)
@pytest.mark.parametrize("platform", ["linux", "aarch64-unknown-linux-gnu", "macos", "x86_64-apple-darwin"])
def test_wheels_resolve_for_pythons_that_are_not_here(installers: Path, version: str, platform: str) -> None:
    here = FreshUser(ROOT, ordinary=False)
    command = [str(installers / "uv"), "pip", "compile", "--quiet", "--no-header", "--only-binary=:all:"]
    command += ["--python-version", version, "--python-platform", platform]
    # What is asked for, and what is locked; the locked cryptography has no wheels for Intel Macs.
    locked = [] if platform == "x86_64-apple-darwin" else ["requirements/run.txt"]
    for wanted in ("pyproject.toml", *locked):
        assert "litellm==" in here.runs(*command, wanted, UV_CACHE_DIR=f"{installers.parents[1]}/cache")


@pytest.mark.parametrize("version", NEWER)
def test_types_hold_for_newer_pythons(version: str, tmp_path: Path) -> None:
    visitor = FreshUser(ROOT, ordinary=False)
    if visitor.tries(sys.executable, "-c", "import mypy").returncode:
        pytest.skip("mypy is not installed: make check")
    command = [sys.executable, "-m", "mypy", f"--python-version={version}", f"--cache-dir={tmp_path}"]
    visitor.runs(*command, "skilld", "tools")
