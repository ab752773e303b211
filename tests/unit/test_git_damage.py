"""Damaged repositories and git commands that fail half-way: nothing of the person's is lost."""

from __future__ import annotations

import shlex
import shutil
import threading
from pathlib import Path

import pytest

from skilld.errors import RefusedError, SkilldError
from skilld.git.errors import RepoRefusedError
from skilld.git.repo import open_repo
from skilld.proposals.branch import find_missing_object
from support.repos import SKILL, Harness, Person, insert_below, snapshot

STAGING = "refs/heads/skilld/staging"
DRY = insert_below("- Run the tests.", "- Do a dry run.")
NEWS = insert_below("- Push the tag.", "- Write the news.")


def object_path(person: Person, name: str) -> Path:
    oid = person.git("rev-parse", name)
    return person.root / ".git/objects" / oid[:2] / oid[2:]


def delete_object(person: Person, name: str) -> None:
    """Make an object unreadable, as a bad disk does."""
    path = object_path(person, name)
    path.chmod(0o644)
    path.write_bytes(b"garbage")


@pytest.mark.parametrize("which", ["HEAD^", "HEAD"])
def test_an_unreadable_version_is_not_taken_for_an_empty_one(person: Person, harness: Harness, which: str) -> None:
    harness.stage("p1", DRY)
    harness.accept("p1")
    if which == "HEAD":
        person.commit("mine", {SKILL: person.skill.read_text() + "More.\n"})
        which = "HEAD^"
    delete_object(person, f"{which}:{SKILL}")
    before = snapshot(person.root)
    with pytest.raises(RefusedError, match="cannot be read") as error:
        harness.revert("p1")
    assert error.value.remedy == f"To list damaged or missing objects: git -C {person.root} fsck"
    assert snapshot(person.root) == before


