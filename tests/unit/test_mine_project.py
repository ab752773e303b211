"""Which project a session's folder belongs to: the repository around it, as far as it is on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.mining.sessions import folders_around, main_tree, project_of


def test_folders_of_one_repository_are_one_project(tmp_path: Path) -> None:
    top = tmp_path / "shop"
    (top / ".git").mkdir(parents=True)
    (top / "src/cart").mkdir(parents=True)
    assert project_of(str(top / "src/cart")) == project_of(str(top)) == top
    assert [*folders_around(str(top / "src/cart"))] == [top / "src/cart", top / "src", top]


def test_without_a_repository_the_folder_is_the_project(tmp_path: Path) -> None:
    assert project_of(str(tmp_path)) == tmp_path


@pytest.mark.parametrize("folder", ["", "relative", "/no/such/folder", "/proc/../proc"])
def test_a_folder_not_on_this_machine_is_no_project(folder: str) -> None:
    assert project_of(folder) is None


def test_worktrees_of_one_repository_are_one_project(tmp_path: Path) -> None:
    main, linked = tmp_path / "shop", tmp_path / "elsewhere"
    (main / ".git/worktrees/elsewhere").mkdir(parents=True)
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {main}/.git/worktrees/elsewhere\n", encoding="utf-8")
    assert main_tree(str(linked)) == str(linked), "anybody can claim it: the repository has to know it"
    (main / ".git/worktrees/elsewhere/gitdir").write_text(f"{linked}/.git\n", encoding="utf-8")
    assert main_tree(str(linked)) == main_tree(str(main)) == str(main)
    assert main_tree("/gone/shop/.worktrees/fix/login") == main_tree("/gone/shop/.claude/worktrees/a") == "/gone/shop"
    assert main_tree("/home/ada/.worktrees/shop") == "/home/ada/.worktrees/shop", "not all that lies in a home is one"
