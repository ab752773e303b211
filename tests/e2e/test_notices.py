"""The desktop notice, on a real bus; and that a missing or hanging one costs nothing but a line in `status`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from skilld.notify.desktop import about_proposals
from support.live_project import Project
from support.notifications import notification_server, silent_bus
from support.program import Program
from support.session import LASTING, Session
from support.waiting import wait_for


def _teach(home: Path, project: Project, program: Program) -> None:
    session = Session(home, project)
    session.use_skill()
    session.type("Write the notes", LASTING, "ok", "thanks", "go on")
    wait_for("a proposal", lambda: program.json("proposals"), 15, every=0.2, context=program.output)


@pytest.mark.skipif(shutil.which("dbus-daemon") is None, reason="no dbus-daemon on this machine")
def test_one_notice_names_the_skill_and_no_word_of_the_person(home: Path, project: Project) -> None:
    with notification_server() as (address, shown):
        program = Program(home, {"DBUS_SESSION_BUS_ADDRESS": address})
        with program.daemon():
            _teach(home, project, program)
            (notice,) = wait_for("the notice", lambda: list(shown), 10)
            wait_for("the line in status", lambda: program.json("status")["notices"] == "", 10, every=0.2)
    assert (notice["app"], notice["title"]) == ("skilld", "skilld")
    assert notice["body"] == "1 skill update to look at: release-notes. Run: skilld proposals"
    assert notice["icon"].endswith("skilld/notify/icon.svg")


def test_without_a_bus_a_line_in_status_says_so(home: Path, project: Project) -> None:
    program = Program(home)
    with program.daemon():
        _teach(home, project, program)
        status = wait_for("the line in status", lambda: program.json("status")["notices"], 10, every=0.2)
    assert status.startswith("no notification service")


def test_a_bus_that_hangs_holds_nothing_up(home: Path, project: Project, tmp_path: Path) -> None:
    with silent_bus(tmp_path) as address:
        program = Program(home, {"DBUS_SESSION_BUS_ADDRESS": address})
        with program.daemon():
            _teach(home, project, program)
            status = wait_for("the line in status", lambda: program.json("status")["notices"], 15, every=0.2)
    assert "does not answer" in status


def test_a_name_cannot_smuggle_markup_into_a_notice() -> None:
    assert about_proposals(["<b>x</b>\x1b[2J", "a", "a"]) == (
        "3 skill updates to look at: &lt;b&gt;x&lt;/b&gt;\\x1b[2J, a (2). Run: skilld proposals"
    )