def test_an_unreadable_proposal_is_not_accepted(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    delete_object(person, f"{STAGING}:{SKILL}")
    before = snapshot(person.root)
    with pytest.raises(RefusedError, match="cannot be read"):
        harness.accept("p1")
    assert snapshot(person.root) == before


REFUSING = "#!/bin/sh\nexit 1\n"


@pytest.mark.parametrize("verb", ["accept", "revert"])
def test_a_hook_refusing_every_ref_update_leaves_the_skill_unchanged(
    person: Person, harness: Harness, verb: str
) -> None:
    harness.stage("p1", DRY)
    if verb == "revert":
        harness.accept("p1")
    text, tip = person.skill.read_text(), person.tip()
    person.write(".git/hooks/reference-transaction", REFUSING).chmod(0o755)
    with pytest.raises(RefusedError, match="hook"):
        harness.accept("p1") if verb == "accept" else harness.revert("p1")
    assert (person.skill.read_text(), person.tip(), person.git("status", "--porcelain")) == (text, tip, "")
    assert not (person.root / ".git/MERGE_MSG").exists()
    (person.root / ".git/hooks/reference-transaction").unlink()
    assert harness.accept("p1") if verb == "accept" else harness.revert("p1")


def test_a_cherry_pick_whose_clean_up_failed_still_counts(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    person.git("pack-refs", "--all")
    person.write(".git/packed-refs.lock", "")  # of a gc that was killed: no ref can be deleted
    landed = harness.accept("p1")
    assert landed.commit == person.tip() != person.tip("HEAD^")
    assert person.log("-1") == ["skilld(release): say p1"]


def test_concurrent_decisions_take_turns(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    harness.stage("p2", NEWS)
    harness.stage("p3", insert_below("- Tag the commit.", "- Sign it."))
    # Long enough that all of them are at it at once.
    person.write(".git/hooks/prepare-commit-msg", "#!/bin/sh\nsleep 0.3\n").chmod(0o755)
    failed: list[Exception] = []

    def accept(name: str) -> None:
        try:
            harness.accept(name)
        except SkilldError as error:
            failed.append(error)

    threads = [threading.Thread(target=accept, args=(name,)) for name in ("p1", "p2", "p3")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert sorted(person.log("-3")) == [f"skilld(release): say p{number}" for number in (1, 2, 3)]
    assert person.git("status", "--porcelain") == ""


@pytest.mark.parametrize("content", ["", "\0" * 41])
def test_a_staging_commit_lost_in_a_power_cut_is_recreated(person: Person, harness: Harness, content: str) -> None:
    harness.stage("p1", DRY)
    tip = harness.stage("p2", NEWS).commit
    (person.root / ".git" / STAGING).write_text(content)
    harness.stage("p3", insert_below("- Tag the commit.", "- Sign it."))
    assert person.tip(f"{STAGING}^") == tip
    (person.root / ".git" / STAGING).write_text(content)
    harness.drop("p1")
    assert person.log(STAGING, "^main") == ["skilld(release): say p3", "skilld(release): say p2"]


def test_a_staging_branch_with_missing_objects_is_reported_with_a_remedy(person: Person, harness: Harness) -> None:
    first = harness.stage("p1", DRY).commit
    second = harness.stage("p2", NEWS).commit
    object_path(person, second).unlink()
    with pytest.raises(RepoRefusedError, match=f"skilld/staging is damaged: .*{second}") as error:
        harness.propose("p3", insert_below("- Tag the commit.", "- Sign it."))
    assert error.value.remedy == f"git -C {person.root} update-ref {STAGING} {first}"
    assert [harness.observe("p1").seen, harness.observe("p2").seen] == [
        "busy",
        "gone",
    ]  # neither was dropped by the person
    person.git("update-ref", STAGING, first)
    harness.stage("p3", insert_below("- Tag the commit.", "- Sign it."))
    assert harness.observe("p1").seen == "nothing"


def test_a_missing_commit_that_git_accepts_is_found(
    person: Person, harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As git 2.55 does, which lists nothing for it."""
    first = harness.stage("p1", DRY).commit
    second = harness.stage("p2", NEWS).commit
    program = tmp_path / "new" / "git"
    program.parent.mkdir()
    rest = f'exec {shlex.quote(str(shutil.which("git")))} "$@"\n'
    program.write_text(f'#!/bin/sh\ncase " $* " in *" --missing=allow-promisor {second} "*) exit 0 ;; esac\n{rest}')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    object_path(person, second).unlink()
    assert find_missing_object(open_repo(person.root)) == (
        f"skilld/staging in {person.root} is damaged: bad object {second}",
        f"git -C {person.root} update-ref {STAGING} {first}",
    )


@pytest.mark.parametrize("what", [STAGING, f"{STAGING}^", f"{STAGING}^{{tree}}", f"{STAGING}:{SKILL}"])
def test_a_missing_object_of_the_staging_branch_is_found(person: Person, harness: Harness, what: str) -> None:
    first = harness.stage("p1", DRY).commit
    harness.stage("p2", NEWS)
    repo = open_repo(person.root)
    assert find_missing_object(repo) is None
    lost = person.git("rev-parse", what)
    object_path(person, what).unlink()
    found = find_missing_object(repo)
    assert found is not None
    assert lost in found[0]
    way_out = "-d refs/heads/skilld/staging" if what.endswith("^") else f"{STAGING} {first}"
    assert found[1] == f"git -C {person.root} update-ref {way_out}"


def test_a_missing_repository_is_reported(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    person.root.rename(person.root.parent / "moved")
    with pytest.raises(RefusedError, match=f"not accepted: {person.root} does not exist"):
        harness.accept("p1")


@pytest.mark.parametrize("how", ["renamed", "renamed and changed", "removed", "sparse"])
def test_a_missing_skill_is_reported(person: Person, harness: Harness, how: str) -> None:
    proposal = harness.stage("p1", DRY)
    match how:
        case "renamed" | "renamed and changed":
            person.git("mv", "skills/release", "skills/ship")
            if how != "renamed":
                skill = person.root / "skills/ship/SKILL.md"
                skill.write_bytes(skill.read_bytes().replace(b"name: release", b"name: ship", 1))
            person.git("commit", "--quiet", "-a", "-m", "renamed")
        case "removed":
            person.git("rm", "--quiet", SKILL)
            person.git("commit", "--quiet", "-m", "removed")
        case _:
            person.git("sparse-checkout", "set", "src")
    if how.startswith("renamed"):
        harness.accept("p1")
        assert "- Do a dry run." in (person.root / "skills/ship/SKILL.md").read_text()
        return
    before = snapshot(person.root)
    with pytest.raises(RefusedError, match="is not in the work tree") as error:
        harness.accept("p1")
    pick = f"git -C {person.root} cherry-pick {proposal.commit}"
    again = f"Restore {SKILL}, then: skilld accept p1"  # the pick would conflict
    assert error.value.remedy == (again if how == "removed" else pick)
    assert snapshot(person.root) == before
    if how != "removed":  # git follows a folder that was renamed
        person.git("cherry-pick", proposal.commit)
        assert harness.observe("p1").seen == "landed"


def test_a_proposal_with_a_reworded_message_is_still_open(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    person.git("switch", "--quiet", "skilld/staging")
    person.git("commit", "--quiet", "--amend", "-m", "my own words")
    person.git("switch", "--quiet", "main")
    assert harness.observe("p1").seen == "nothing"
    person.git("branch", "--quiet", "-f", "skilld/staging", "main")
    assert harness.observe("p1").seen == "dropped"
