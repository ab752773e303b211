"""A rule for another project is kept, and goes into that project's file where the person asks for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from e2e.test_contradictions import propose_rule
from e2e.test_targets import GUIDE, Talk, make_project
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.program import Program
from support.session import CHATTER


@pytest.fixture
def other(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> Path:
    """Return another project of the person's, in which an agent has worked."""
    project = Project(tmp_path / "ripcsv", home, ".elsewhere")
    project.commit("Write down how we work", {"CLAUDE.md": GUIDE})
    Talk(home, project.root).type(*CHATTER[:5])
    daemon.run()
    return project.root


@pytest.mark.parametrize(
    "said",
    [
        "in the ripcsv repo always put the error first",
        "By the way, for ripcsv: never use floats for sums.",
        "on my csv tool (ripcsv) never print a stack trace",
    ],
)
def test_it_is_kept_and_proposed_there_on_request(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, other: Path, said: str
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    assert propose_rule(home, project, daemon, said) == []
    skilld = Program(home)
    (kept,) = skilld.json("learnings")
    assert kept["why_not"] == "it is for ripcsv, not for this project: `learnings propose` puts it there"
    made = skilld.json("learnings", "propose", kept["id"])
    assert (made["path"], made["repo"]) == (str(other / "CLAUDE.md"), str(other))
    assert skilld.run("accept", made["id"]).returncode == 0
    assert (other / "CLAUDE.md").read_text() != GUIDE == (project.root / "CLAUDE.md").read_text()


def test_one_for_an_unknown_repository_waits_for_the_file_that_the_person_names(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, other: Path
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    assert propose_rule(home, project, daemon, "in the flurb repo always squash before merging") == []
    skilld = Program(home)
    (kept,) = skilld.json("learnings")
    assert kept["why_not"] == "it is for another repository (flurb), where skilld has not read any sessions"
    strange = tmp_path / "strange"
    strange.mkdir()
    subprocess.run(["git", "init", "--quiet", strange], check=True)
    (strange / "CLAUDE.md").write_text(GUIDE)
    refused = skilld.run("learnings", "propose", kept["id"], "--to", str(strange / "CLAUDE.md"))
    assert (refused.returncode, "outside" in refused.stderr) == (1, True), "no session was there"
    made = skilld.json("learnings", "propose", kept["id"], "--to", str(other / "CLAUDE.md"))
    assert made["path"] == str(other / "CLAUDE.md")


@pytest.mark.parametrize("said", ["Like in ripcsv, always put the error first.", "in this repo always put it first"])
def test_one_for_this_project_is_proposed_here(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, other: Path, said: str
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    made = propose_rule(home, project, daemon, said.replace("it first", "the error first"))
    assert [one.path for one in made] == [str(project.root / "CLAUDE.md")]
    assert other.name == "ripcsv"
