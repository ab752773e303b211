"""`skilld skills archive`, `restore`, and how many of skilld's own skills agents are offered."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.live_project import Project, folder_contents
from support.program import Program

TEXT = "---\nname: {0}\ndescription: About {0}.\n---\n\n- Do it.\n"
EVOLVING = '---\nname: {0}\ndescription: About {0}.\nmetadata:\n  skilld-origin: "mined"\n---\n\n- Do it.\n'


def write(folder: Path, text: str = TEXT) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text.format(folder.name))
    return folder


@pytest.fixture
def program(home: Path) -> Program:
    """Return skilld on the test's home."""
    return Program(home)


@pytest.fixture
def skill_folder(home: Path) -> Path:
    """Return a skill of the person's that no git knows."""
    folder = write(home / ".claude/skills/tidy")
    (folder / "scripts").mkdir()
    (folder / "scripts/run.sh").write_text("#!/bin/sh\n")
    return folder


def refused(program: Program, *arguments: str) -> str:
    result = program.run("skills", *arguments)
    assert result.returncode == 5, f"{result.returncode}: {result.stdout}{result.stderr}"
    return result.stderr


def test_an_archived_skill_is_hidden_and_restored_unchanged(program: Program, home: Path, skill_folder: Path) -> None:
    before = folder_contents(skill_folder)
    result = program.run("skills", "archive", "tidy")
    assert result.returncode == 0, result.stderr
    assert "skilld skills restore tidy" in result.stdout
    assert not skill_folder.exists()
    assert program.json("skills", "list") == []
    (row,) = program.json("skills", "restore")
    assert (row["name"], row["origin"]) == ("tidy", str(skill_folder))
    place = Path(row["folder"])
    assert place.is_relative_to(home / ".local/share/skilld/archive")
    assert folder_contents(place) == before
    assert (place.parent.stat().st_mode & 0o777, place.parents[1].stat().st_mode & 0o777) == (0o700, 0o700)
    assert program.run("skills", "restore", "tidy").returncode == 0
    assert folder_contents(skill_folder) == before
    assert program.json("skills", "restore") == []


def test_a_skill_in_git_is_archived_only_if_fully_committed(program: Program, project: Project) -> None:
    folder = project.skill_path.parent
    assert program.run("skills", "archive", str(folder)).returncode == 0
    assert project.git("status", "--porcelain") == "D .claude/skills/release-notes/SKILL.md"
    assert program.run("skills", "restore", "release-notes").returncode == 0
    assert project.git("status", "--porcelain") == ""


@pytest.mark.parametrize("change", ["edited", "staged", "new file"])
def test_a_skill_with_uncommitted_files_is_not_archived(program: Program, project: Project, change: str) -> None:
    folder = project.skill_path.parent
    if change == "new file":
        (folder / "more.md").write_text("more\n")
    else:
        project.skill_path.write_text(project.skill_path.read_text() + "- More.\n")
    if change == "staged":
        project.git("add", "--all")
    before = folder_contents(folder)
    assert "uncommitted changes" in refused(program, "archive", str(folder))
    assert folder_contents(folder) == before


@pytest.mark.parametrize("verb", ["archive", "delete"])
def test_an_fsmonitor_named_by_a_repository_is_not_run(program: Program, project: Project, verb: str) -> None:
    mark = project.root.parent / "ran"
    project.git("config", "core.fsmonitor", f"touch {mark}; false")
    options = ["--yes"] if verb == "delete" else []
    result = program.run("skills", verb, str(project.skill_path.parent), *options)
    assert (result.returncode, result.stderr, mark.exists()) == (0, "", False)


def test_linked_plugin_and_protected_skills_are_not_archived(
    program: Program, home: Path, project: Project, skill_folder: Path
) -> None:
    (home / ".codex/skills").mkdir(parents=True)
    (home / ".codex/skills/tidy").symlink_to(skill_folder)
    said = refused(program, "archive", "tidy")
    assert "is a symlink to it" in said
    assert "First remove the symlink: rm " in said, "removing it alone hides the skill from nobody else"
    (home / ".codex/skills/tidy").unlink()
    plugin = write(home / ".claude/plugins/cache/x/skills/plugged")
    assert "plugin" in refused(program, "archive", "plugged")
    (project.root / ".skilld.toml").write_text('never = ["release-notes"]\n')
    assert "opts out of skilld" in refused(program, "archive", str(project.skill_path.parent))
    (skill_folder / ".git").mkdir()
    assert "a separate repository" in refused(program, "archive", "tidy")
    assert all(folder.is_dir() for folder in (skill_folder, plugin, project.skill_path.parent))


