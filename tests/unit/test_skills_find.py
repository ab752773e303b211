"""From a path in a log to a checked SKILL.md: every way out of the known skill folders is closed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from skilld.skills import Places, Unusable, find, read
from skilld.skills.find import true_spelling
from skilld.types import SkillRef
from support.tops import make_top

TEXT = "---\nname: notes\n---\n# Notes\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    make_top(root)
    return root


@pytest.fixture
def places(tmp_path: Path) -> Places:
    own = tmp_path / "home/.claude/skills"
    own.mkdir(parents=True)
    return Places((".claude/skills",), (own,))


def _skill(folder: Path, text: str = TEXT) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(text)
    return folder / "SKILL.md"


def _reason(found: SkillRef | Unusable) -> str:
    assert isinstance(found, Unusable), found
    return found.why


def test_a_name_is_searched_from_the_working_folder_up_to_the_repository(project: Path, places: Places) -> None:
    path = _skill(project / ".claude/skills/notes")
    deep = project / "src/deep"
    deep.mkdir(parents=True)
    assert find("notes", None, str(deep), places) == SkillRef("notes", str(path))


def test_the_nearest_skill_wins_and_nothing_above_the_repository_is_searched(project: Path, places: Places) -> None:
    _skill(project.parent / ".claude/skills/notes")
    assert _reason(find("notes", None, str(project), places)) == "its SKILL.md was not found"
    outer = _skill(project / ".claude/skills/notes")
    inner = _skill(project / "web/.claude/skills/notes")
    assert find("notes", None, str(project / "web"), places) == SkillRef("notes", str(inner))
    assert find("notes", None, str(project), places) == SkillRef("notes", str(outer))


def test_a_name_without_a_project_is_found_in_the_users_folder(places: Places) -> None:
    path = _skill(places.absolute[0] / "notes")
    assert find("notes", None, None, places) == SkillRef("notes", str(path))
    assert find("notes", None, "/nowhere/at/all", places) == SkillRef("notes", str(path))


def test_a_path_is_used_as_it_is(project: Path, places: Places) -> None:
    path = _skill(project / ".claude/skills/notes")
    _skill(places.absolute[0] / "notes")
    assert find("notes", str(path), None, places) == SkillRef("notes", str(path))
    assert find("team:notes", str(path), None, places) == SkillRef("notes", str(path))


@pytest.mark.parametrize(
    "name", ["notes\n", "../notes", "", "\x1b[31m", "n" * 65, "a/b", ".hidden", "-x", "no\0tes", "\ud800"]
)
def test_an_invalid_skill_name_is_not_put_into_a_path(project: Path, places: Places, name: str) -> None:
    assert _reason(find(name, None, str(project), places)) == "its name is not a valid skill name"


def test_a_file_name_from_the_log_is_ignored_if_impossible(project: Path, places: Places) -> None:
    path = _skill(project / ".claude/skills/notes")
    assert find("../../x\x1b[31m", str(path), None, places) == SkillRef("notes", str(path))


def test_a_plugins_skill_is_not_editable(places: Places, tmp_path: Path) -> None:
    assert _reason(find("plugin:notes", None, None, places)) == "it belongs to a plugin"
    path = _skill(tmp_path / "home/.claude/plugins/cache/x/.claude/skills/notes")
    assert (
        _reason(find("notes", str(path), None, places))
        == "it comes with a plugin, a package or the agent, and an update replaces it"
    )


@pytest.mark.parametrize(
    "claim",
    [
        "relative/.claude/skills/notes/SKILL.md",
        "{project}/.claude/skills/../skills/notes/SKILL.md",
        "{project}/.claude/skills/notes/README.md",
        "{project}/.claude/skills/notes",
        "SKILL.md",
        "",
    ],
)
def test_a_path_that_is_not_an_absolute_skill_path_is_refused(project: Path, places: Places, claim: str) -> None:
    _skill(project / ".claude/skills/notes")
    assert (
        _reason(find("notes", claim.format(project=project), None, places))
        == "the transcript does not give the path of the skill's file"
    )


@pytest.mark.parametrize("claim", ["/etc/SKILL.md", "/SKILL.md", "/.claude/skills/x/SKILL.md"])
def test_a_path_outside_the_known_skill_folders_is_refused(project: Path, places: Places, claim: str) -> None:
    assert _reason(find("notes", claim.format(project=project), None, places)) == "it is not in a known skills folder"


def test_a_skill_in_a_package_is_read_but_not_editable(project: Path, places: Places) -> None:
    """Y11: what is said about it goes to the project's file, and names the skill."""
    path = _skill(project / "node_modules/@acme/skills/notes")
    found = find("notes", str(path), str(project), places)
    assert _reason(found) == "it comes with a plugin, a package or the agent, and an update replaces it"
    assert isinstance(found, Unusable)
    assert found.text_path == str(path)


