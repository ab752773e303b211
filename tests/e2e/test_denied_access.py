"""skilld's own folders where they cannot be entered or written: what can be read is read, and the rest is explained."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.program import Program

# Root without the capability to read and write everything is a user like any other.
KEPT_OUT = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ("env",)
NOBODY = 65534
pytestmark = pytest.mark.skipif(shutil.which(KEPT_OUT[0]) is None, reason="root needs setpriv to be kept out")


@pytest.fixture
def state(home: Path, program: Program) -> Iterator[Path]:
    """Return the state folder of a skilld that ran and stopped, used by a person without special rights."""
    assert program.run("run", "--once").returncode == 0
    program.before = KEPT_OUT
    folder = home / ".local/state/skilld"
    yield folder
    if os.geteuid() == 0:
        os.chown(folder, 0, 0)
    folder.chmod(0o700)


@pytest.mark.parametrize("verb", ["status", "proposals", "learnings", "cost"])
def test_a_data_folder_that_cannot_be_written_is_read(state: Path, program: Program, verb: str) -> None:
    state.chmod(0o500)
    shown = program.run(verb)
    assert (shown.returncode, shown.stderr) == (0, "")


def test_a_decision_in_a_data_folder_that_cannot_be_written_is_refused(state: Path, program: Program) -> None:
    state.chmod(0o500)
    refused = program.run("pause")
    assert refused.returncode == 1
    assert "readonly database" in refused.stderr
    assert "skilld doctor" in refused.stderr
    doctor = {check["name"]: (check["verdict"], check["remedy"]) for check in program.json("doctor")["checks"]}
    assert doctor["permissions"] == ("fail", f"chmod u+rwx {state}")


@pytest.mark.parametrize("verb", ["status", "status --check", "proposals", "uninstall --dry-run", "doctor"])
def test_a_data_folder_that_cannot_be_entered_is_named_with_a_remedy(state: Path, program: Program, verb: str) -> None:
    state.chmod(0)
    told = program.run(*verb.split())
    assert "chmod u+rwX ~/.local/state/skilld" in told.stdout + told.stderr
    assert "Input/output error" not in told.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("verb", ["status", "status --check", "proposals", "uninstall --dry-run", "doctor"])
def test_a_data_folder_of_another_user_is_named_as_such(state: Path, program: Program, verb: str) -> None:
    os.chown(state, NOBODY, NOBODY)
    told = program.run(*verb.split())
    assert "~/.local/state/skilld belongs to another user" in told.stdout + told.stderr
    assert "Run it as nobody, not as root." in told.stdout + told.stderr


def test_doctor_says_that_the_data_folder_cannot_be_created(home: Path, program: Program) -> None:
    program.before = KEPT_OUT
    home.chmod(0o500)
    try:
        doctor = {check["name"]: (check["verdict"], check["detail"]) for check in program.json("doctor")["checks"]}
    finally:
        home.chmod(0o700)
    assert doctor["permissions"] == ("fail", f"cannot create {home / '.local/state/skilld'}")


def test_a_settings_file_that_cannot_be_read_needs_another_mode(home: Path, program: Program) -> None:
    file = home / ".config/skilld/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[batch]\nturns = 7\n")
    file.chmod(0)
    program.before = KEPT_OUT
    refused = program.run("run", "--once")
    assert "chmod u+rwX ~/.config/skilld/config.toml" in refused.stderr
