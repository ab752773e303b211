"""R3: repositories that cannot be written to for now, in all sorts of ways. Absent for now is not gone."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from faults.clock import Clock
from faults.model import learned_rules, quotes, teach
from support.live_project import Project
from support.program import Program
from support.session import LASTING
from support.waiting import wait_for

HOUR = 3600.0


@dataclass(frozen=True)
class State:
    """A state of the repository, how it is undone, and what the doctor says of it."""

    make: Callable[[Project], object]
    undo: Callable[[Project], object]
    detail: str
    remedy: str
    check: str = "repositories"
    kept_out: bool = False


def _set_modes(project: Project, mode: str) -> None:
    subprocess.run(["chmod", "-R", mode, project.root / ".git"], check=True)


def _separate_git_directory(project: Project) -> None:
    project.git("init", "--quiet", "--separate-git-dir", str(project.root.with_name("apart.git")))


def _join_git_directory(project: Project) -> None:
    apart_dir = project.root.with_name("apart.git")
    project.git("--git-dir", str(apart_dir), "config", "core.worktree", str(project.root))


def _link_refs(project: Project) -> None:
    refs = project.root / ".git/refs"
    refs.rename(refs.with_name("real-refs")).parent.joinpath("refs").symlink_to("real-refs")


def _unlink_refs(project: Project) -> None:
    refs = project.root / ".git/refs"
    refs.unlink()
    refs.with_name("real-refs").rename(refs)


def _exclude(project: Project) -> None:
    (project.root / "docs").mkdir(exist_ok=True)
    (project.root / "docs/a.md").write_text("a\n")
    project.git("add", "docs")
    project.git("commit", "--quiet", "--message", "Add docs")
    project.git("sparse-checkout", "set", "docs")
    assert not project.skill_path.exists()


def _move_away(project: Project) -> None:
    (project.root / ".git/refs").rename(project.root / ".git/no-refs")


def _move_back(project: Project) -> None:
    (project.root / ".git/no-refs").rename(project.root / ".git/refs")


STATES = {
    "an unknown extension": State(
        lambda project: project.git("config", "extensions.frobnicate", "true"),
        lambda project: project.git("config", "--unset", "extensions.frobnicate"),
        "extensions.frobnicate",
        "config --unset extensions.frobnicate",
    ),
    "a branch named skilld": State(
        lambda project: project.git("branch", "skilld"),
        lambda project: project.git("branch", "--move", "skilld", "mine"),
        "conflicts with skilld/staging",
        " branch --move skilld NEWNAME",
    ),
    "linked refs": State(_link_refs, _unlink_refs, "is a symlink", "Replace "),
    "a separate git directory": State(
        _separate_git_directory, _join_git_directory, "is not the work tree of", "config core.worktree"
    ),
    "a sparse checkout without the skill": State(
        _exclude,
        lambda project: project.git("sparse-checkout", "add", ".claude"),
        "its SKILL.md is gone",
        "skilld will then retry on its own",
        check="skills",
    ),
    "a read-only skill": State(
        lambda project: project.skill_path.chmod(0o444),
        lambda project: project.skill_path.chmod(0o644),
        "its SKILL.md is read-only",
        "chmod u+w",
        check="skills",
        kept_out=True,
    ),
    "a read-only git directory": State(
        lambda project: _set_modes(project, "a-w"),
        lambda project: _set_modes(project, "u+w"),
        "insufficient permission",
        "",
        kept_out=True,
    ),
    "a broken git directory": State(_move_away, _move_back, "git does not recognize", " status"),
}


QUICK = {"a separate git directory", "a sparse checkout without the skill", "a read-only git directory"}


def _doctor_check(program: Program, check: str) -> dict[str, str]:
    checks = json.loads(program.run("doctor", "--json").stdout)["checks"]
    return next(one for one in checks if one["name"] == check)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in STATES]
)
def test_r3_a_refused_repository_is_checked_again_once_its_cause_is_gone(
    home: Path, project: Project, program: Program, name: str
) -> None:
    state = STATES[name]
    clock = Clock(program)
    program.environment["SKILLD_WORKER__ATTEMPTS"] = "1"
    program.run("run", "--once")
    state.make(project)
    teach(home, project)
    if state.kept_out:
        program.keep_out()
    for _ in range(2):
        program.run("run", "--once")
        clock.pass_by(2 * HOUR)
    said = _doctor_check(program, state.check)
    program.is_kept_out = False
    assert quotes(program) == []
    assert learned_rules(program) == [LASTING]
    assert said["verdict"] == "warn"
    assert state.detail in said["detail"]
    assert state.remedy in said["remedy"]
    assert not list((home / ".local/share/skilld").rglob("HEAD")), "skilld's own repository is no place for it"
    state.undo(project)
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    assert proposal["repo"] == str(project.root)
    assert quotes(program) == [LASTING]
    assert program.json("learnings") == []
    assert _doctor_check(program, state.check)["verdict"] == "ok"


def test_r3_words_of_a_project_on_a_disk_that_was_away_are_proposed(
    home: Path, project: Project, program: Program
) -> None:
    program.run("run", "--once")
    away = project.root.with_name("away")
    project.root.rename(away)
    teach(home, project)
    program.run("run", "--once")
    (learning,) = program.json("learnings")
    assert learning["why_not"] == "the session's folder no longer exists"
    assert _doctor_check(program, "repositories")["verdict"] == "ok", "most folders that are gone are deleted"
    away.rename(project.root)
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    assert (proposal["skill"], quotes(program)) == ("release-notes", [LASTING])
    assert program.json("learnings") == []


def test_r3_a_running_daemon_notices_that_the_cause_is_gone(home: Path, project: Project, program: Program) -> None:
    project.git("branch", "skilld")
    with program.daemon():
        teach(home, project)
        wait_for("the refusal", lambda: program.json("learnings"), every=0.2)
        project.git("branch", "--move", "skilld", "mine")
        wait_for("the proposal", lambda: quotes(program) == [LASTING], every=0.2)
    assert program.json("learnings") == []


def test_r3_retry_resumes_refused_batches(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    project.git("branch", "skilld")
    teach(home, project)
    program.run("run", "--once")
    assert program.json("status")["batches"] == {"pending": 0, "done": 1, "parked": 0}
    project.git("branch", "--move", "skilld", "mine")
    assert "1 batch will be retried " in program.run("retry").stdout
    program.run("run", "--once")
    assert quotes(program) == [LASTING]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to another")
def test_r3_a_repository_of_another_user_is_named_with_the_remedy(
    home: Path, project: Project, program: Program
) -> None:
    program.run("run", "--once")
    teach(home, project)
    for path in (project.root, project.root / ".git"):
        os.chown(path, 12345, 12345)
    program.run("run", "--once")
    said = _doctor_check(program, "repositories")
    assert "belongs to another user" in said["detail"]
    assert "safe.directory" in said["remedy"]
    program.environment.pop("GIT_CONFIG_GLOBAL", None)
    with (home / ".gitconfig").open("a") as file:
        file.write(f"[safe]\n\tdirectory = {project.root}\n")
    program.run("run", "--once")
    assert quotes(program) == [LASTING]


@pytest.mark.parametrize(
    "part",
    [
        ".git",
        ".git/refs/heads/main",
        *(pytest.param(f".git/{name}", marks=pytest.mark.slow) for name in ("HEAD", "refs", "config", "objects")),
    ],
)
def test_r3_a_momentarily_unreadable_git_directory_is_not_missing(
    home: Path, project: Project, program: Program, part: str
) -> None:
    program.run("run", "--once")
    teach(home, project)
    path = project.root / part
    before = path.stat().st_mode
    path.chmod(0)
    program.keep_out()
    program.run("run", "--once")
    program.is_kept_out = False
    path.chmod(before)
    assert program.json("proposals", "--state", "all") == []
    assert not list((home / ".local/share/skilld").rglob("HEAD"))
    Clock(program).pass_by(HOUR)
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    assert proposal["repo"] == str(project.root)
