"""A repository's `.skilld.toml` only restricts; an invalid one forbids everything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.errors import SkilldError
from skilld.skills import opt_out
from support.tops import make_top


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    make_top(root)
    (root / ".claude/skills/deploy").mkdir(parents=True)
    return root


def _skill(project: Path, name: str = "deploy") -> Path:
    return project / ".claude/skills" / name / "SKILL.md"


def _is_left_alone(project: Path, text: str, path: Path, name: str = "") -> bool:
    file = project / ".skilld.toml"
    file.write_text(text)
    why = opt_out(path, name)
    assert why in {None, f"{file} opts out of skilld"}
    return bool(why)


def test_without_a_file_everything_is_allowed(project: Path) -> None:
    (project.parent / ".skilld.toml").write_text("enabled = false")  # above the repository
    assert opt_out(_skill(project), "deploy") is None
    assert opt_out(project) is None


@pytest.mark.parametrize("text", ["", "enabled = true", "never = []\nignore = ['.claude/skill', 'deploy']"])
def test_unlisted_paths_are_allowed(project: Path, text: str) -> None:
    assert not _is_left_alone(project, text, _skill(project), "deploy")
    assert not _is_left_alone(project, text, project / "src")


def test_a_project_can_opt_out(project: Path) -> None:
    assert _is_left_alone(project, "enabled = false", _skill(project), "deploy")
    assert _is_left_alone(project, "enabled = false", project)
    assert _is_left_alone(project, "enabled = false", project / "gone/by/now")


def test_a_skill_can_be_named_as_never_to_touch(project: Path) -> None:
    assert _is_left_alone(project, "never = ['deploy']", _skill(project), "deploy")
    assert not _is_left_alone(project, "never = ['deploy']", _skill(project, "notes"), "notes")
    assert not _is_left_alone(project, "never = ['deploy']", project)


@pytest.mark.parametrize(
    "glob", ["packages/api", "packages/api/", "/packages/api", "./packages/api", "packages/*", "pack*"]
)
def test_ignored_paths_include_everything_below(project: Path, glob: str) -> None:
    text = f"ignore = ['{glob}']"
    assert _is_left_alone(project, text, project / "packages/api/src")
    assert _is_left_alone(project, text, project / "packages/api/.claude/skills/deploy/SKILL.md", "deploy")
    assert not _is_left_alone(project, text, _skill(project), "deploy")


def test_a_nested_file_restricts_further_and_never_less(project: Path) -> None:
    (project / ".skilld.toml").write_text("enabled = false")
    (project / "packages").mkdir()
    (project / "packages/.skilld.toml").write_text("enabled = true")
    assert opt_out(project / "packages") == f"{project}/.skilld.toml opts out of skilld"


@pytest.mark.parametrize(
    ("below", "link"),
    [
        ("../side", "gitdir: {}/.git/worktrees/side\n"),  # a linked work tree
        ("../side", "gitdir: ../project/.git/worktrees/side\n"),
        (".claude/worktrees/side", "gitdir: {}/.git/worktrees/side\n"),
        ("libs/shared", "gitdir: ../../.git/modules/shared\n"),  # a submodule
    ],
)
def test_work_trees_and_submodules_of_a_project_are_left_alone_with_it(project: Path, below: str, link: str) -> None:
    side = Path(os.path.normpath(project / below))
    side.mkdir(parents=True)
    (side / ".git").write_text(link.format(project))
    assert opt_out(side) is None
    assert _is_left_alone(project, "enabled = false", side / ".claude/skills/deploy/SKILL.md", "deploy")
    (project / ".skilld.toml").write_text("ignore = ['packages']")
    assert opt_out(side / "src") is None
    assert bool(opt_out(side / "packages/api")) == ("worktrees" in link)


def test_a_link_into_a_project_that_opts_out_leads_to_it(project: Path) -> None:
    (project / "src").mkdir()
    (project.parent / "short").symlink_to(project / "src")
    assert _is_left_alone(project, "enabled = false", project.parent / "short")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("enabled = 'no'", "enabled must be true or false"),
        ("enabled = ", "it is not valid TOML"),
        ("x = " + "[" * 5000, "recursion"),
        ("model = 'openai/gpt'", "unknown key 'model'; allowed: enabled, ignore, never, targets"),
        ("never = 'deploy'", "never must be a list of strings"),
        ("ignore = [1]", "ignore must be a list of strings"),
        ("#" * 70_000, "it is 70000 bytes; the limit is 65536"),
    ],
)
def test_an_invalid_file_is_an_error(project: Path, text: str, why: str) -> None:
    (project / ".skilld.toml").write_text(text)
    with pytest.raises(SkilldError) as error:
        opt_out(project)
    assert why in error.value.cause
    assert str(project / ".skilld.toml") in error.value.title


def test_a_special_file_is_an_error_and_never_blocks(project: Path) -> None:
    (project / ".skilld.toml").symlink_to("/etc/hostname")
    with pytest.raises(SkilldError):
        opt_out(project)
    (project / ".skilld.toml").unlink()
    os.mkfifo(project / ".skilld.toml")
    with pytest.raises(SkilldError, match="not a regular file"):
        opt_out(project)


@pytest.mark.parametrize("glob", ["release-*", "Release-*", "*notes", "release-note?", "release-[mn]*"])
def test_never_takes_globs_of_names(project: Path, glob: str) -> None:
    text = f"never = ['other', '{glob}']"
    assert _is_left_alone(project, text, _skill(project, "release-notes"), "release-notes")
    assert not _is_left_alone(project, text, _skill(project), "deploy")
    assert not _is_left_alone(project, text, project)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "/deploy",
        ".claude/skills/x",
        "plugin:deploy",
        "!deploy",
        "{deploy,release}",
        "a, b",
        "a ",
        "$a",
        "a-[",
        "a" * 256,
    ],
)
def test_what_can_be_no_skills_name_is_an_error(project: Path, name: str) -> None:
    (project / ".skilld.toml").write_text(f'never = ["deploy", "{name}"]')
    with pytest.raises(SkilldError, match=r"Skipped because of") as error:
        opt_out(project / "src")
    assert "which cannot be a skill's name" in error.value.cause


@pytest.mark.parametrize(
    ("glob", "path", "ignored"),
    [
        ("/", "src", True),
        ("./", "src", True),
        ("**/api", "api", True),
        ("**/api", "packages/api/src", True),
        ("packages/**", "packages", True),
        ("packages/**", "packages2", False),
    ],
)
def test_ignore_takes_globs_as_git_does(project: Path, glob: str, path: str, *, ignored: bool) -> None:
    assert _is_left_alone(project, f"ignore = ['{glob}']", project / path) is ignored


@pytest.mark.parametrize("path", ["", " ", "..", "../other", "packages/../x", "!packages", "~/work", "packages\\\\api"])
def test_what_can_be_no_path_below_the_file_is_an_error(project: Path, path: str) -> None:
    (project / ".skilld.toml").write_text(f'ignore = ["{path}"]')
    with pytest.raises(SkilldError, match=r"Skipped because of") as error:
        opt_out(project / "src")
    assert "which cannot be a path below the file" in error.value.cause
