"""Auto mode: off by default; then certain additions become separate commits, easily undone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.lessons import RULE_LINES, TICKETS, Lessons
from support.live_project import Project
from support.notifications import notification_server
from support.program import Program
from support.waiting import wait_for

SKILL = ".claude/skills/release-notes/SKILL.md"
QUIET = {"SKILLD_NOTIFY__ENABLED": "false"}
AUTO = {**QUIET, "SKILLD_APPLY": "auto"}


def taught(home: Path, project: Project, settings: dict[str, str], text: str = TICKETS) -> tuple[Lessons, str, str]:
    """Teach it, and return the lessons with the proposal's id and state."""
    lessons = Lessons(home, project, Program(home, settings))
    lessons.teach(text)
    ((name, state),) = lessons.states().items()
    return lessons, name, state


def test_a_certain_addition_is_committed_on_the_current_branch(home: Path, project: Project) -> None:
    project.git("switch", "--quiet", "-c", "feature")
    (project.root / "README.md").write_text("half a sentence\n")
    head, before = project.git("rev-parse", "HEAD"), project.skill_path.read_text()
    lessons, name, state = taught(home, project, AUTO)
    assert state == "accepted"
    assert project.git("rev-parse", "feature^") == head
    assert project.git("diff", "--name-only", head, "feature") == SKILL
    assert project.git("status", "--porcelain") == "M README.md"
    assert RULE_LINES[TICKETS] in project.skill_path.read_text()
    assert project.git("for-each-ref", "refs/skilld", "refs/heads/skilld") == ""
    (proposal,) = lessons.program.json("proposals", "--state", "accepted")
    assert (proposal["landed"], proposal["note"]) == (
        project.git("rev-parse", "feature"),
        f"applied automatically; to undo it: skilld revert {name}",
    )
    assert lessons.program.run("revert", name).returncode == 0
    assert project.skill_path.read_text() == before
    assert lessons.states() == {name: "reverted"}


@pytest.mark.parametrize(
    ("settings", "state"),
    [
        (QUIET, "open"),
        ({**QUIET, "SKILLD_AUTO__SKILLS": "release-notes, other"}, "accepted"),
        ({**AUTO, "SKILLD_AUTO__CONFIDENCE": "0.9"}, "open"),
    ],
    ids=["off", "this skill", "not sure enough"],
)
def test_auto_mode_is_opt_in(home: Path, project: Project, settings: dict[str, str], state: str) -> None:
    head = project.git("rev-parse", "HEAD")
    assert taught(home, project, settings)[2] == state
    assert (project.git("rev-parse", "HEAD") == head) == (state == "open")


@pytest.mark.skipif(shutil.which("dbus-daemon") is None, reason="no dbus-daemon on this machine")
def test_the_notice_says_how_to_undo_it(home: Path, project: Project) -> None:
    with notification_server() as server:
        program = Program(home, {"DBUS_SESSION_BUS_ADDRESS": server.address, "SKILLD_APPLY": "auto"})
        lessons = Lessons(home, project, program)
        with program.daemon():
            lessons.say(TICKETS)
            is_applied = lambda: [*lessons.states().values()] == ["accepted"]  # noqa: E731
            wait_for("it to be applied", is_applied, every=0.2, context=program.output)
            notice = server.wait(1)
    (name,) = lessons.states()
    assert notice["body"] == f"Applied to release-notes. To undo it: skilld revert {name}"
    assert f"To undo it: skilld revert {name}" in program.output()
