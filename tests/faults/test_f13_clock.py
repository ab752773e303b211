"""F-13: the wall clock is wrong, and is put right. Nothing comes to a standstill, nothing is done twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faults import apart
from faults.clock import Clock
from support.live_project import Project
from support.program import Program
from support.session import LASTING, Session
from support.waiting import wait_for

DAY = 86400.0


def _start_of_a_session(home: Path, project: Project) -> Session:
    session = Session(home, project)
    session.use_skill()
    session.type("Let us begin", LASTING)
    return session


def _last_activity(program: Program) -> str:
    daemon: dict[str, Any] = program.json("status")["daemon"]
    return str(daemon["seen_at"])


@pytest.mark.slow
def test_f13_with_the_clock_set_back_a_day_idle_sessions_are_still_judged(
    home: Path, project: Project, program: Program
) -> None:
    clock = Clock(program)
    clock.set(DAY)  # wrong from the start, then put right
    program.environment["SKILLD_BATCH__IDLE_MINUTES"] = "0.1"
    with apart.daemon(program) as process:
        _start_of_a_session(home, project)
        wrong = wait_for("a tick", lambda: _last_activity(program), every=0.5)
        clock.set(0)
        wait_for("a tick by the right clock", lambda: _last_activity(program) < wrong, every=0.5)
        assert "the clock was set back" in apart.read_log(process, program)
        wait_for("a proposal", lambda: program.json("proposals"), every=0.5, context=program.output)
    assert len(program.json("proposals")) == 1


def test_f13_a_file_dated_tomorrow_is_read_today(home: Path, project: Project, program: Program) -> None:
    clock = Clock(program)
    program.run("run", "--once")
    _start_of_a_session(home, project)
    clock.set(-DAY)  # its times are those of tomorrow now
    program.run("run", "--once")
    assert program.json("status")["batches"]["done"] == 0, "not idle yet"
    clock.pass_by(700)
    program.run("run", "--once")
    assert len(program.json("proposals")) == 1
