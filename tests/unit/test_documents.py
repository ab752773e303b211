"""The files a batch is judged against: our own, of this project, never through a link out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.errors import SkilldError
from skilld.pipeline.documents import load_documents, standing_instructions
from skilld.redact.key import load_key
from skilld.types import SkillRef
from support.rows import for_each


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    return root


def test_skills_are_numbered_in_reading_order(tmp_path: Path) -> None:
    for name, data in (("a", b"# A\n"), ("b", b"\xff\xfe"), ("c", b"\xef\xbb\xbf# C\r\n")):
        (tmp_path / name).write_bytes(data)
    refs = [SkillRef(name, str(tmp_path / name)) for name in ("a", "gone", "b", "c")]
    loaded, left_out = load_documents(refs)
    assert [(item.doc.number, item.doc.name, item.doc.text) for item in loaded] == [
        (1, "a", "# A\n"),
        (2, "c", "# C\r\n"),
    ]
    assert loaded[1].data == b"\xef\xbb\xbf# C\r\n"
    assert left_out == [("gone", "its SKILL.md cannot be read"), ("b", "its SKILL.md cannot be read")]


def instructions(cwd: str | Path | None, home: Path = Path("/nowhere"), agent: str = "claude-code") -> str:
    return standing_instructions(agent, None if cwd is None else str(cwd), str(home), {})


def test_the_nearest_instructions_come_first_and_the_users_last(project: Path, tmp_path: Path) -> None:
    (project / "CLAUDE.md").write_text("root")
    (project / "src/CLAUDE.md").write_text("near")
    (project / ".claude").mkdir()
    (project / ".claude/CLAUDE.md").write_text("hidden")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/CLAUDE.md").write_text("mine")
    assert instructions(project / "src", tmp_path) == "near\n\nhidden\n\nroot\n\nmine"
    assert instructions(project, tmp_path) == "hidden\n\nroot\n\nmine"
    assert instructions(project, tmp_path, "codex") == ""


def test_files_above_the_project_count_only_in_the_users_home(project: Path, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("above")
    assert instructions(project, tmp_path) == "above"
    assert instructions(project, tmp_path / "elsewhere") == ""


def test_links_inside_the_project_are_followed_and_others_are_not(project: Path) -> None:
    (project / "AGENTS.md").write_text("shared")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    assert instructions(project, project.parent) == "shared"
    secret = project.parent / "credentials"
    secret.write_text("secret")
    (project / "CLAUDE.md").unlink()
    (project / "CLAUDE.md").symlink_to(secret)
    assert "secret" not in instructions(project, project.parent)
    (project / ".claude").symlink_to(project.parent)
    (project.parent / "CLAUDE.md").write_text("elsewhere")
    assert "elsewhere" not in instructions(project)


def test_a_named_pipe_does_not_block(project: Path) -> None:
    os.mkfifo(project / "CLAUDE.md")
    assert instructions(project) == ""


@for_each("cwd", [None, "", "relative", "/a/../b", "/a\0b", "/\ud800", "/" + "x" * 5000, "/nowhere"])
def test_a_missing_folder_has_no_instructions(cwd: str | None) -> None:
    assert instructions(cwd) == ""


def test_a_huge_file_is_read_only_in_part(project: Path) -> None:
    (project / "CLAUDE.md").write_bytes(b"x" * 1_000_000)
    assert len(instructions(project)) == 64 * 1024


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_another_users_instructions_are_not_read(project: Path) -> None:
    (project / "CLAUDE.md").write_text("theirs")
    os.chown(project / "CLAUDE.md", 12345, 12345)
    assert instructions(project) == ""


def test_the_redaction_key_is_created_once_and_is_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        key = load_key(tmp_path / "redaction.key")
    finally:
        os.umask(before)
    assert len(key) == 32
    assert load_key(tmp_path / "redaction.key") == key
    assert [path.name for path in tmp_path.iterdir()] == ["redaction.key"]
    assert (tmp_path / "redaction.key").stat().st_mode & 0o777 == 0o600


def test_a_damaged_key_is_reported_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "redaction.key").write_bytes(b"short")
    with pytest.raises(SkilldError) as error:
        load_key(tmp_path / "redaction.key")
    assert error.value.remedy == f"Delete {tmp_path / 'redaction.key'}; skilld will create a new one."
    with pytest.raises(SkilldError, match="Cannot use the redaction key"):
        load_key(tmp_path / "missing/redaction.key")
