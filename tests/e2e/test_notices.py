"""The desktop notice and its buttons on a real bus; a missing or hanging bus changes nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.lessons import HOSTS, RULE_LINES
from support.live_project import Project
from support.notifications import Notifications, notification_server
from support.program import Program
from support.session import LASTING, Session
from support.waiting import wait_for

needs_bus = pytest.mark.skipif(shutil.which("dbus-daemon") is None, reason="no dbus-daemon on this machine")
TEXT = "1 skill update to review: release-notes. Run: skilld review"


def _teach(home: Path, project: Project, program: Program, text: str = LASTING, *, count: int = 1) -> None:
    """Say it in a session of its own, and wait until `count` batches are done."""
    session = Session(home, project)
    session.use_skill()
    session.type("Write the notes", text, "ok", "thanks", "go on")
    wait_for("it to be judged", lambda: _events(home).count("batch done") >= count, context=program.output)


def _events(home: Path) -> list[str]:
    """Return the names of what the daemon has logged, in order."""
    log = home / ".local/state/skilld/skilld.log"
    written = log.read_text().rpartition("\n")[0] if log.exists() else ""  # the last line may be half written
    return [json.loads(line)["event"] for line in written.splitlines()]


@contextmanager
def _running_daemon(home: Path, **settings: str) -> Iterator[tuple[Notifications, Program]]:
    """Run the daemon on a bus of its own, started from an agent's shell."""
    with notification_server() as server:
        program = Program(home, {"DBUS_SESSION_BUS_ADDRESS": server.address, "CLAUDECODE": "1", **settings})
        with program.daemon():
            yield server, program


def _first_notice(home: Path, server: Notifications) -> dict[str, Any]:
    """Return the first notice once the daemon knows its number, too: before, it takes no press for one of its own."""
    notice = server.wait(1)
    wait_for("the daemon to know its number", lambda: "notice" in _events(home))
    return notice


def _state(program: Program) -> str:
    (proposal,) = program.json("proposals", "--state", "all")
    return str(proposal["state"])


@needs_bus
def test_the_accept_button_accepts_in_git_in_the_persons_name(home: Path, project: Project) -> None:
    with _running_daemon(home) as (server, program):
        _teach(home, project, program)
        notice = _first_notice(home, server)
        assert program.json("status")["notices"] == ""
        steps = [event for event in _events(home) if event in {"batch closed", "batch done", "notice"}]
        assert steps == ["batch closed", "batch done", "notice"], "a notice was waited for"
        assert (notice["app"], notice["title"], notice["body"]) == ("skilld", "skilld", TEXT)
        assert notice["icon"].endswith("skilld/notify/icon.svg")
        assert notice["buttons"] == {"default": "", "review": "Review", "accept": "Accept", "reject": "Reject"}
        server.press("accept")
        wait_for("it to be accepted", lambda: _state(program) == "accepted", every=0.2, context=program.output)
    assert "- Always put the ticket number first in each entry." in project.git("show", "HEAD:" + _relpath(project))
    assert project.git("log", "-1", "--format=%an, %cn") == "skilld, Ada Tester"
    assert len(server.shown) == 1


@needs_bus
def test_the_reject_button_rejects_and_forged_presses_are_ignored(home: Path, project: Project) -> None:
    head = project.git("rev-parse", "HEAD")
    with _running_daemon(home) as (server, program):
        _teach(home, project, program)
        _first_notice(home, server)
        server.forge("accept")
        server.press("reject")
        wait_for("it to be rejected", lambda: _state(program) == "rejected", every=0.2, context=program.output)
        wait_for("the branch to go", lambda: project.git("branch", "--list", "skilld/*") == "", every=0.2)
    assert project.git("rev-parse", "HEAD") == head


@needs_bus
def test_a_failing_button_says_why(home: Path, project: Project) -> None:
    with _running_daemon(home) as (server, program):
        _teach(home, project, program)
        _first_notice(home, server)
        project.skill_path.write_text(project.skill_path.read_text() + "\nMine.\n")
        server.press("accept")
        said = server.wait(2)["body"]
        assert said.startswith("Accept failed: The proposal was not accepted: ")
        assert "SKILL.md has uncommitted changes" in said
        assert server.shown[1]["buttons"] == {"default": ""}
        assert _state(program) == "open"


