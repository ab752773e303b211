"""Installation: when it is repeated, and what is said where it cannot be done."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import install

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project with locks and a `.venv` whose Python only has to exist; no installer is ever run."""
    for name in ("run", "test", "dev"):
        lock = tmp_path / "requirements" / f"{name}.txt"
        lock.parent.mkdir(exist_ok=True)
        lock.write_text(f"{name}==1\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 1\n")
    for name, value in {"ROOT": tmp_path, "VENV": tmp_path / ".venv", "PYTHON": python, "UV": None}.items():
        monkeypatch.setattr(install, name, value)
    monkeypatch.setattr(install, "STAMP", tmp_path / ".venv" / "skilld-installed.json")
    return tmp_path


def record(level: str) -> None:
    install.STAMP.write_text(json.dumps({"place": str(install.ROOT), level: install.digest(level)}))


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("requirements/run.txt", {"run", "test", "dev"}),
        ("requirements/test.txt", {"test", "dev"}),
        ("requirements/dev.txt", {"dev"}),
        ("pyproject.toml", {"run", "test", "dev"}),
    ],
)
def test_a_level_is_reinstalled_when_its_own_files_changed(project: Path, file: str, changed: set[str]) -> None:
    before = {level: install.digest(level) for level in install.LEVELS}
    (project / file).write_text("changed")
    assert {level for level in install.LEVELS if install.digest(level) != before[level]} == changed


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("level", ["run", "test", "dev"])
def test_a_higher_level_satisfies_a_lower_one(level: str, capsys: pytest.CaptureFixture[str]) -> None:
    record("dev")
    assert install.main(level) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("project")
def test_a_lower_level_does_not_satisfy_a_higher_one_and_the_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record("run")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)  # a Python without ensurepip
    assert install.main("test") == 1
    captured = capsys.readouterr()
    assert "installing into .venv" in captured.err
    assert "sudo apt install python3-venv" in captured.err
    assert captured.out == ""


def test_installer_output_stays_off_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert install.succeeds([sys.executable, "-c", "print('Collecting one')"])
    assert capfd.readouterr() == ("", "Collecting one\n")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"run": "other"}'])
def test_an_unreadable_record_counts_as_none(project: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".venv" / "skilld-installed.json").write_text(text)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert install.main("run") == 1


def test_a_moved_environment_is_not_usable(project: Path) -> None:
    python = project / ".venv" / "bin" / "python"
    version = " ".join(map(str, sys.version_info[:2]))
    python.write_text(f"#!/bin/sh\necho '{project}/.venv {version}'\n")
    python.chmod(0o755)
    assert install.usable()
    install.STAMP.write_text(json.dumps({"place": "/elsewhere"}))
    assert not install.usable()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_an_old_python_is_reported_with_its_version(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    old = tmp_path / "old-python"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2"\nexit 1\n')
    old.chmod(0o755)
    command = ["make", "run", f"PYTHON={old}"]
    result = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 2
    assert f"skilld needs Python 3.11 or newer; {old} is: Python 3.9.2" in result.stderr
    assert "make run PYTHON=python3.12" in result.stderr


def test_the_end_says_what_to_type_next(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install, "usable", lambda: True)
    monkeypatch.setattr(install, "install", lambda _: None)
    monkeypatch.setenv("HOME", str(project))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert install.main("run") == 0
    path = f"{project}/.venv/bin/skilld"
    assert capsys.readouterr().err.endswith(f"alias skilld={path}\nNext, set it up: {path} setup\n")
    for folder in (".config", "Library/Application Support", "xdg"):
        settings = project / folder / "skilld" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.touch()
        monkeypatch.setenv("XDG_CONFIG_HOME", str(project / "xdg") if folder == "xdg" else "")
        install.STAMP.unlink()
        assert install.main("run") == 0
        assert f"\nNext, start it again if it ran in a terminal: {path} run" in capsys.readouterr().err, folder
        settings.unlink()
