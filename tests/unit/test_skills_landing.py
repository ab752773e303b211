"""Where a new skill goes: the project or the user, never over a skill or out through a link."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.errors import RefusedError, SkilldError
from skilld.skills import Places
from skilld.skills.write import new_skill_path

CLAUDE, CODEX = "claude-code", "codex"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def _choose_destination(
    home: Path, projects: list[Path], agents: tuple[str, ...] = (CLAUDE,), name: str = "notes", claude: str = ".claude"
) -> Path:
    places = {
        CLAUDE: Places((".claude/skills",), (home / claude / "skills",)),
        CODEX: Places((".agents/skills", ".codex/skills"), (home / ".codex/skills", home / ".agents/skills")),
    }
    return new_skill_path(name, projects, agents, places, home)


@pytest.mark.parametrize(
    ("standing", "agents", "folder"),
    [
        ((), (CLAUDE,), ".claude/skills"),
        ((), (CODEX,), ".agents/skills"),
        ((), (), ".claude/skills"),
        ((), (CODEX, CLAUDE, CODEX), ".agents/skills"),
        ((".claude/skills", ".agents/skills"), (CODEX, CLAUDE, CODEX), ".agents/skills"),
        ((".claude/skills", ".agents/skills"), (CLAUDE, CLAUDE, CODEX), ".claude/skills"),
        ((".codex/skills",), (CODEX,), ".codex/skills"),
        ((".claude/skills",), (CODEX,), ".claude/skills"),
    ],
)
def test_a_skill_from_one_project_goes_to_that_project(
    home: Path, project: Path, standing: tuple[str, ...], agents: tuple[str, ...], folder: str
) -> None:
    for name in standing:
        (project / name).mkdir(parents=True)
    assert _choose_destination(home, [project, project], agents) == project / folder / "notes/SKILL.md"


def test_any_other_skill_goes_to_the_user(home: Path, project: Path, tmp_path: Path) -> None:
    assert _choose_destination(home, []) == home / ".claude/skills/notes/SKILL.md"
    assert _choose_destination(home, [home]) == home / ".claude/skills/notes/SKILL.md"
    assert _choose_destination(home, [project, tmp_path / "other"], (CODEX,)) == home / ".agents/skills/notes/SKILL.md"
    assert _choose_destination(home, [], claude="elsewhere") == home / "elsewhere/skills/notes/SKILL.md"


def test_a_link_within_the_project_is_resolved(home: Path, project: Path) -> None:
    (project / ".agents/skills").mkdir(parents=True)
    (project / ".claude").symlink_to(".agents")
    assert _choose_destination(home, [project]) == project / ".agents/skills/notes/SKILL.md"


@pytest.mark.parametrize("link", [".claude", ".claude/skills"])
def test_a_link_out_of_the_root_is_refused(home: Path, project: Path, tmp_path: Path, link: str) -> None:
    (tmp_path / "outside/skills").mkdir(parents=True)
    for root in (home, project):
        (root / link).parent.mkdir(exist_ok=True)
        (root / link).symlink_to(tmp_path / "outside")
    for projects in ([project], []):
        with pytest.raises(RefusedError, match="symlink that points outside"):
            _choose_destination(home, projects)


@pytest.mark.parametrize("standing", [".claude/skills/notes", ".claude/skills/Notes", ".agents/skills/notes"])
def test_an_existing_skill_is_never_overwritten(home: Path, project: Path, standing: str) -> None:
    for root in (home, project):
        (root / standing).mkdir(parents=True)
    for projects in ([project], []):
        with pytest.raises(SkilldError, match="called notes"):
            _choose_destination(home, projects)


def test_a_dangling_link_counts_as_existing(home: Path, project: Path) -> None:
    (project / ".claude/skills").mkdir(parents=True)
    (project / ".claude/skills/notes").symlink_to("gone")
    with pytest.raises(SkilldError, match="called notes"):
        _choose_destination(home, [project])


@pytest.mark.parametrize("name", ["", "..", "a/b", "No", "a--b", "x" * 65])
def test_an_invalid_name_is_refused(home: Path, name: str) -> None:
    with pytest.raises(SkilldError, match="not a valid skill name"):
        _choose_destination(home, [], name=name)


def test_a_file_in_place_of_the_folder_is_refused(home: Path, project: Path, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="not a folder that you own"):
        _choose_destination(home, [tmp_path / "gone"])
    (project / ".claude").write_text("a file")
    with pytest.raises(RefusedError, match="not a folder that you own"):
        _choose_destination(home, [project])


def test_an_opted_out_project_is_refused(home: Path, project: Path) -> None:
    (project / ".skilld.toml").write_text('never = ["notes"]\n')
    with pytest.raises(RefusedError, match="opts out of skilld"):
        _choose_destination(home, [project])
    assert _choose_destination(home, [project], name="other") == project / ".claude/skills/other/SKILL.md"