@needs_bus
def test_a_click_opens_the_review_in_the_persons_terminal(home: Path, project: Project) -> None:
    terminal, said = home / "my-terminal", home / "arguments"
    terminal.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {said}.new && mv {said}.new {said}\nexec sleep 9\n')
    terminal.chmod(0o755)
    with _running_daemon(home, DISPLAY=":99", TERMINAL=str(terminal)) as (server, program):
        _teach(home, project, program)
        (proposal,) = program.json("proposals")
        _first_notice(home, server)
        server.press("default")
        wait_for("the terminal", said.exists)
        assert said.read_text().split()[-3:] == ["skilld", "review", proposal["id"]]
        assert said.read_text().split()[0] == "-e"


@needs_bus
def test_a_snoozed_notice_is_shown_after_the_snooze_with_quotes_if_enabled(home: Path, project: Project) -> None:
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    assert program.run("snooze", "2h").stdout == "Notifications are off for 2h.\n"
    assert program.json("status")["snoozed_until"] is not None
    assert program.run("snooze", "soon").returncode == 2
    with _running_daemon(home, SKILLD_NOTIFY__WORDS="true") as (server, program):
        _teach(home, project, program)
        assert server.shown == []
        assert Program(home).run("snooze", "off").returncode == 0  # from a shell that no agent has opened
        assert server.wait(1)["body"] == (
            f"{TEXT}\nAlways put the ticket number first in each entry. \u2014 you: \u201c{LASTING}\u201d"
        )
    assert program.json("status")["snoozed_until"] is None


@contextmanager
def _no_bus(folder: Path) -> Iterator[str]:
    del folder
    yield ""


@contextmanager
def _hanging_bus(folder: Path) -> Iterator[str]:
    del folder
    with notification_server(hangs=True) as server:
        yield server.address


Bus = Callable[[Path], AbstractContextManager[str]]


@needs_bus
@pytest.mark.parametrize(
    ("bus", "why"), [(_no_bus, "no notification service"), (_hanging_bus, "is not responding")], ids=["none", "hung"]
)
def test_the_pipeline_works_whatever_the_bus_does(
    home: Path, project: Project, tmp_path: Path, bus: Bus, why: str
) -> None:
    with bus(tmp_path) as address:
        program = Program(home, {"DBUS_SESSION_BUS_ADDRESS": address} if address else {})
        with program.daemon():
            _teach(home, project, program)
            _teach(home, project, program, HOSTS, count=2)
            wait_for("the end of the notice", lambda: "notice" in _events(home))
            wait_for("the line in status", lambda: why in program.json("status")["notices"], every=0.5)
    assert RULE_LINES[HOSTS] in project.git("show", "skilld/staging:" + _relpath(project))
    steps = [event for event in _events(home) if event in {"batch closed", "batch done", "notice"}]
    assert [step for step in steps if step != "notice"] == ["batch closed", "batch done"] * 2
    assert steps.index("notice") > steps.index("batch done"), "a notice was waited for"


def _relpath(project: Project) -> str:
    return project.skill_path.relative_to(project.root).as_posix()


@needs_bus
def test_a_missing_judge_is_one_notice(home: Path) -> None:
    with notification_server() as server:
        program = Program(home, {"DBUS_SESSION_BUS_ADDRESS": server.address, "OLLAMA_HOST": "192.0.2.1"})
        del program.environment["SKILLD_MODEL"]
        with program.daemon():
            assert _first_notice(home, server)["body"].endswith("In a terminal, run: skilld setup")
        with program.daemon():  # it has looked once
            pass
        assert len(server.shown) == 1


@needs_bus
def test_a_daemon_killed_while_notifying_does_not_notify_again(home: Path, project: Project) -> None:
    """18.10: what was on the screen is told of once, though nobody was left to hear that it was shown."""
    with notification_server() as server:
        program = Program(home, {"DBUS_SESSION_BUS_ADDRESS": server.address})
        server.answer(really=False)
        with program.daemon() as daemon:
            session = Session(home, project)
            session.use_skill()
            session.type("Write the notes", LASTING, "ok", "thanks", "go on")
            server.wait(1)
            daemon.kill()
        server.answer(really=True)
        with program.daemon():
            _teach(home, project, program, HOSTS, count=2)  # so that it has something to tell, and has looked
        assert [one["body"] for one in server.shown] == [TEXT]
