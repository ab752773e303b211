"""A coding agent does not decide on what it taught itself: its marker is enough to be refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from support.lessons import TICKETS, Lessons
from support.live_project import Project
from support.program import Program

MARKER = {"CLAUDECODE": "1"}


@pytest.fixture
def taught(home: Path, project: Project, program: Program) -> str:
    (proposal,) = Lessons(home, project, program).teach(TICKETS)
    return str(proposal["id"])


def by_agent(program: Program, settings: Mapping[str, str] | None = None) -> Program:
    return Program(program.home, {"SKILLD_NOTIFY__ENABLED": "false", **MARKER, **(settings or {})})


@pytest.mark.parametrize(
    "verb", [("accept", "{}"), ("accept", "--all"), ("accept", "--worktree", "{}"), ("reject", "{}"), ("revert", "{}")]
)
def test_an_agent_is_refused(program: Program, project: Project, taught: str, verb: tuple[str, ...]) -> None:
    before = project.fingerprint()
    done = by_agent(program).run(*(part.format(taught) for part in verb))
    assert done.returncode == 5
    assert "CLAUDECODE is set, so a coding agent is running this command" in done.stderr
    assert project.fingerprint() == before
    assert [item["state"] for item in program.json("proposals", "--state", "all")] == ["open"]


def test_an_agent_may_look(program: Program, taught: str) -> None:
    agent = by_agent(program)
    assert [item["id"] for item in agent.json("proposals")] == [taught]
    assert agent.run("show", taught).returncode == 0
