"""What was decided in one work tree of a repository holds in the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.test_targets import GUIDE, Talk, make_project
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.program import Program
from support.session import CHATTER

SAID = "Always validate payloads with zod, never by hand."


def _say(home: Path, folder: Path, daemon: InProcessDaemon, said: str = SAID) -> list[str]:
    Talk(home, folder).type(said, *CHATTER[:4])
    return [one.id for one in daemon.run()]


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Project:
    return make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})


@pytest.fixture
def other(project: Project) -> Path:
    """Return another work tree of the project, on a branch of its own."""
    project.git("worktree", "add", "--quiet", "-b", "other", "../other")
    return project.root.parent / "other"


@pytest.fixture
def main(project: Project, program: Program) -> Program:
    """Return skilld as it is started in the project."""
    main = Program(project.root, program.environment)
    main.environment["HOME"] = str(program.home)
    return main


def test_a_reverted_rule_does_not_come_back_through_a_work_tree(
    home: Path, project: Project, other: Path, daemon: InProcessDaemon, program: Program
) -> None:
    (made,) = _say(home, project.root, daemon)
    for verb in ("accept", "revert"):
        assert program.run(verb, made).returncode == 0
    _say(home, other, daemon)
    assert {one["id"]: one["state"] for one in program.json("proposals", "--state", "all")} == {made: "reverted"}


def test_what_is_open_is_not_proposed_again_in_a_work_tree(
    home: Path, project: Project, other: Path, daemon: InProcessDaemon, program: Program
) -> None:
    (made,) = _say(home, project.root, daemon)
    _say(home, other, daemon, "From now on validate payloads with zod, never by hand.")
    assert [one["id"] for one in program.json("proposals")] == [made]


@pytest.mark.parametrize("folder", ["other", "plain/packages/b"])
def test_what_is_said_once_in_each_of_two_folders_of_a_project_is_proposed(
    home: Path, project: Project, other: Path, daemon: InProcessDaemon, folder: str
) -> None:
    """Y6: in another work tree, and in a package beside the one where it was said first."""
    first = project.root / "packages/a"
    for package in (first, first.with_name("b")):
        package.mkdir(parents=True)
    project.git("rm", "--quiet", "CLAUDE.md")
    project.commit("Take out the conventions", {})
    (other / "CLAUDE.md").unlink()
    assert _say(home, first, daemon) == []
    assert len(_say(home, project.root.parent / folder, daemon)) == 1


@pytest.mark.parametrize("merged", [False, True])
def test_a_proposal_of_a_work_tree_is_reverted_there_or_where_its_branch_was_merged(  # noqa: PLR0917
    home: Path, project: Project, other: Path, daemon: InProcessDaemon, program: Program, main: Program, *, merged: bool
) -> None:
    (made,) = _say(home, other, daemon)
    assert program.run("accept", made).returncode == 0
    if merged:
        project.git("merge", "--quiet", "other")
    assert main.run("revert", made).returncode == 0
    assert ["zod" in (one / "CLAUDE.md").read_text() for one in (project.root, other)] == [False, merged]
    if merged:
        assert main.run("accept", made).returncode == 0
        assert "zod" in (project.root / "CLAUDE.md").read_text()


def _clone_of_one_origin(project: Project) -> Path:
    """Return a clone of the project; both name the same remote, each by another address."""
    project.git("clone", "--quiet", ".", "../clone")
    clone = project.root.parent / "clone"
    project.git("remote", "add", "origin", "git@example.org:team/shop.git")
    project.git("-C", str(clone), "remote", "set-url", "origin", "https://example.org/team/shop")
    return clone


def test_what_waits_or_was_rejected_in_one_clone_is_not_proposed_in_another(
    home: Path, project: Project, daemon: InProcessDaemon, program: Program
) -> None:
    clone = _clone_of_one_origin(project)
    (made,) = _say(home, project.root, daemon)
    assert _say(home, clone, daemon, "From now on validate payloads with zod, never by hand.") == [made]
    (row,) = program.json("proposals")
    assert (row["path"], len(row["evidence"])) == (str(project.root / "CLAUDE.md"), 2)
    assert program.run("reject", made).returncode == 0
    _say(home, clone, daemon)
    assert {one["id"]: one["state"] for one in program.json("proposals", "--state", "all")} == {made: "rejected"}


@pytest.mark.parametrize("again", [SAID, "From now on validate payloads with zod, never by hand."])
def test_what_was_accepted_in_one_clone_is_not_proposed_in_another_before_it_gets_there(
    home: Path, project: Project, daemon: InProcessDaemon, program: Program, again: str
) -> None:
    clone = _clone_of_one_origin(project)
    (made,) = _say(home, project.root, daemon)
    assert program.run("accept", made).returncode == 0
    assert _say(home, clone, daemon, again) == []
    assert "zod" not in (clone / "CLAUDE.md").read_text()
    assert program.run("revert", made).returncode == 0
    assert {one["id"]: one["state"] for one in program.json("proposals", "--state", "all")} == {made: "reverted"}
    assert len(_say(home, clone, daemon, "Remember to never mock the database in tests.")) == 1


def test_learnings_of_a_project_are_found_from_each_folder_of_each_work_tree(  # noqa: PLR0917
    home: Path, tmp_path: Path, daemon: InProcessDaemon, main: Program, project: Project, other: Path
) -> None:
    (project.root / "src").mkdir()
    assert _say(home, other, daemon, "never show the raw id again") == []
    for folder in (project.root, project.root / "src", other):
        assert [one["quote"] for one in main.json("learnings", "--project", str(folder))] == [
            "never show the raw id again"
        ]
    assert main.json("learnings", "--project", str(tmp_path)) == []


def test_the_refs_of_a_repository_are_listed_once_however_many_work_trees_it_has(
    home: Path, project: Project, other: Path, daemon: InProcessDaemon, program: Program
) -> None:
    (made,) = _say(home, project.root, daemon)
    _say(home, other, daemon, "Remember to never mock the database in tests.")
    assert len({one["path"] for one in program.json("proposals")}) == 2
    output = program.run("uninstall", "--dry-run").stdout
    assert output.count("refs/heads/skilld/staging") == 1
    assert output.count(f"refs/skilld/proposals/{made}") == 1
    assert program.run("uninstall", "--yes").returncode == 0
    assert project.git("for-each-ref", "refs/skilld", "refs/heads/skilld") == ""


@pytest.mark.parametrize("made_in", ["work tree", "clone"])
def test_a_line_that_git_brought_from_another_work_tree_is_traced(  # noqa: PLR0917
    home: Path, project: Project, other: Path, daemon: InProcessDaemon, program: Program, main: Program, made_in: str
) -> None:
    place = other
    if made_in == "clone":
        place = project.root.parent / "clone"
        project.git("clone", "--quiet", ".", str(place))
        project.git("-C", str(place), "remote", "set-url", "origin", "https://example.org/team/shop")
        project.git("remote", "add", "origin", "git@example.org:team/shop.git")
    (made,) = _say(home, place, daemon)
    assert program.run("accept", made).returncode == 0
    line = "Always validate payloads with zod, never by hand."
    assert main.run("why", "CLAUDE.md").stdout == "No accepted proposal added a line that is still in this file.\n"
    assert main.json("why", "validate zod")["file"] == str(place / "CLAUDE.md")
    project.git("pull", "--quiet", "--ff-only", str(place), "HEAD")
    (listed,) = main.json("why", "CLAUDE.md")
    assert (listed["file"], listed["text"]) == (str(project.root / "CLAUDE.md"), f"* {line}")
    for asked in (f"CLAUDE.md:{listed['line']}", "validate zod"):
        shown = main.json("why", asked)
        assert (shown["file"], shown["line"]) == (listed["file"], listed["line"])
        assert [one["id"] for one in shown["proposals"]] == [made]
