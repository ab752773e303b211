"""What was decided in one work tree of a repository holds in the others."""

from __future__ import annotations

from pathlib import Path

from e2e.test_targets import GUIDE, Talk, make_project
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.program import Program
from support.session import CHATTER

SAID = "Always validate payloads with zod, never by hand."


def _say(home: Path, folder: Path, daemon: InProcessDaemon, said: str = SAID) -> list[str]:
    Talk(home, folder).type(said, *CHATTER[:4])
    return [one.id for one in daemon.run()]


def _work_tree(project: Project) -> Path:
    other = project.root.parent / "other"
    project.git("worktree", "add", "--quiet", "-b", "other", str(other))
    return other


def test_a_reverted_rule_does_not_come_back_through_a_work_tree(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, program: Program
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    other = _work_tree(project)
    (made,) = _say(home, project.root, daemon)
    for verb in ("accept", "revert"):
        assert program.run(verb, made).returncode == 0
    _say(home, other, daemon)
    assert {one["id"]: one["state"] for one in program.json("proposals", "--state", "all")} == {made: "reverted"}


def test_what_is_open_is_not_proposed_again_in_a_work_tree(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, program: Program
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    other = _work_tree(project)
    (made,) = _say(home, project.root, daemon)
    _say(home, other, daemon, "From now on validate payloads with zod, never by hand.")
    assert [one["id"] for one in program.json("proposals")] == [made]


def test_a_proposal_of_a_work_tree_is_reverted_where_its_branch_was_merged(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, program: Program
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    other = _work_tree(project)
    (made,) = _say(home, other, daemon)
    assert program.run("accept", made).returncode == 0
    project.git("merge", "--quiet", "other")
    main = Program(project.root, program.environment)
    main.environment["HOME"] = str(program.home)
    result = main.run("revert", made)
    assert result.returncode == 0
    assert ["zod" in (one / "CLAUDE.md").read_text() for one in (project.root, other)] == [False, True]
    assert main.run("accept", made).returncode == 0
    assert "zod" in (project.root / "CLAUDE.md").read_text()


def test_from_elsewhere_it_is_reverted_in_its_own_work_tree(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, program: Program
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    other = _work_tree(project)
    (made,) = _say(home, other, daemon)
    assert program.run("accept", made).returncode == 0
    main = Program(project.root, program.environment)
    main.environment["HOME"] = str(program.home)
    assert main.run("revert", made).returncode == 0
    assert "zod" not in (other / "CLAUDE.md").read_text()
