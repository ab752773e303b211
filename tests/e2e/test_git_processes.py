"""How many git processes a decision, a new proposal and a look take, counted on PATH."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.lessons import Lessons
from support.taught_project import TaughtProject

DECISION = 9
PROPOSAL = 8
LOOK = 4
Count = Callable[[str], list[str]]


@pytest.fixture
def count(world: TaughtProject, tmp_path: Path) -> Count:
    """Return a function that runs a verb and gives a line for each git that was started meanwhile."""
    log, git = tmp_path / "started", tmp_path / "bin/git"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> "{log}"\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    world.program.environment["PATH"] = f"{git.parent}:{os.environ['PATH']}"

    def run(verb: str) -> list[str]:
        log.unlink(missing_ok=True)
        result = world.program.run(*verb.split())
        assert result.returncode == 0, result.stdout + result.stderr
        return log.read_text().splitlines()

    return run


def clone(world: TaughtProject) -> None:
    """Make the project one that was fetched, with the work on a branch of its own: more refs to look at."""
    origin = world.home.parent / "origin.git"
    world.project.git("clone", "--quiet", "--bare", ".", str(origin))
    world.project.git("remote", "add", "origin", str(origin))
    world.project.git("fetch", "--quiet", "origin")
    world.project.git("remote", "set-head", "origin", "main")
    world.project.git("switch", "--quiet", "--create", "work")
    world.project.git("commit", "--quiet", "--allow-empty", "--message", "at work")


def known_clone(world: TaughtProject) -> None:
    """As `clone`, but skilld has looked at it since, and taken the person's words off the branch."""
    clone(world)
    world.program.run("proposals")


def move_on(world: TaughtProject) -> None:
    """Edit the skill by hand, where no proposal stands, so that the branch is made again on another base."""
    path = world.project.skill_path
    path.write_text(path.read_text().replace("No marketing words.", "No marketing words, ever."))
    world.project.git("commit", "--quiet", "--all", "--message", "by hand")


def as_it_is(_: TaughtProject) -> None:
    """Leave the project as it is."""


@pytest.mark.parametrize("prepare", [as_it_is, known_clone, move_on])
def test_a_decision_takes_few_git_processes(
    world: TaughtProject, count: Count, prepare: Callable[[TaughtProject], None]
) -> None:
    """Each reads a snapshot of the repository, carries the decision out, and rebuilds the branch of the other one."""
    prepare(world)
    for verb in (f"accept {world.one}", f"revert {world.one}", f"reject {world.two}"):
        started = count(verb)
        assert len(started) <= DECISION, (verb, *started)


@pytest.mark.parametrize("prepare", [as_it_is, clone])
def test_a_new_proposal_takes_few_git_processes(
    world: TaughtProject, count: Count, prepare: Callable[[TaughtProject], None]
) -> None:
    """Up to the move of the refs; what follows is the look at all repositories that every run ends with."""
    prepare(world)
    Lessons(world.home, world.project, world.program).say("Always mention breaking changes before anything else.")
    started = count("run --once")
    assert len(world.states()) == 3
    writing = next(number for number, line in enumerate(started, 1) if " update-ref " in line)
    assert writing <= PROPOSAL, started
    assert len(started) - writing <= PROPOSAL, started


@pytest.mark.parametrize("prepare", [as_it_is, known_clone, move_on])
def test_a_look_takes_few_git_processes(
    world: TaughtProject, count: Count, prepare: Callable[[TaughtProject], None]
) -> None:
    """The second one finds nothing new: settings, objects, the file's history and the branch's own commits are read."""
    prepare(world)
    world.program.run("proposals")
    started = count("proposals")
    assert len(started) <= LOOK, "\n".join(one[one.index("-C ") :] for one in started)


def test_a_decision_writes_the_branch_once(world: TaughtProject, count: Count) -> None:
    """A3: it was made again before the decision, and once more after it."""
    started = count(f"accept {world.one}")
    assert sum(" update-ref " in line for line in started) == 1


def test_a_repository_is_opened_once_for_all_of_its_skills(world: TaughtProject, count: Count) -> None:
    """`consolidate` opened it for each of them, with three processes."""
    skill = world.project.skill_path
    for name in ("changes", "history"):
        text = skill.read_text().replace("name: release-notes", f"name: {name}")
        world.project.commit(name, {str(skill.parent.parent.relative_to(world.project.root) / name / "SKILL.md"): text})
    started = count(f"consolidate --dry-run --project {world.project.root}")
    assert sum(" rev-list --timestamp " in line for line in started) == 3, "when each was written"
    assert sum(" --show-origin " in line for line in started) == 1
