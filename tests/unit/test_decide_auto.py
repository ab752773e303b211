"""Auto mode's commit: on the checked-out branch, one file, and only where nothing of the person's is in the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skilld.errors import RefusedError, SkilldError
from skilld.git import refs
from skilld.git.errors import RefLockedError
from skilld.proposals.auto_apply import apply_unasked
from skilld.proposals.model import GitStatus
from support.repos import SKILL, TEXT, Harness, Person, harness_with, insert_below, isolate_git, new_repo, snapshot
from support.repository_states import bisecting, detached, dirty, merging, on_staging, picking, rebasing

DRY = insert_below("- Run the tests.", "- Do a dry run.")
NEWS = insert_below("- Push the tag.", "- Write the news.")
EDITED = TEXT.replace("- Tag", "- Do a dry run.\n- Tag")


@pytest.fixture
def harness(templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    isolate_git(monkeypatch, tmp_path / "home")
    return harness_with({"p1": DRY}, templates / "one", tmp_path)


@pytest.fixture
def person(harness: Harness) -> Person:
    return harness.person


def apply(harness: Harness) -> str:
    return apply_unasked(harness.edit("p1"))


def test_it_makes_a_separate_commit_that_touches_one_file(person: Person, harness: Harness) -> None:
    person.git("switch", "--quiet", "-c", "feature")
    head = person.commit("unfinished", {"src/app.py": "print(3)\n"})
    person.write("src/app.py", "print(4)\n")
    person.write("staged.txt", "staged\n")
    person.git("add", "staged.txt")
    status = person.git("status", "--porcelain")
    commit = apply(harness)
    assert person.tip("feature") == person.tip() == commit
    assert person.git("rev-list", "--parents", "-1", commit) == f"{commit} {head}"
    assert person.files_changed(head, commit) == [SKILL]
    assert person.skill.read_text() == EDITED
    assert person.git("status", "--porcelain") == status
    assert person.git("log", "-1", "--format=%an <%ae> %cn") == "skilld <skilld@localhost> skilld"
    assert "Skilld-Proposal: p1" in person.git("log", "-1", "--format=%B")
    assert person.git("reflog", "-1", "--format=%gs") == "skilld: skilld(release): say p1"
    assert person.git("fsck", "--strict", "--no-dangling") == ""


def test_only_the_file_its_index_entry_and_the_branch_change(person: Person, harness: Harness) -> None:
    person.git("status")
    before = snapshot(person.root)
    apply(harness)
    after = snapshot(person.root)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    logs = {".git/logs/HEAD", ".git/logs/refs/heads/main"}
    assert changed - logs == {SKILL, ".git/index", ".git/refs/heads/main"}


@pytest.mark.parametrize("way", ["git", "skilld"])
def test_both_kinds_of_revert_undo_it(person: Person, harness: Harness, way: str) -> None:
    harness.mark_accepted("p1", landed=apply(harness))
    assert harness.observe("p1").seen is GitStatus.LANDED
    if way == "git":
        person.git("revert", "--no-edit", "HEAD")
    else:
        harness.revert("p1")
    assert person.skill.read_text() == TEXT
    assert person.git("status", "--porcelain") == ""
    assert harness.observe("p1").seen is GitStatus.REVERTED


def stage(person: Person) -> str:
    person.write(SKILL, TEXT + "unfinished\n")
    person.git("add", SKILL)
    person.write(SKILL, TEXT)
    return f"{SKILL} has staged changes"


def edit(person: Person) -> str:
    person.git("rm", "--quiet", "--cached", SKILL)
    return f"{SKILL} has staged changes"


def convert_line_endings(person: Person) -> str:
    person.git("config", "core.autocrlf", "true")
    person.skill.unlink()
    person.git("checkout", "--", SKILL)
    return f"{SKILL} has uncommitted changes"


STATES = [dirty, stage, edit, convert_line_endings, detached, on_staging, merging, rebasing, bisecting, picking]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_in_any_other_state_it_stays_staged(person: Person, harness: Harness, state: Callable[[Person], str]) -> None:
    cause = state(person)
    before = snapshot(person.root)
    with pytest.raises(RefusedError) as error:
        apply(harness)
    assert error.value.cause == cause
    assert snapshot(person.root) == before
    assert person.tip("skilld/staging") == harness.proposals["p1"].commit


def test_an_edit_that_does_not_fit_the_checked_out_branch_stays_staged(person: Person, harness: Harness) -> None:
    person.git("switch", "--quiet", "-c", "feature")
    person.commit("mine", {SKILL: TEXT.replace("- Run the tests.\n", "")})
    with pytest.raises(SkilldError, match="anchor not found"):
        apply(harness)
    assert person.git("status", "--porcelain") == ""


@pytest.mark.parametrize("lock", ["index.lock", "refs/heads/main.lock"])
def test_a_git_lock_rolls_everything_back(
    person: Person, harness: Harness, monkeypatch: pytest.MonkeyPatch, lock: str
) -> None:
    monkeypatch.setattr(refs, "_RETRY_SECONDS", (0.01, 0.01))  # how it waits is held in test_git_refs.py
    tip = person.tip()
    (person.root / ".git" / lock).touch()
    with pytest.raises(RefLockedError):
        apply(harness)
    (person.root / ".git" / lock).unlink()
    assert person.tip() == tip
    assert person.skill.read_text() == TEXT
    assert person.git("status", "--porcelain") == ""


def test_a_missing_proposal_is_reported(person: Person, harness: Harness) -> None:
    person.git("update-ref", "-d", "refs/skilld/proposals/p1")
    person.git("branch", "-D", "skilld/staging")
    person.git("gc", "--quiet", "--prune=now")
    with pytest.raises(RefusedError, match="its commit is no longer in"):
        apply(harness)


def test_it_works_in_skillds_own_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate_git(monkeypatch, tmp_path / "home")
    person = Person(tmp_path / "home/.claude")
    person.write(SKILL, TEXT)
    harness = Harness(person)
    harness.stage("p1", DRY)
    person.write(SKILL, TEXT + "mine\n")
    commit = apply(harness)
    assert person.skill.read_text() == EDITED + "mine\n"
    own = Person(Path(harness.proposals["p1"].repo))
    assert own.tip("main") == commit
    assert own.git("status", "--porcelain") == ""


def test_it_works_in_a_sha256_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate_git(monkeypatch, tmp_path / "home")
    harness = Harness(new_repo(tmp_path / "work", "--object-format=sha256"))
    harness.stage("p1", DRY)
    assert apply(harness) == harness.person.tip("main")
    assert harness.person.git("status", "--porcelain") == ""


def test_in_a_linked_work_tree_only_that_one_changes(person: Person, tmp_path: Path) -> None:
    person.git("worktree", "add", "--quiet", "-b", "side", "../linked")
    harness = Harness(Person(tmp_path / "linked"))
    harness.stage("p1", DRY)
    assert apply(harness) == person.tip("side")
    assert (tmp_path / "linked" / SKILL).read_text() == EDITED
    assert harness.person.git("status", "--porcelain") == person.git("status", "--porcelain") == ""
    assert person.skill.read_text() == TEXT


def test_a_conflict_left_in_the_index_keeps_it_staged(person: Person, harness: Harness) -> None:
    person.write(SKILL, TEXT.replace("- Tag the commit.", "- Tag it."))
    person.git("stash", "--quiet")
    person.commit("mine", {SKILL: TEXT.replace("- Tag the commit.", "- Tag that.")})
    person.git("stash", "pop", check=False)
    person.write(SKILL, TEXT.replace("- Tag the commit.", "- Tag that."))
    with pytest.raises(RefusedError, match="has staged changes"):
        apply(harness)
