"""Where a work tree begins: a folder that is only called `.git`, which sandboxes leave behind, is nothing to git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.git.same_project import is_same_file, main_path, project_root
from skilld.git.top import find_top, folders_to_top, is_top
from skilld.jobs.placing import is_personal_file
from skilld.mining.sessions import folders_around
from skilld.report.gather import project_of
from skilld.skills import Places, Unusable, find
from skilld.skills.project_config import opt_out
from skilld.types import SkillRef
from support.tops import make_top


@pytest.fixture
def below(tmp_path: Path) -> Path:
    """Return a folder with an empty `.git`, in a work tree."""
    make_top(tmp_path / "shop")
    (tmp_path / "shop/web/.git").mkdir(parents=True)
    return tmp_path / "shop/web"


def test_a_folder_is_a_top_by_its_head_or_git_file(tmp_path: Path) -> None:
    for name in ("main", "old", "empty", "linked", "none"):
        (tmp_path / name).mkdir()
    make_top(tmp_path / "main")
    (tmp_path / "old/.git").mkdir()
    (tmp_path / "old/.git/HEAD").symlink_to("refs/heads/main")  # as git once wrote it, before the first commit
    (tmp_path / "empty/.git").mkdir()
    (tmp_path / "linked/.git").write_text("gitdir: ../main/.git/worktrees/linked\n")
    assert {path.name for path in tmp_path.iterdir() if is_top(path)} == {"main", "old", "linked"}
    assert not is_top(tmp_path / "linked/.git"), "a file"
    assert not is_top("/no\0where")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may see everything")
def test_a_git_folder_that_cannot_be_seen_into_counts(tmp_path: Path) -> None:
    make_top(tmp_path)
    (tmp_path / ".git").chmod(0o000)
    try:
        assert is_top(tmp_path)
    finally:
        (tmp_path / ".git").chmod(0o700)


def test_an_empty_git_folder_is_passed_on_the_way_up(below: Path) -> None:
    top = below.parent
    assert find_top(below / "src") == find_top(top) == top
    assert [*folders_to_top(below / "src")] == [below / "src", below, top]
    (below / "src").mkdir()
    assert [*folders_around(str(below / "src"))] == [below / "src", below, top]
    assert project_of(str(below / "src")) == str(top)
    assert project_root(below / "src") == top
    assert is_personal_file(SkillRef("notes", str(top / "skills/notes/SKILL.md")), str(below)) is False


def test_a_file_below_an_empty_git_folder_is_still_one_of_a_linked_work_tree(tmp_path: Path) -> None:
    make_top(tmp_path / "shop")
    git_dir = tmp_path / "shop/.git/worktrees/side"
    git_dir.mkdir(parents=True)
    (git_dir / "commondir").write_text("../..\n")
    (tmp_path / "side/web/.git").mkdir(parents=True)
    (tmp_path / "side/.git").write_text(f"gitdir: {git_dir}\n")
    assert main_path(str(tmp_path / "side/web/AGENTS.md")) == str(tmp_path / "shop/web/AGENTS.md")
    assert {project_of(str(tmp_path / name)) for name in ("shop", "side", "side/web")} == {str(tmp_path / "shop")}


def test_an_empty_git_folder_does_not_make_a_skill_the_persons(tmp_path: Path) -> None:
    file = tmp_path / "market/office/skills/notes/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: notes\n---\n# Notes\n")
    places = Places((".claude/skills",), (tmp_path / "home/.claude/skills",))
    (tmp_path / ".git").mkdir()
    found = find("notes", str(file), str(tmp_path), places)
    assert isinstance(found, Unusable)
    assert found.why == "it is not in a known skills folder"
    make_top(tmp_path)
    assert find("notes", str(file), str(tmp_path), places) == SkillRef("notes", str(file))


def test_an_empty_git_folder_does_not_hide_that_the_project_around_it_opts_out(below: Path) -> None:
    (below.parent / ".skilld.toml").write_text("enabled = false\n")
    assert opt_out(below / ".claude/skills/notes/SKILL.md") == f"{below.parent}/.skilld.toml opts out of skilld"


def test_a_file_of_a_damaged_repository_is_no_other_file(tmp_path: Path) -> None:
    for name, pointer in (("damaged", "gitdir: " + "x" * 5000), ("whole", "gitdir: /nowhere")):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".git").write_text(pointer)
    paths = [str(tmp_path / name / "CLAUDE.md") for name in ("damaged", "whole")]
    assert [is_same_file(paths[0], paths[1]), is_same_file(paths[1], paths[0])] == [False, False]
    assert is_same_file(paths[0], paths[0])
