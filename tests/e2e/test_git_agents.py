"""A coding agent does not decide on what it taught itself: by its marker, unless a terminal or the settings say so."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.lessons import LINES, TICKETS, Lessons
from support.live_project import Project
from support.program import Program
from support.waiting import LIMIT

MARKER = {"CLAUDECODE": "1"}


@pytest.fixture
def taught(home: Path, project: Project, program: Program) -> str:
    (proposal,) = Lessons(home, project, program).teach(TICKETS)
    return str(proposal["id"])


def by_agent(program: Program, settings: Mapping[str, str] | None = None) -> Program:
    return Program(program.home, {"SKILLD_NOTIFY__ENABLED": "false", **MARKER, **(settings or {})})


def in_terminal(program: Program, *arguments: str) -> int:
    """Run a verb with a terminal as its standard input, and return its exit code."""
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "skilld", *arguments],
            cwd=program.home,
            env=program.environment,
            stdin=slave,
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
    finally:
        os.close(master)
        os.close(slave)
    return done.returncode


@pytest.mark.parametrize(
    "verb", [("accept", "{}"), ("accept", "--all"), ("accept", "--worktree", "{}"), ("reject", "{}"), ("revert", "{}")]
)
def test_an_agent_is_refused(program: Program, project: Project, taught: str, verb: tuple[str, ...]) -> None:
    before = project.fingerprint()
    done = by_agent(program).run(*(part.format(taught) for part in verb))
    assert done.returncode == 5
    assert "CLAUDECODE says that a coding agent runs this command" in done.stderr
    assert project.fingerprint() == before
    assert [item["state"] for item in program.json("proposals", "--state", "all")] == ["open"]


def test_an_agent_may_look(program: Program, taught: str) -> None:
    agent = by_agent(program)
    assert [item["id"] for item in agent.json("proposals")] == [taught]
    assert agent.run("show", taught).returncode == 0


def test_a_person_in_the_agents_terminal_decides(program: Program, project: Project, taught: str) -> None:
    assert in_terminal(by_agent(program), "accept", taught) == 0
    assert LINES[TICKETS] in project.skill_path.read_text()
    assert in_terminal(by_agent(program), "revert", taught) == 0
    assert LINES[TICKETS] not in project.skill_path.read_text()


def test_the_settings_may_allow_it(program: Program, project: Project, taught: str) -> None:
    done = by_agent(program, {"SKILLD_ACCEPT__BY_AGENTS": "true"}).run("accept", taught)
    assert (done.returncode, done.stderr) == (0, "")
    assert LINES[TICKETS] in project.skill_path.read_text()
