"""skilld's own folders where they cannot be entered or written: what can be read is read, and the rest is explained."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.program import Program

NOBODY = 65534
VERBS = ("status", "status --check", "proposals", "uninstall --dry-run", "doctor")


@pytest.fixture
def state(home: Path, program: Program) -> Iterator[Path]:
    """Return the state folder of a skilld that ran and stopped, used by a person without special rights."""
    assert program.run("run", "--once").returncode == 0
    program.keep_out()
    folder = home / ".local/state/skilld"
    yield folder
    if os.geteuid() == 0:
        os.chown(folder, 0, 0)
    folder.chmod(0o700)


def test_a_data_folder_that_cannot_be_written_is_read(state: Path, program: Program) -> None:
    state.chmod(0o500)
    shown = [program.run(verb) for verb in ("status", "proposals", "learnings", "cost")]
    assert [(one.returncode, one.stderr) for one in shown] == [(0, "")] * 4


def test_a_data_folder_that_cannot_be_entered_is_named_with_a_remedy(state: Path, program: Program) -> None:
    state.chmod(0)
    for verb in VERBS:
        told = program.run(*verb.split())
        assert "chmod u+rwX ~/.local/state/skilld" in told.stdout + told.stderr, verb
        assert "Input/output error" not in told.stderr, verb


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_data_folder_of_another_user_is_named_as_such(state: Path, program: Program) -> None:
    os.chown(state, NOBODY, NOBODY)
    for verb in VERBS:
        told = program.run(*verb.split())
        assert "~/.local/state/skilld belongs to another user" in told.stdout + told.stderr, verb
        assert "Run it as nobody, not as root." in told.stdout + told.stderr, verb


def test_doctor_says_that_the_data_folder_cannot_be_created(home: Path, program: Program) -> None:
    program.keep_out()
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
    program.keep_out()
    refused = program.run("run", "--once")
    assert "chmod u+rwX ~/.config/skilld/config.toml" in refused.stderr
