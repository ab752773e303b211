"""`skilld sync` and `unsync` on a realistic project."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.live_project import folder_contents
from support.program import Program


def write(root: Path, name: str, about: str, body: str) -> Path:
    """Write a skill of a project; return its file."""
    file = root / ".claude/skills" / name / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\nname: {name}\ndescription: {about}\n---\n\n# {name}\n\n{body}")
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    for name, said in (("notes", "Writes the notes. <script>x</script> Say `@evil`"), ("build", "Builds it.")):
        write(root, name, said, "1. Begin.\n2. End.\n")
    (root / "CLAUDE.md").write_bytes(b"# Shop\r\n\r\nBe kind.")
    (root / "AGENTS.md").symlink_to("CLAUDE.md")
    return root


def test_syncing_all_agents_can_be_undone(program: Program, folder: Path) -> None:
    before = folder_contents(folder)
    assert program.run("sync", "--project", str(folder)).returncode == 2  # for which agents?
    dry = program.run("sync", "--all", "--dry-run", "--project", str(folder))
    assert (dry.returncode, folder_contents(folder)) == (0, before)
    assert f"would be changed: {folder}/CLAUDE.md" in dry.stdout

    document = program.json("sync", "--all", "--project", str(folder))
    assert {Path(one["path"]).name: one["change"] for one in document} == {
        "CLAUDE.md": "changed",  # AGENTS.md is a link to it
        "GEMINI.md": "created",
        "QWEN.md": "created",
        "copilot-instructions.md": "created",
        "skilld.mdc": "created",
    }
    text = (folder / "CLAUDE.md").read_bytes()
    assert text.startswith(b"# Shop\r\n\r\nBe kind.\r\n\r\n<!-- skilld:skills:start")
    assert b"- **notes**: Writes the notes. x Say evil (`.claude/skills/notes/SKILL.md`)\r\n" in text
    assert (folder / "AGENTS.md").is_symlink()
    assert program.run("sync", "--project", str(folder)).stdout == "Nothing to change.\n"

    assert program.run("sync", "build", "--project", str(folder)).returncode == 0
    assert b"notes" not in (folder / "GEMINI.md").read_bytes()
    assert program.run("unsync", "--project", str(folder)).returncode == 0
    assert folder_contents(folder) == before


def test_a_new_claude_md_imports_the_agents_md_that_it_would_hide(program: Program, folder: Path) -> None:
    (folder / "AGENTS.md").unlink()
    (folder / "CLAUDE.md").rename(folder / "AGENTS.md")
    before = folder_contents(folder)
    program.run("sync", "--agent", "claude-code", "--project", str(folder))
    first, second, *_ = (folder / "CLAUDE.md").read_text().splitlines()
    assert (first.startswith("<!-- skilld:skills:start"), second) == (True, "@AGENTS.md")
    loaded = program.json("context", "--project", str(folder), "--agent", "claude-code")
    files = [Path(one["path"]).name for one in loaded["agents"]["claude-code"]["files"]]
    assert files[:2] == ["CLAUDE.md", "AGENTS.md"]
    assert program.run("sync", "--project", str(folder)).stdout == "Nothing to change.\n"
    program.run("sync", "--agent", "claude-code", "--agent", "codex", "--project", str(folder))
    assert "Builds it." not in (folder / "CLAUDE.md").read_text(), "AGENTS.md has the list now"
    assert "Builds it." in (folder / "AGENTS.md").read_text()
    program.run("unsync", "--project", str(folder))
    assert folder_contents(folder) == before


@pytest.mark.parametrize("agent", ["opencode", "pi"])
def test_no_agents_md_is_made_that_would_hide_claude_md(program: Program, folder: Path, agent: str) -> None:
    (folder / "AGENTS.md").unlink()
    before = folder_contents(folder)
    program.run("sync", "--agent", agent, "--project", str(folder))
    assert not (folder / "AGENTS.md").exists()
    assert b"- **notes**" in (folder / "CLAUDE.md").read_bytes()
    program.run("unsync", "--agent", agent, "--project", str(folder))
    assert folder_contents(folder) == before


def test_an_edited_file_stops_it_before_any_is_changed(program: Program, folder: Path) -> None:
    program.run("sync", "--agent", "claude-code", "--agent", "gemini-cli", "--project", str(folder))
    edited = (folder / "GEMINI.md").read_text().replace("Builds it.", "Builds it all.")
    (folder / "GEMINI.md").write_text(edited)
    before = folder_contents(folder)
    for verb in (("sync", "notes"), ("unsync",)):
        result = program.run(*verb, "--project", str(folder))
        assert result.returncode == 1
        assert "GEMINI.md: its skilld block was edited by hand" in result.stderr
        assert folder_contents(folder) == before


def test_a_link_out_of_the_project_is_left_alone(program: Program, folder: Path) -> None:
    (folder.parent / "elsewhere.md").write_text("theirs")
    (folder / "GEMINI.md").symlink_to("../elsewhere.md")
    result = program.run("sync", "--agent", "gemini-cli", "--project", str(folder))
    assert (result.returncode, (folder.parent / "elsewhere.md").read_text()) == (1, "theirs")


def test_a_project_without_skills_is_reported(program: Program, tmp_path: Path) -> None:
    project = tmp_path / "bare"
    project.mkdir()
    output = program.run("sync", "--agent", "claude-code", "--project", str(project)).stdout
    assert output.startswith(f"{project} has no skills to list")
    assert list(project.iterdir()) == []


def test_a_skill_is_said_to_be_left_out_for_the_reason_that_holds(program: Program, folder: Path) -> None:
    write(folder, "draft (old)", "Drafts it.", "1. Begin.\n2. End.\n")
    told = program.run("sync", "--agent", "codex", "--project", str(folder)).stdout
    assert told.splitlines()[1:] == [
        "Left out 1 skill because Markdown could read part of the path as markup: draft (old)",
        "To list them, rename their folders.",
    ]
    alone = program.run("sync", "draft (old)", "--agent", "gemini-cli", "--project", str(folder)).stdout
    assert "personal skills are not listed" not in alone
    for number in range(40):
        write(folder, f"long-{number}", "Does it. " * 30, "1. Begin.\n2. End.\n")
    full = program.run("sync", "--agent", "codex", "--project", str(folder)).stdout
    assert "skills because the block would be too long: " in full
    assert "To choose which to list: skilld sync SKILL...\n" in full