def test_two_archived_skills_of_one_name_are_told_apart(program: Program, home: Path, skill_folder: Path) -> None:
    other = write(home / ".codex/skills/tidy")
    for folder in (skill_folder, other):
        assert program.run("skills", "archive", str(folder)).returncode == 0
    result = program.run("skills", "restore", "tidy")
    assert result.returncode == 2
    ids = [row["id"] for row in program.json("skills", "restore") if row["origin"] == str(other)]
    assert program.run("skills", "restore", *ids).returncode == 0
    assert other.is_dir()
    assert not skill_folder.exists()


def test_uninstalling_keeps_archived_skills(program: Program, home: Path, skill_folder: Path) -> None:
    before = folder_contents(skill_folder)
    assert program.run("skills", "archive", "tidy").returncode == 0
    (row,) = program.json("skills", "restore")
    result = program.run("uninstall", "--purge", "--yes")
    assert result.returncode == 0, result.stderr
    assert "archive" in result.stdout
    assert folder_contents(Path(row["folder"])) == before
    assert [path.name for path in (home / ".local/share/skilld").iterdir()] == ["archive"]


def test_only_some_evolving_skills_are_named_to_agents(program: Program, project: Project) -> None:
    folder = project.root / ".claude/skills"
    for number in range(4):
        made = write(folder / f"made-{number}", EVOLVING) / "SKILL.md"
        os.utime(made, (1_700_000_000 + number, 1_700_000_000 + number))
    program.environment["SKILLD_LIFECYCLE__MAX_EVOLVING"] = "2"
    at = ("--project", str(project.root))

    def named_skills(*names: str) -> set[str]:
        assert program.run("sync", "--agent", "codex", *at, *names).returncode == 0
        rows = (project.root / "AGENTS.md").read_text().splitlines()
        return {row.split("**")[1] for row in rows if row.startswith("- **")}

    assert named_skills() == {"release-notes", "made-3", "made-2"}
    assert named_skills("made-0") == {"made-0"}, "what is asked for by its name is not counted"
    offered: dict[str, Any] = program.json("suggest", *at)
    assert {row["name"] for row in offered["skills"]} == {"release-notes", "made-3", "made-2"}


@pytest.fixture
def two_copies(home: Path, project: Project) -> Path:
    """Return the folder of a skill that Claude Code sees, of which `.agents/skills` has a copy for others."""
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".codex").mkdir()
    copy = project.root / ".agents/skills/release-notes"
    copy.mkdir(parents=True)
    (copy / "SKILL.md").write_bytes(project.skill_path.read_bytes())
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Copy")
    return project.skill_path.parent


@pytest.mark.parametrize("verb", [("archive",), ("delete", "--yes")])
def test_an_agent_that_loses_its_only_copy_is_named(
    program: Program, project: Project, two_copies: Path, verb: tuple[str, ...]
) -> None:
    result = program.run("skills", verb[0], str(two_copies), *verb[1:])
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stderr.split())
    assert f"Claude Code does not see the other copy, {project.root}/.agents/skills/release-notes." in said
    link = f"ln -s ../../.agents/skills/release-notes {two_copies}"
    assert link in said
    subprocess.run(link.split(), check=True)
    assert (two_copies / "SKILL.md").is_file()


def test_no_agent_is_named_that_sees_the_other_copy_or_is_not_here(
    program: Program, project: Project, two_copies: Path
) -> None:
    other = project.root / ".agents/skills/release-notes"
    (two_copies.parents[1]).rename(project.root / ".cursor")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Move")
    result = program.run("skills", "archive", str(project.root / ".cursor/skills/release-notes"))
    assert (result.returncode, result.stderr) == (0, ""), "Cursor is not here"
    assert other.is_dir()


def test_consolidate_suggests_a_link_where_an_agent_would_lose_its_copy(
    program: Program, project: Project, two_copies: Path
) -> None:
    (row,) = program.json("consolidate", "--dry-run", "--project", str(project.root))
    assert row["what"] == "covered"
    kept = Path(row["keep"]["path"]).parent
    title = "Codex" if kept == two_copies else "Claude Code"
    said = " ".join(program.run("consolidate", "--dry-run", "--project", str(project.root)).stdout.split())
    away = Path(row["away"]["path"]).parent
    assert f"{title} would lose the other skill. To put a link in its place: skilld skills archive" in said
    assert f"&& ln -s {os.path.relpath(kept, away.parent)} {away}" in said
    assert [one["what"] for one in row["lost"]] == [{"Codex": "codex", "Claude Code": "claude-code"}[title]]
