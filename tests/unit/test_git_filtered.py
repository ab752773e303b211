"""A file that a git filter changes, or that is an LFS pointer, is left alone; and which repository a file is in."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skilld.errors import RefusedError
from skilld.git.errors import NotTrackedError
from skilld.git.managed_repos import open_any, track
from skilld.git.repo import open_repo
from skilld.jobs.placing import JobPlaces
from skilld.paths import places
from skilld.pipeline.documents import load_documents
from skilld.proposals import explain
from skilld.proposals.cherry_pick import accept_worktree
from skilld.proposals.decide import _describe_superproject
from skilld.proposals.model import project_name
from skilld.proposals.staging import stage
from skilld.proposals.staging_result import StagingResult
from skilld.types import SkillRef, State, TargetKind
from support.proposals import make_proposal
from support.repos import SKILL, TEXT, Harness, insert_below, isolate_git, new_repo, snapshot
from support.rows import for_each

DRY = insert_below("- Run the tests.", "- Do a dry run.")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate_git(monkeypatch, tmp_path / "home")
    return places().repositories


def test_no_judge_reads_a_file_that_a_git_filter_changes(tmp_path: Path, folder: Path) -> None:
    person = new_repo(tmp_path / "work")
    ref = SkillRef("deploy", str(person.root / SKILL))
    assert len(load_documents([ref])[0]) == 1
    person.write(".gitattributes", "*.md filter=crypt\n")
    assert load_documents([ref]) == ([], [("deploy", "a git filter changes SKILL.md when git stores it")])
    assert not folder.exists()


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
    harness = Harness(person)
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


@pytest.mark.usefixtures("folder")
def test_a_pointer_is_not_edited_with_its_attributes_or_without(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    person = new_repo(tmp_path / "work", text=TEXT + "- The last one.\n")
    harness = Harness(person)
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


def test_show_says_that_nothing_is_committed_to_the_persons_repository(tmp_path: Path, folder: Path) -> None:
    person = new_repo(tmp_path / "work")
    harness = Harness(person)
    harness.stage("p1", DRY)
    assert explain.describe_destination(harness.proposals["p1"]) == ""
    person.git("rm", "--quiet", "-r", "--cached", "skills")
    person.git("commit", "--quiet", "-m", "not in git")
    made = replace(harness.proposals["p1"], repo=str(folder / "one"))
    to = f"accepting it commits to the repository that skilld keeps for {person.root}/skills, not to yours: "
    assert explain.describe_destination(made) == f"{to}{SKILL} is not in the latest commit of {person.root}"
    assert explain.describe_destination(replace(made, state=State.REJECTED)) == ""
    shutil.rmtree(person.root / ".git")
    assert explain.describe_destination(made) == "", "there is no other repository"


@for_each(
    ("repo", "path", "relpath", "name"),
    [
        ("/h/src/shop", "/h/src/shop/.claude/skills/x/SKILL.md", ".claude/skills/x/SKILL.md", "shop"),
        ("/h/data/repos/1", "/h/src/shop/.claude/skills/x/SKILL.md", "x/SKILL.md", "shop"),
        ("/h/data/repos/1", "/h/src/shop/CLAUDE.md", "CLAUDE.md", "shop"),
        ("/h/data/repos/1", "/h/.claude/CLAUDE.md", "CLAUDE.md", "h"),
        ("/h/.dotfiles", "/h/.dotfiles/claude/CLAUDE.md", "claude/CLAUDE.md", ".dotfiles"),
    ],
)
def test_a_project_is_named_also_where_git_does_not_track_the_file(
    repo: str, path: str, relpath: str, name: str
) -> None:
    assert project_name(make_proposal(repo=repo, path=path, relpath=relpath)) == name


def test_a_commit_in_a_submodule_comes_with_how_to_record_it(tmp_path: Path, folder: Path) -> None:
    del folder
    part, person = new_repo(tmp_path / "part"), new_repo(tmp_path / "work")
    person.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part.root), "libs/part")
    person.git("commit", "--quiet", "-m", "part")
    repo = open_repo(person.root / "libs/part")
    assert repo.superproject == person.root
    said = _describe_superproject(repo)
    command = f"git -C {person.root} commit -m 'Update libs/part' -- libs/part"
    assert said == f"\nTo record it in the repository that contains this submodule: {command}"
    inside = replace(person, root=person.root / "libs/part")
    inside.commit("more", {"a": "b"})
    subprocess.run(shlex.split(command), check=True, capture_output=True)
    assert person.git("status", "--porcelain") == ""
    assert open_repo(person.root).superproject is None
    assert _describe_superproject(open_repo(person.root)) == ""


def test_a_proposal_in_a_repository_below_the_project_is_named_with_it() -> None:
    context = SimpleNamespace(root="/h/src/mono")
    around: Any = SimpleNamespace(places=SimpleNamespace(context=context))
    nested = make_proposal(repo="/h/src/mono/billing", path="/h/src/mono/billing/CLAUDE.md", relpath="CLAUDE.md")
    assert JobPlaces._other_repository(around, nested) == " of billing"
    assert JobPlaces._other_repository(around, replace(nested, target=TargetKind.PERSONAL)) == ""
    here = make_proposal(repo="/h/src/mono", path="/h/src/mono/CLAUDE.md", relpath="CLAUDE.md")
    assert JobPlaces._other_repository(around, here) == ""