@pytest.mark.parametrize("folder", ["skills/notes", "plugin/skills/notes", ".claude/skillsets/notes", "notes"])
def test_a_skill_anywhere_in_the_persons_repository_is_found(project: Path, places: Places, folder: str) -> None:
    """Y11; the repository of a clone that is only looked at is not one's own, unless the session works in it."""
    path = _skill(project / folder)
    assert find("notes", str(path), None, places) == SkillRef("notes", str(path))
    (project / ".git/config").write_text('[remote "origin"]\n')
    assert _reason(find("notes", str(path), None, places)) == "it is not in a known skills folder"
    assert find("notes", str(path), str(project), places) == SkillRef("notes", str(path))


@pytest.mark.parametrize(
    "folder", [".gemini/extensions/office", ".qwen/extensions/office", ".copilot/installed-plugins/market/office"]
)
def test_an_extensions_skill_is_read_and_never_edited(tmp_path: Path, places: Places, folder: str) -> None:
    path = _skill(tmp_path / "home" / folder / "skills/notes")
    found = find("notes", str(path), None, places)
    assert isinstance(found, Unusable)
    assert found.text_path == str(path)


def test_a_plugins_skill_elsewhere_is_read_as_installed(tmp_path: Path, places: Places) -> None:
    """A client loads a plugin of a marketplace on this disk from where that lies, which need be nobody's repository."""
    path = _skill(tmp_path / "market/office/skills/notes")
    copy = _skill(places.absolute[0].parent / "plugins/cache/market/office/1.0/skills/notes")
    for claim in (str(path), None):
        found = find("office:notes", claim, None, places)
        assert isinstance(found, Unusable)
        assert found.text_path == str(copy)
    for name in ("office:memos", "other:notes", "notes", "../../x:notes", "*:notes", "office:*"):
        found = find(name, str(path), None, places)
        assert isinstance(found, Unusable)
        assert not found.text_path


@pytest.mark.parametrize("part", ["a\0b", "x" * 5000, "\ud800"])
def test_a_path_no_system_accepts_is_refused(project: Path, places: Places, part: str) -> None:
    _skill(project / ".claude/skills/notes")
    claim = f"{project}/.claude/skills/{part}/SKILL.md"
    assert _reason(find("notes", claim, None, places)) == "its SKILL.md cannot be read"


@pytest.mark.parametrize("cwd", ["a\0b", "/a\0b", "/" + "x" * 5000, "/\ud800", "relative", "/usr/../etc", ""])
def test_a_missing_working_folder_is_skipped(places: Places, cwd: str) -> None:
    path = _skill(places.absolute[0] / "notes")
    found = find("notes", None, cwd, places)
    assert found in (SkillRef("notes", str(path)), Unusable("notes", "its SKILL.md cannot be read"))


def test_a_link_may_lead_inside_the_project_but_not_out_of_it(project: Path, places: Places, tmp_path: Path) -> None:
    inside = _skill(project / "docs/notes")
    outside = _skill(tmp_path / "elsewhere/notes")
    skills = project / ".claude/skills"
    skills.mkdir(parents=True)
    (skills / "inside").symlink_to(inside.parent)
    (skills / "outside").symlink_to(outside.parent)
    (skills / "file").mkdir()
    (skills / "file/SKILL.md").symlink_to(outside)
    assert find("inside", None, str(project), places) == SkillRef("inside", str(inside))
    for name in ("outside", "file"):
        assert (
            _reason(find(name, None, str(project), places))
            == "its SKILL.md is a symlink that points outside the skills folders"
        )


def test_a_link_between_skill_folders_is_followed(project: Path, places: Places) -> None:
    shared = _skill(places.absolute[0] / "shared")
    skills = project / ".claude/skills"
    skills.mkdir(parents=True)
    (skills / "shared").symlink_to(shared.parent)
    assert find("shared", None, str(project), places) == SkillRef("shared", str(shared))


