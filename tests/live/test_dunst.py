"""The notice on a real desktop notification server: dunst under Xvfb, on a session bus of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.live_project import Project
from support.notifications import session_bus
from support.program import Program
from support.session import LASTING, Session
from support.waiting import LIMIT, wait_for
from tools.live_desktop import missing

pytestmark = pytest.mark.live
CONTEXT_MENU = '#!/bin/sh\nexec grep -m 1 "$(cat {choice})"\n'


@dataclass
class Dunst:
    """A running dunst; `environment` reaches it."""

    environment: dict[str, str]
    choice: Path

    def control(self, *arguments: str) -> str:
        command = ["dunstctl", *arguments]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True).stdout.strip()

    def displayed(self) -> int:
        return int(self.control("count", "displayed"))

    def history(self) -> list[dict[str, Any]]:
        """Return what was shown and closed, newest first."""
        return [
            {name: field["data"] for name, field in notice.items()}
            for notice in json.loads(self.control("history"))["data"][0]
        ]

    def press(self, title: str) -> None:
        """Choose a button from the context menu of the notice that is shown, as a person does."""
        self.choice.write_text(title)
        self.control("context")


@pytest.fixture
def dunst(home: Path, tmp_path: Path) -> Iterator[Dunst]:
    if absent := missing():
        pytest.skip(f"{' and '.join(absent)} not found on PATH: run tools/live_desktop.py")
    with ExitStack() as running:
        screen_read, screen_write = os.pipe()
        xvfb = ["Xvfb", "-displayfd", str(screen_write), "-screen", "0", "800x600x24", "-nolisten", "tcp"]
        server = subprocess.Popen(xvfb, pass_fds=[screen_write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        running.callback(_end, server)
        os.close(screen_write)
        with os.fdopen(screen_read) as number:
            display = f":{number.readline().strip()}"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "DISPLAY": display,
            "DBUS_SESSION_BUS_ADDRESS": running.enter_context(session_bus()),
        }
        menu, choice = tmp_path / "menu", tmp_path / "choice"
        menu.write_text(CONTEXT_MENU.format(choice=choice))
        menu.chmod(0o755)
        settings = tmp_path / "dunstrc"
        settings.write_text(f"[global]\ndmenu = {menu}\nmarkup = full\n[urgency_low]\ntimeout = 0\n")
        desktop = subprocess.Popen(
            ["dunst", "-config", str(settings)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        running.callback(_end, desktop)
        found = Dunst(environment, choice)
        wait_for("dunst", lambda: _answers(found))
        yield found


def _answers(dunst: Dunst) -> bool:
    try:
        return dunst.displayed() == 0
    except subprocess.CalledProcessError:
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(LIMIT)


def test_the_text_is_shown_and_accept_accepts_in_git(home: Path, tmp_path: Path, dunst: Dunst) -> None:
    project = Project(tmp_path / "project", home, ".claude/skills")
    program = Program(home, {"DBUS_SESSION_BUS_ADDRESS": dunst.environment["DBUS_SESSION_BUS_ADDRESS"]})
    with program.daemon():
        session = Session(home, project)
        session.use_skill()
        session.type("Write the notes", LASTING, "ok", "thanks", "go on")
        wait_for("the notice on the screen", lambda: dunst.displayed() == 1, context=program.output)
        dunst.press("Accept")

        def accepted() -> bool:
            return [item["state"] for item in program.json("proposals", "--state", "all")] == ["accepted"]

        wait_for("it to be accepted", accepted, every=0.3, context=program.output)
    assert "- Always put the ticket number first in each entry." in project.skill_path.read_text()
    assert project.git("log", "-1", "--format=%an, %cn") == "skilld, Ada Tester"
    dunst.control("close-all")
    (notice,) = dunst.history()
    assert (notice["appname"], notice["summary"]) == ("skilld", "skilld")
    assert notice["body"] == "1 skill update to review: release-notes. Run: skilld review"
    assert notice["icon_path"].endswith("skilld/notify/icon.svg")
