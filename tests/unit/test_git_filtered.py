"""A file that a git filter changes, or of which only an LFS pointer is there, is left alone and copied nowhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skilld.errors import RefusedError
from skilld.git.errors import NotTrackedError
from skilld.git.managed_repos import open_any, track
from skilld.proposals.cherry_pick import accept_worktree
from skilld.proposals.staging import stage
from skilld.proposals.staging_result import StagingResult
from support.repos import SKILL, TEXT, Harness, insert_below, isolate_git, new_repo, snapshot

DRY = insert_below("- Run the tests.", "- Do a dry run.")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate_git(monkeypatch, tmp_path / "home")
    return tmp_path / "home/data/skilld/repos"


@pytest.mark.parametrize("where", [".gitattributes", ".git/info/attributes", "personal", "named"])
@pytest.mark.parametrize("tracked", [True, False])
def test_what_a_git_filter_changes_is_never_copied(
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    tracked: bool,  # noqa: FBT001
) -> None:
    """The text in the work tree may be what git-crypt keeps secret; git would show a change that nobody committed."""
    person = new_repo(tmp_path / "work")
    if not tracked:
        person.git("rm", "--quiet", "--cached", SKILL)
        person.git("commit", "--quiet", "-m", "not in git")
    text = "*.md filter=crypt\n"
    if where == "personal":
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        (tmp_path / "config/git").mkdir(parents=True)
        (tmp_path / "config/git/attributes").write_text(text)
    elif where == "named":
        person.git("config", "--global", "core.attributesFile", str(tmp_path / "mine"))
        (tmp_path / "mine").write_text(text)
    else:
        person.write(where, text)
    before = snapshot(person.root)
    with pytest.raises(NotTrackedError, match=f"a git filter changes {SKILL}") as refused:
        track(person.skill, folder)
    assert refused.value.reason == "filtered"
    assert "PATH -filter" in (refused.value.remedy or "")
    assert not folder.exists() or not [*folder.iterdir()]
    assert snapshot(person.root) == before


def test_what_is_filtered_since_is_not_copied_again_and_not_decided_on(tmp_path: Path, folder: Path) -> None:
    person = new_repo(tmp_path / "work")
    person.git("rm", "--quiet", "--cached", SKILL)
    person.git("commit", "--quiet", "-m", "not in git")
    harness = Harness(person, folder)
    harness.stage("p1", DRY)
    (git_dir,) = folder.iterdir()
    person.write(".gitattributes", "*.md filter=crypt\n")
    person.write(SKILL, TEXT + "- The secret.\n")
    with pytest.raises(NotTrackedError, match="a git filter changes SKILL"):
        harness.accept("p1")
    open_any(git_dir, folder)
    stored = subprocess.run(
        ["git", "--git-dir", str(git_dir), "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    ).stdout
    assert b"Run the tests." in stored
    assert b"The secret." not in stored


def test_a_pointer_is_not_edited_with_its_attributes_or_without(tmp_path: Path, folder: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    person = new_repo(tmp_path / "work", text=TEXT + "- The last one.\n")
    harness = Harness(person, folder)
    made = harness.stage("p1", DRY)
    person.commit("to LFS", {SKILL: pointer})
    with pytest.raises(RefusedError, match="is a Git LFS pointer, not the text itself"):
        stage(harness.proposals["p1"], [], StagingResult())
    for verb in (harness.accept, harness.revert):
        with pytest.raises(RefusedError):
            verb("p1")
    with pytest.raises(RefusedError, match="is a Git LFS pointer"):
        accept_worktree(harness.proposals["p1"], lambda text: text + b"- One more.\n")
    assert person.skill.read_text() == pointer
    assert person.tip("skilld/staging") == made.commit
