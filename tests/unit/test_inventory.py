"""All skills agents see, each once, with what their front matter says."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from skilld.skills import Places, Skill, inventory
from skilld.skills.spec import FrontMatter, read_front
from support.rows import for_each
from support.tables import table_rows


def _skill(folder: Path, description: str = "Writes notes.") -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: {description}\n---\n\n# Notes\n")
    return folder / "SKILL.md"


def _places(home: Path) -> dict[str, Places]:
    return {
        "claude-code": Places((".claude/skills",), (home / ".claude/skills",)),
        "codex": Places((".agents/skills",), (home / ".agents/skills",)),
    }


def _summaries(skills: list[Skill]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(skill.source.value, skill.name, skill.agents) for skill in skills]


def test_skills_are_listed_by_source_and_name(tmp_path: Path) -> None:
    project = tmp_path / "project"
    _skill(project / ".claude/skills/notes")
    _skill(project / ".agents/skills/build")
    _skill(tmp_path / ".claude/skills/mine")
    _skill(tmp_path / ".claude/plugins/cache/shop/tool/1.0/skills/bought")
    plugins = {"claude-code": [tmp_path / ".claude/plugins"]}
    found = inventory(_places(tmp_path), [project, project], plugins)
    assert _summaries(found) == [
        ("project", "build", ("codex",)),
        ("project", "notes", ("claude-code",)),
        ("user", "mine", ("claude-code",)),
        ("plugin", "bought", ("claude-code",)),
    ]
    assert [skill.project for skill in found] == [project, project, None, None]
    assert found[1].front == FrontMatter("notes", "Writes notes.")


def test_links_to_one_skill_are_one_skill_of_several_agents(tmp_path: Path) -> None:
    project = tmp_path / "project"
    real = _skill(project / ".agents/skills/notes")
    (project / ".claude").mkdir()
    (project / ".claude/skills").symlink_to("../.agents/skills")
    (skill,) = inventory(_places(tmp_path), [project])
    assert (skill.path, skill.agents) == (real, ("claude-code", "codex"))


def test_other_files_are_left_out(tmp_path: Path) -> None:
    home = tmp_path / ".claude/skills"
    secret = tmp_path / "secret"
    secret.write_text("---\nname: secret\n---\n")
    for name in ("link", "pipe", "empty", "loop"):
        (home / name).mkdir(parents=True)
    (home / "link/SKILL.md").symlink_to(secret)
    os.mkfifo(home / "pipe/SKILL.md")
    (home / "loop/SKILL.md").symlink_to("SKILL.md")
    (home / ".hidden").mkdir()
    (home / "file").write_text("")
    assert inventory(_places(tmp_path), [tmp_path / "gone"]) == []


def test_a_skill_written_by_skilld_is_evolving(tmp_path: Path) -> None:
    folder = tmp_path / ".claude/skills/mined"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text('---\nname: mined\nmetadata:\n  skilld-origin: "mined"\n---\n')
    (skill,) = inventory(_places(tmp_path))
    assert skill.evolving


def test_a_description_is_read_in_every_yaml_style() -> None:
    for text, description in table_rows("inventory", "descriptions"):
        assert read_front(f"---\n{text}\n---\n# Body\n").description == description


def test_metadata_is_read_one_level_deep() -> None:
    text = "---\nmetadata:\n    author: Pat\n    version: '2'\n    deep:\n      author: Not this\nname: x\n---\n"
    assert read_front(text).metadata == {"author": "Pat", "version": "2", "deep": "author: Not this"}


@for_each("text", ["", "# No front matter", "---\nname: never closed", "\n---\nname: too late\n---\n"])
def test_without_front_matter_there_is_no_metadata(text: str) -> None:
    assert read_front(text) == FrontMatter()


@given(st.text(alphabet=st.sampled_from("ab:-#'\"\\|> \n\t{}[]&*!é"), max_size=200))
def test_no_front_matter_raises_an_error(text: str) -> None:
    read_front(f"---\n{text}\n---\n")
