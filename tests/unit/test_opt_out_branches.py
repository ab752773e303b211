"""A `.skilld.toml` on the default branch counts while another branch is checked out."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from skilld.errors import SkilldError
from skilld.skills import opt_out

OUT = "enabled = false\n"


def _git(folder: Path, *arguments: str) -> str:
    own = ["-c", "user.name=P", "-c", "user.email=p@example.org", "-c", "init.defaultBranch=main"]
    command = ["git", *own, "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _commit(folder: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text)
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "change")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with the branches main and feature, which is checked out."""
    root = tmp_path / "project"
    root.mkdir()
    _git(root, "init", "--quiet")
    _commit(root, {"src/api/a.txt": "a\n"})
    _git(root, "branch", "feature")
    _git(root, "checkout", "--quiet", "feature")
    return root


def _say_on(root: Path, branch: str, files: dict[str, str | None]) -> None:
    _git(root, "checkout", "--quiet", branch)
    _commit(root, files)
    _git(root, "checkout", "--quiet", "feature")


def test_the_default_branch_speaks_for_an_older_one(project: Path) -> None:
    assert opt_out(project / "src") is None
    _say_on(project, "main", {".skilld.toml": OUT})
    assert not (project / ".skilld.toml").exists()
    assert opt_out(project / "src") == f"{project}/.skilld.toml on the branch main opts out of skilld"
    _git(project, "pack-refs", "--all")
    assert opt_out(project / "src")
    _say_on(project, "main", {".skilld.toml": None})
    assert opt_out(project / "src") is None


def test_only_what_it_says_about_that_path_counts(project: Path) -> None:
    _say_on(project, "main", {".skilld.toml": "never = ['deploy']\n", "src/api/.skilld.toml": OUT})
    assert opt_out(project / "src") is None
    assert opt_out(project / "src/api/inner")
    assert opt_out(project / ".claude/skills/deploy/SKILL.md", "deploy")
    assert opt_out(project / ".claude/skills/notes/SKILL.md", "notes") is None


def test_variables_of_git_lead_nowhere_else(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _say_on(project, "main", {".skilld.toml": OUT})
    monkeypatch.setenv("GIT_DIR", str(project.parent))
    assert opt_out(project)


def test_a_default_branch_that_is_made_later_counts(project: Path) -> None:
    _git(project, "branch", "--move", "main", "first")
    assert opt_out(project) is None
    _say_on(project, "first", {".skilld.toml": OUT})
    assert opt_out(project) is None
    _git(project, "branch", "main", "first")
    assert opt_out(project) == f"{project}/.skilld.toml on the branch main opts out of skilld"


def test_what_was_fetched_counts_before_it_is_merged(project: Path, tmp_path: Path) -> None:
    _git(project, "checkout", "--quiet", "main")
    clone = tmp_path / "clone"
    _git(tmp_path, "clone", "--quiet", str(project), str(clone))
    assert opt_out(clone) is None
    _commit(project, {".skilld.toml": OUT})
    assert opt_out(clone) is None
    _git(clone, "fetch", "--quiet")
    assert opt_out(clone) == f"{clone}/.skilld.toml on the branch origin/main opts out of skilld"


def test_no_other_branch_speaks_for_the_repository(project: Path) -> None:
    _git(project, "branch", "proposal", "main")
    _say_on(project, "proposal", {".skilld.toml": OUT})
    assert opt_out(project) is None


def test_the_work_tree_of_the_default_branch_speaks_for_itself(project: Path) -> None:
    _say_on(project, "main", {".skilld.toml": OUT})
    _git(project, "checkout", "--quiet", "main")
    assert opt_out(project) == f"{project}/.skilld.toml opts out of skilld"
    (project / ".skilld.toml").unlink()
    assert opt_out(project) is None


@pytest.mark.parametrize("text", ["enabled = maybe\n", "x = '" + "x" * 70_000 + "'\n", "#\0\n"])
def test_what_cannot_be_read_there_forbids_everything(project: Path, text: str) -> None:
    _say_on(project, "main", {".skilld.toml": text, "src/.skilld.toml": "enabled = true\n"})
    with pytest.raises(SkilldError, match=r"\.skilld\.toml on the branch main: it is not"):
        opt_out(project / "src")


def test_linked_work_trees_and_submodules_have_default_branches(project: Path, tmp_path: Path) -> None:
    _git(project, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "linked"), "feature")
    outer = tmp_path / "outer"
    outer.mkdir()
    _git(outer, "init", "--quiet")
    _git(outer, "submodule", "--quiet", "add", "--branch", "feature", str(project), "inner")
    assert (opt_out(tmp_path / "linked"), opt_out(outer / "inner")) == (None, None)
    _say_on(project, "main", {".skilld.toml": OUT})
    assert opt_out(tmp_path / "linked/src")
    _git(project, "checkout", "--quiet", "main")
    _git(outer / "inner", "fetch", "--quiet")
    _git(outer / "inner", "remote", "set-head", "origin", "main")
    assert opt_out(outer / "inner/src")


