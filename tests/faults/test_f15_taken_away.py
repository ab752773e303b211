"""F-15: the database deleted or replaced under a running daemon, which SQLite does not notice. It ends, and says so."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.model import teach
from support.live_project import Project
from support.program import Program
from support.session import LASTING, LASTING_2
from support.waiting import LIMIT, wait_for

STATE = ".local/state/skilld"


def _log(state: Path) -> None:
    for suffix in ("-wal", "-shm"):
        (state / f"skilld.db{suffix}").unlink()


def _lock(state: Path) -> None:
    (state / "daemon.lock").unlink()


def _put_back(state: Path) -> None:
    """Put the folder of some time ago in its place, as a backup is restored."""
    state.rename(state.with_name("now"))
    state.with_name("before").rename(state)


@pytest.mark.parametrize(
    "take_away", [_log, *(pytest.param(other, marks=pytest.mark.slow) for other in (_lock, _put_back))]
)
def test_f15_a_daemon_whose_database_was_replaced_exits_and_the_next_has_everything(
    home: Path, project: Project, program: Program, take_away: Callable[[Path], None]
) -> None:
    program.run("run", "--once")
    state = home / STATE
    shutil.copytree(state, state.with_name("before"))
    before = project.fingerprint()
    with program.daemon() as process:
        teach(home, project, LASTING)
        wait_for("a proposal", lambda: program.json("proposals"), every=0.2, context=program.output)
        take_away(state)
        assert process.wait(LIMIT) == 1
    assert "because one of its own files was removed" in program.output()
    teach(home, project, LASTING_2)
    assert program.run("run", "--once").returncode == 0
    document = program.json("proposals")
    assert sorted(proposal["evidence"][0]["quote"] for proposal in document) == sorted([LASTING, LASTING_2])
    assert len(project.git("rev-list", "main..skilld/staging").split()) == 2
    assert project.fingerprint() == before


@pytest.mark.slow
def test_f15_deleting_its_folder_leaves_no_invisible_daemon(home: Path, project: Project, program: Program) -> None:
    with program.daemon() as process:
        teach(home, project, LASTING)
        wait_for("a proposal", lambda: program.json("proposals"), every=0.5, context=program.output)
        shutil.rmtree(home / STATE)
        assert process.wait(LIMIT) == 1
    assert "Traceback" not in program.output()
    with program.daemon():
        teach(home, project, LASTING_2)
        wait_for("a proposal", lambda: program.json("proposals"), every=0.5, context=program.output)