def test_a_link_in_the_persons_own_folder_may_lead_to_a_repository_of_theirs(
    project: Path, places: Places, tmp_path: Path
) -> None:
    """Y11: a collection of skills of which some are linked into the agent's folder."""
    make_top(tmp_path / "collection")
    path = _skill(tmp_path / "collection/notes")
    own, in_project = places.absolute[0] / "notes", project / ".claude/skills/notes"
    in_project.parent.mkdir(parents=True)
    for link in (own, in_project):
        link.symlink_to(path.parent)
    outside = "its SKILL.md is a symlink that points outside the skills folders"
    assert find("notes", str(own / "SKILL.md"), str(project), places) == SkillRef("notes", str(path))
    assert _reason(find("notes", str(in_project / "SKILL.md"), str(project), places)) == outside
    (tmp_path / "collection/.git/config").write_text('[remote "origin"]\n')
    assert _reason(find("notes", str(own / "SKILL.md"), str(project), places)) == outside


def test_a_link_to_another_kind_of_file_is_no_skill(project: Path, places: Places) -> None:
    folder = project / ".claude/skills/notes"
    folder.mkdir(parents=True)
    (project / "secrets.env").write_text("x")
    (folder / "SKILL.md").symlink_to(project / "secrets.env")
    assert _reason(find("notes", None, str(project), places)) == "its SKILL.md is a symlink to a file with another name"


def test_a_link_loop_is_no_skill(project: Path, places: Places) -> None:
    folder = project / ".claude/skills/notes"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").symlink_to(folder / "SKILL.md")
    assert isinstance(find("notes", str(folder / "SKILL.md"), None, places), Unusable)
    assert isinstance(find("notes", None, str(project), places), Unusable)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_now_owned_by_another_user_is_not_read(project: Path) -> None:
    path = _skill(project / ".claude/skills/notes")
    os.chown(path, 12345, 12345)
    with pytest.raises(OSError, match="another user"):
        read(SkillRef("notes", str(path)))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write and enter everything")
def test_a_file_we_may_not_write_or_enter_is_refused(project: Path, places: Places) -> None:
    path = _skill(project / ".claude/skills/notes")
    path.chmod(0o444)
    assert _reason(find("notes", str(path), None, places)) == "its SKILL.md is read-only"
    (project / ".claude/skills").chmod(0)
    try:
        assert _reason(find("notes", None, str(project), places)) == "its SKILL.md cannot be read"
    finally:
        (project / ".claude/skills").chmod(0o755)


def test_a_link_replacing_a_checked_file_is_not_followed(project: Path, places: Places) -> None:
    path = _skill(project / ".claude/skills/notes")
    skill = find("notes", str(path), None, places)
    assert isinstance(skill, SkillRef)
    assert read(skill) == TEXT.encode()
    path.unlink()
    path.symlink_to("/etc/hostname")
    with pytest.raises(OSError, match="symbolic"):
        read(skill)


def test_a_link_replacing_a_checked_files_folder_is_not_followed(project: Path, places: Places, tmp_path: Path) -> None:
    path = _skill(project / ".claude/skills/notes")
    skill = find("notes", str(path), None, places)
    assert isinstance(skill, SkillRef)
    elsewhere = _skill(tmp_path / "elsewhere").parent
    for folder in (path.parent, path.parents[1]):
        folder.rename(folder.with_name("away"))
        folder.symlink_to(elsewhere if folder == path.parent else elsewhere.parent)
        with pytest.raises(OSError, match="ot a directory"):
            read(skill)
        folder.unlink()
        folder.with_name("away").rename(folder)
    assert read(skill) == TEXT.encode()


def test_a_skill_linked_into_another_agents_folder_is_its_target(tmp_path: Path) -> None:
    real = tmp_path / ".agents/skills/notes/SKILL.md"
    real.parent.mkdir(parents=True)
    real.write_text("# Notes\n")
    own = tmp_path / ".claude/skills"
    own.mkdir(parents=True)
    (own / "notes").symlink_to(real.parent)
    found = find("notes", None, None, Places((".claude/skills",), (own,), (".agents/skills",)))
    assert found == SkillRef("notes", str(real))
    alone = find("notes", None, None, Places((".claude/skills",), (own,)))
    assert isinstance(alone, Unusable)


def test_on_macos_a_path_gets_the_spelling_of_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _skill(tmp_path / "Cafe\u0301/.claude/skills/release-notes")
    claimed = tmp_path / "Caf\u00e9/.claude/Skills/Release-Notes/skill.md"
    assert true_spelling(claimed) == claimed
    monkeypatch.setattr(sys, "platform", "darwin")
    assert true_spelling(claimed) == path
    assert true_spelling(path) == path
    assert true_spelling(tmp_path / "elsewhere/SKILL.md") == tmp_path / "elsewhere/SKILL.md"
