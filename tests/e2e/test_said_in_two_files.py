"""The same words with and without a skill in use: two files, and each proposal after the first names the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.test_targets import GUIDE, Talk
from skilld.types import Proposal, State
from support.in_process_daemon import InProcessDaemon
from support.live_project import SKILL, Project
from support.program import Program
from support.session import CHATTER

RULE = "From now on, always write dates as YYYY-MM-DD."
REWORDED = "Please always write the dates as YYYY-MM-DD from now on."
OTHER = "Never mention internal hostnames in the release notes again."


@pytest.fixture
def guided(project: Project) -> Project:
    (project.root / "CLAUDE.md").write_text(GUIDE)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "Write down how we work")
    return project


def say(daemon: InProcessDaemon, home: Path, project: Project, text: str, *, used: bool) -> Proposal:
    """Say something in a session of its own; return the newest open proposal."""
    known = {one.id for one in daemon.store.proposals.all()}
    talk = Talk(home, project.root)
    if used:
        talk.use_skill(SKILL, project.skill_path.parent)
    talk.type(text, *CHATTER[:4])
    (new,) = [one for one in daemon.run() if one.id not in known]
    return new


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("again", [RULE, REWORDED])
def test_the_second_names_the_first_and_is_a_proposal_all_the_same(
    daemon: InProcessDaemon, home: Path, guided: Project, again: str, *, used: bool
) -> None:
    first = say(daemon, home, guided, RULE, used=used)
    second = say(daemon, home, guided, again, used=not used)
    assert {Path(first.path).name, Path(second.path).name} == {"CLAUDE.md", "SKILL.md"}
    assert first.flags == ()
    flag = f"the open proposal {first.id} asks for the same in {first.skill}"
    assert second.flags == (flag,)
    skilld = Program(home)
    assert f"! {flag}" in " ".join(skilld.run("show", second.id).stdout.split())
    assert {one.state for one in daemon.store.proposals.all()} == {State.OPEN}


def test_the_second_says_what_became_of_the_first(daemon: InProcessDaemon, home: Path, guided: Project) -> None:
    first = say(daemon, home, guided, RULE, used=False)
    second = say(daemon, home, guided, REWORDED, used=True)
    skilld = Program(home)

    def flags() -> tuple[str, ...]:
        return next(one.flags for one in daemon.store.proposals.open() if one.id == second.id)

    assert skilld.run("accept", first.id).returncode == 0
    accepted = f"the accepted proposal {first.id} asks for the same in CLAUDE.md, which has it now"
    assert flags() == (accepted,)
    assert accepted in " ".join(skilld.run("accept", "--all-repositories", "--yes").stdout.split()), (
        "it is for the person to decide"
    )
    assert skilld.run("revert", first.id).returncode == 0
    assert flags() == (f"the reverted proposal {first.id} asks for the same in CLAUDE.md",)
    assert skilld.run("accept", first.id).returncode == 0
    assert flags() == (accepted,)


def test_another_rule_or_a_rejected_one_is_not_named(daemon: InProcessDaemon, home: Path, guided: Project) -> None:
    first = say(daemon, home, guided, RULE, used=False)
    assert say(daemon, home, guided, OTHER, used=True).flags == ()
    assert Program(home).run("reject", first.id).returncode == 0
    assert say(daemon, home, guided, REWORDED, used=True).flags == ()


def test_one_accepted_into_another_file_names_the_first_and_not_itself(
    daemon: InProcessDaemon, home: Path, guided: Project
) -> None:
    skilld = Program(home)
    first = say(daemon, home, guided, RULE, used=True)
    moved = guided.root / "docs/style.md"
    moved.parent.mkdir(exist_ok=True)
    moved.write_text(GUIDE)
    guided.git("add", "--all")
    guided.git("commit", "--quiet", "--message", "Add a guide to style")
    second = say(daemon, home, guided, REWORDED, used=False)
    assert skilld.run("accept", second.id, "--to", str(moved)).returncode == 0
    there = next(one for one in daemon.store.proposals.in_states([State.ACCEPTED]) if one.path == str(moved))
    assert f"the open proposal {first.id} asks for the same in {first.skill}" in there.flags
    assert not any(second.id in flag for flag in there.flags)


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("From now on, always wrap errors with context.", "Always wrap errors with context."),
        ("From now on, always use tabs in Makefiles.", "Always use tabs in Makefiles."),
        ("we always wrap errors with context", "Always wrap errors with context."),
    ],
)
def test_a_rule_about_something_else_than_the_skill_in_use_goes_to_the_projects_file(
    daemon: InProcessDaemon, home: Path, guided: Project, said: str, line: str, *, beside: bool
) -> None:
    talk = Talk(home, guided.root)
    talk.use_skill(SKILL, guided.skill_path.parent)
    talk.type(*([OTHER] if beside else []), said, *CHATTER[: 4 - beside])
    made = daemon.run()
    assert [update.change for one in made if Path(one.path).name == "CLAUDE.md" for update in one.updates] == [line]
    assert len(made) == 1 + beside


@pytest.mark.parametrize(
    ("said", "there", "about"),
    [
        ("lambdas are hard to read, name the function", True, "release-notes"),  # it may be meant for now
        ("From now on, always wrap errors with context.", False, None),  # once said again, it begins the file
    ],
)
def test_what_is_in_no_file_yet_waits(
    daemon: InProcessDaemon, home: Path, guided: Project, said: str, about: str | None, *, there: bool
) -> None:
    if not there:
        guided.git("rm", "--quiet", "CLAUDE.md")
        guided.git("commit", "--quiet", "--message", "Start over")
    talk = Talk(home, guided.root)
    talk.use_skill(SKILL, guided.skill_path.parent)
    talk.type(said, *CHATTER[:4])
    assert daemon.run() == []
    assert [one.skill for one in daemon.store.learnings.all()] == [about]