def test_git_runs_once_until_a_ref_changes(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _say_on(project, "main", {".skilld.toml": "never = ['deploy']\n"})
    real = shutil.which("git")
    _put_on_path(tmp_path / "bin", f'echo "$*" >> {tmp_path}/ran\nexec {real} "$@"\n', monkeypatch)

    def runs() -> int:
        return len((tmp_path / "ran").read_text().splitlines()) if (tmp_path / "ran").exists() else 0

    for _ in range(3):
        assert opt_out(project / "src") is None
    assert runs() == 1
    _commit(project, {"src/b.txt": "b\n"})
    before = runs()
    assert opt_out(project / "src") is None
    assert runs() == before, "the checked-out branch is not asked about"
    _git(project, "branch", "--force", "main", "main~1")
    before = runs()
    assert opt_out(project / "src") is None
    assert runs() == before + 1


@pytest.mark.parametrize("script", ["exit 128", "echo refs/heads/main:.skilld.toml missing; kill -9 $$"])
def test_a_git_that_does_not_answer_is_asked_again(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    _say_on(project, "main", {"src/.skilld.toml": OUT})
    with monkeypatch.context() as patch:
        _put_on_path(tmp_path / "bin", script, patch)
        assert opt_out(project / "src") is None
    assert opt_out(project / "src")


def test_a_repository_that_could_not_be_read_is_looked_at_again(project: Path, tmp_path: Path) -> None:
    _say_on(project, "main", {".skilld.toml": OUT})
    (project / ".git").rename(tmp_path / "kept")
    (project / ".git").symlink_to(project / ".git")
    assert opt_out(project) is None
    (project / ".git").unlink()
    (tmp_path / "kept").rename(project / ".git")
    assert opt_out(project)


def _put_on_path(folder: Path, script: str, patch: pytest.MonkeyPatch) -> None:
    """Have a shell script run as git."""
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_nothing_of_a_hostile_repository_runs(project: Path, tmp_path: Path) -> None:
    _say_on(project, "main", {".skilld.toml": OUT, ".gitattributes": "* filter=x diff=x\n"})
    for name in ("core.fsmonitor", "filter.x.smudge", "filter.x.clean", "diff.x.textconv", "core.hooksPath"):
        _git(project, "config", name, f"touch {tmp_path}/ran")
    assert opt_out(project)
    assert not (tmp_path / "ran").exists()


def test_a_broken_repository_has_nothing_to_say(project: Path) -> None:
    _say_on(project, "main", {".skilld.toml": OUT})
    (project / ".git/refs/heads/main").write_text("0" * 40 + "\n")
    assert opt_out(project) is None
    (project / ".git/HEAD").unlink()
    assert opt_out(project) is None
