"""Rules that a person teaches a skill, each in its own session, up to the open proposals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.live_project import Project
from support.program import Program
from support.session import LASTING, LASTING_2, Session

TICKETS, HOSTS = LASTING, LASTING_2
LINKS = "Remember to link every entry to its pull request."
RULE_LINES = {
    TICKETS: "- Always put the ticket number first in each entry.",
    HOSTS: "- Never mention internal hostnames in the release notes.",
    LINKS: "- Link every entry to its pull request.",
}


class Lessons:
    """Sessions in one project, judged by `skilld run --once`."""

    def __init__(self, home: Path, project: Project, program: Program) -> None:
        self._home = home
        self._project = project
        self.program = program

    def teach(self, *said: str) -> list[dict[str, Any]]:
        """State each rule in a session of its own, have them judged, and return all open proposals, oldest first."""
        for text in said:
            self.say(text)
        self.judge()
        return self.open()

    def say(self, text: str) -> None:
        """State a rule in a session that uses the skill."""
        session = Session(self._home, self._project)
        session.use_skill()
        session.type("Write the release notes for 2.4.0", text, "ok, looks good", "thanks", "go on")

    def judge(self) -> str:
        """Run skilld once, so that it reads and judges the sessions; return what it prints."""
        result = self.program.run("run", "--once", "--backfill", "1")
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def open(self) -> list[dict[str, Any]]:
        return list(self.program.json("proposals"))

    def states(self) -> dict[str, str]:
        """Return the state of every proposal that ever existed, by id."""
        return {item["id"]: item["state"] for item in self.program.json("proposals", "--state", "all")}
