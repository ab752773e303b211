"""F-15 (parts 6 and 7): the database vanishes while a proposal is dropped, or a batch cannot be done."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from faults.clock import Clock
from faults.damages import DAMAGES
from faults.model import learned_rules, quotes, teach
from faults.world import DATABASE
from support.live_project import Project
from support.program import Program
from support.session import LASTING

DAY = 86400.0
HOUR = 3600.0
KINDS = [
    "missing",
    *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("missing_with_its_copies", "missing_with_its_journal")),
]


def _states(program: Program) -> list[str]:
    return [proposal["state"] for proposal in program.json("proposals", "--state", "all")]


def _damage(home: Path, kind: str) -> None:
    DAMAGES[kind](home / DATABASE, random.Random(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_f15_a_dropped_proposal_is_still_dropped(home: Path, project: Project, program: Program, kind: str) -> None:
    program.run("run", "--once")
    teach(home, project)
    program.run("run", "--once")
    project.git("branch", "-D", "skilld/staging")
    program.run("run", "--once")
    assert _states(program) == ["dropped"]
    _damage(home, kind)
    clock = Clock(program)
    for _ in range(2):  # what git holds is read back first, and looked at then
        clock.pass_by(HOUR)
        program.run("run", "--once")
    assert _states(program) == ["dropped"]
    assert project.git("for-each-ref", "refs/heads/skilld") == ""
    clock.pass_by(DAY + HOUR)
    program.run("run", "--once")
    assert _states(program) == ["rejected"]


@pytest.mark.parametrize("kind", KINDS)
def test_f15_a_batch_with_a_missing_transcript_keeps_waiting(
    home: Path, project: Project, program: Program, kind: str
) -> None:
    program.run("run", "--once")
    program.run("pause")
    teach(home, project)
    program.run("run", "--once")
    program.run("resume")
    folder = home / ".claude/projects"
    aside = folder.rename(folder.with_name("aside"))
    program.run("run", "--once")
    assert learned_rules(program) == [LASTING]
    _damage(home, kind)
    clock = Clock(program)
    clock.pass_by(HOUR)
    program.run("run", "--once")
    if kind == "missing_with_its_journal":
        program.run("resume")  # the copy is from the pause, before the words were judged
    else:
        assert learned_rules(program) == [LASTING]
    assert quotes(program) == []
    aside.rename(folder)
    for _ in range(2):
        clock.pass_by(HOUR)
        program.run("run", "--once")
    assert quotes(program) == [LASTING]
    assert learned_rules(program) == [], "what is proposed is not kept besides"


@pytest.mark.parametrize("kind", KINDS)
def test_f15_a_batch_refused_by_its_repository_is_proposed_once_possible(
    home: Path, project: Project, program: Program, kind: str
) -> None:
    program.run("run", "--once")
    project.git("branch", "skilld")
    teach(home, project)
    program.run("run", "--once")
    assert learned_rules(program) == [LASTING]
    _damage(home, kind)
    clock = Clock(program)
    clock.pass_by(HOUR)
    program.run("run", "--once")
    assert learned_rules(program) == [LASTING]
    project.git("branch", "--move", "skilld", "mine")
    clock.pass_by(DAY)
    program.run("run", "--once")
    assert quotes(program) == [LASTING]
    assert learned_rules(program) == []


@pytest.mark.parametrize("kind", ["missing", pytest.param("missing_with_its_copies", marks=pytest.mark.slow)])
def test_f15_words_already_read_survive_transcript_and_database(
    home: Path, project: Project, program: Program, kind: str
) -> None:
    program.run("run", "--once")
    program.run("pause")
    session = teach(home, project)
    program.run("run", "--once")
    session.path.unlink()
    _damage(home, kind)
    program.run("resume")
    program.run("run", "--once")
    program.run("resume")
    program.run("run", "--once")
    assert learned_rules(program) == [LASTING]
