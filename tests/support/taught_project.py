"""A home and project in which two things were taught: created once, copied to the same path for each test.

Newest first: one learning from a session of its own, then a proposal of two parts from one session.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import furnish
from support.lessons import HOSTS, LINKS, RULE_LINES, TICKETS, Lessons
from support.live_project import SKILL, Project
from support.program import Program
from support.session import Session

THIRD = RULE_LINES[LINKS]
FIRST, SECOND = RULE_LINES[TICKETS], RULE_LINES[HOSTS]


@dataclass
class TaughtProject:
    """The copy a test works on: `one` and `two` are the ids of the proposals of one part and of two."""

    home: Path
    project: Project
    program: Program
    one: str
    two: str

    @property
    def skill(self) -> str:
        """The skill's text in the work tree; nothing at the moment when git replaces the file."""
        with suppress(FileNotFoundError):
            return self.project.skill_path.read_text()
        return ""

    def states(self) -> dict[str, str]:
        return {item["id"]: item["state"] for item in self.program.json("proposals", "--state", "all")}

    def show(self, name: str) -> dict[str, Any]:
        return dict(self.program.json("show", name))


def make_taught_project(folder: Path) -> None:
    """Make what `copy_of_taught_project` copies, below `folder`."""
    there = folder / "there"
    (there / "home").mkdir(parents=True)
    furnish(there / "home")
    project = Project(there / "project", there / "home", ".claude/skills")
    program = Program(there / "home")
    lessons = Lessons(there / "home", project, program)
    session = Session(there / "home", project)
    session.use_skill(SKILL)
    session.type("Write the release notes for 2.4.0", TICKETS, "ok, looks good", HOSTS, "thanks")
    lessons.judge()
    lessons.teach(LINKS)
    there.rename(folder / "kept")


@contextmanager
def copy_of_taught_project(folder: Path) -> Iterator[TaughtProject]:
    """Yield a fresh copy."""
    there = folder / "there"
    shutil.copytree(folder / "kept", there, symlinks=True)
    project = object.__new__(Project)
    project.root, project._home = there / "project", there / "home"
    project.skill_path = there / f"project/.claude/skills/{SKILL}/SKILL.md"
    program = Program(there / "home")
    two, one = (item["id"] for item in program.json("proposals"))
    try:
        yield TaughtProject(there / "home", project, program, one, two)
    finally:
        shutil.rmtree(there)
