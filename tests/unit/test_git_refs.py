from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import random
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from skilld.git import refs
from skilld.git.errors import LostRaceError, RefLockedError, RepoRefusedError
from skilld.git.refs import RefChange
from skilld.git.repo import Repo, open_repo
from skilld.git.staging_branch import STAGING_REF
from skilld.proposals.model import GitStatus
from support.processes import processes_of
from support.repos import SKILL, TEXT, Harness, Person, insert_below, isolate_git, new_repo
from support.rows import for_each
from support.waiting import wait_for

REF = "refs/skilld/proposals/p1"


@pytest.fixture
def person(person: Person) -> Person:
    person.commit("second", {"README.md": "two\n"})
    return person


@pytest.fixture
def repo(person: Person) -> Repo:
    return open_repo(person.root)


def move(repo: Repo, *changes: RefChange) -> None:
    refs.move_refs(repo.git, repo.common_dir, changes)


def test_refs_are_created_updated_and_deleted(person: Person, repo: Repo) -> None:
    old, new = person.tip("HEAD^"), person.tip()
    move(repo, RefChange(REF, old, None))
    assert refs.read_tip(repo.git, REF) == old
    move(repo, RefChange(REF, new, old))
    assert refs.read_tips(repo.git, ["refs/skilld"]) == {REF: new}
    move(repo, RefChange(REF, None, new))
    assert refs.read_tip(repo.git, REF) is None


def test_our_refs_are_read_from_files_as_git_lists_them(
    person: Person, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = person.tip("HEAD^"), person.tip()
    folder = repo.common_dir / "refs/skilld/proposals"

    def read() -> dict[str, str]:
        return refs.read_own_refs(repo.git, repo.common_dir)

    with monkeypatch.context() as patched:  # no process but the one that reads objects
        patched.setattr(repo.git, "call", pytest.fail)
        assert read() == {}
        person.git("update-ref", REF, old)
        person.git("update-ref", STAGING_REF, new)
        assert read() == {REF: old, STAGING_REF: new}
        person.git("pack-refs", "--all")
        assert not (folder / "p1").exists()
        assert read() == {REF: old, STAGING_REF: new}
        person.git("update-ref", REF, new)
        assert read() == {REF: new, STAGING_REF: new}
    expected = {REF: new, STAGING_REF: new}
    (folder / "p1.lock").write_text(f"{old}\n")
    assert read() == expected
    (folder / "p2").write_text(f"{'1' * 40}\n")  # of a commit that is gone
    assert read() == {**expected, f"{REF[:-1]}2": "1" * 40}
    (folder / "p2").write_text("")
    (folder / "HEAD^{tree}").write_text(f"{old}\n")  # which names something else, and no ref
    assert read() == expected


# Characters that Python takes for the end of a line, and git allows in the name of a branch.
ODD_ENDINGS = {"next line": "\x85", "line separator": "\u2028", "paragraph separator": "\u2029"}


@pytest.mark.parametrize("odd", ODD_ENDINGS.values(), ids=ODD_ENDINGS)
def test_a_branch_may_have_any_name_that_git_allows(harness: Harness, odd: str) -> None:
    person = harness.person
    person.git("checkout", "--quiet", "-b", f"feature{odd}x")
    person.git("update-ref", f"refs/remotes/origin{odd}x/main{odd}y", "HEAD")
    person.git("tag", f"v1{odd}0")
    harness.stage("p1", insert_below("- Tag the commit.", "- Sign the tag."))
    assert refs.read_tips(open_repo(person.root).git, ["refs/heads"]).keys() == {
        "refs/heads/main",
        f"refs/heads/feature{odd}x",
        STAGING_REF,
    }
    assert harness.observe("p1").seen is GitStatus.NOTHING
    harness.accept("p1")
    assert harness.observe("p1").seen is GitStatus.LANDED
    harness.revert("p1")
    assert person.skill.read_text() == TEXT


@pytest.mark.parametrize("odd", ["\x0b", "\x0c", "\x1c", "\r", *ODD_ENDINGS.values()], ids=ascii)
def test_a_folder_may_have_any_name_on_one_line(tmp_path: Path, odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate_git(monkeypatch, tmp_path / "home")
    harness = Harness(new_repo(tmp_path / f"my{odd}work"))
    harness.stage("p1", insert_below("- Tag the commit.", "- Sign the tag."))
    harness.accept("p1")
    assert "- Sign the tag." in harness.person.skill.read_text()


def test_a_ref_moves_only_from_its_expected_value(person: Person, repo: Repo) -> None:
    old, new = person.tip("HEAD^"), person.tip()
    move(repo, RefChange(REF, old, None))
    for change in (RefChange(REF, new, None), RefChange(REF, new, new), RefChange(REF, None, new)):
        with pytest.raises(LostRaceError):
            move(repo, change)
    move(repo, RefChange(REF, None, old))
    for change in (RefChange(REF, new, old), RefChange(REF, None, old)):
        with pytest.raises(LostRaceError):
            move(repo, change)


def test_if_one_ref_has_moved_none_is_written(person: Person, repo: Repo) -> None:
    with pytest.raises(LostRaceError):
        move(
            repo,
            RefChange(REF, person.tip(), None),
            RefChange("refs/skilld/proposals/p2", person.tip(), person.tip("HEAD^")),
        )
    assert refs.read_tips(repo.git, ["refs/skilld"]) == {}


def test_a_packed_ref_is_deleted(person: Person, repo: Repo) -> None:
    move(repo, RefChange(REF, person.tip(), None))
    person.git("pack-refs", "--all")
    move(repo, RefChange(REF, None, person.tip()))
    assert refs.read_tip(repo.git, REF) is None


def test_a_held_lock_is_awaited(person: Person, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = person.write(f".git/{REF}.lock", "")
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 4:
            lock.unlink()

    monkeypatch.setattr(refs, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    move(repo, RefChange(REF, person.tip(), None))
    assert waited == [*refs._RETRY_SECONDS[:4]]
    assert refs.read_tip(repo.git, REF) == person.tip()


def test_a_lock_that_stays_is_reported_and_kept(person: Person, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refs, "_RETRY_SECONDS", (0.01, 0.01))
    lock = person.write(f".git/{REF}.lock", "")
    with pytest.raises(RefLockedError):
        move(repo, RefChange(REF, person.tip(), None))
    assert lock.exists()


def test_a_lock_that_git_itself_waits_for_is_not_awaited_eight_times(
    person: Person, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    move(repo, RefChange(REF, person.tip(), None))
    lock = person.write(".git/packed-refs.lock", "")
    waited: list[float] = []
    clock = SimpleNamespace(sleep=waited.append, monotonic=itertools.count(0.0, 1.1).__next__)
    monkeypatch.setattr(refs, "time", clock)
    with pytest.raises(RefLockedError) as error:
        move(repo, RefChange(REF, None, person.tip()))
    assert waited == [*refs._RETRY_SECONDS[:2]]
    assert error.value.remedy == f"If no other git process is running, delete the lock: rm {lock}"


def test_only_our_own_stale_locks_are_removed(person: Person, repo: Repo) -> None:
    ours = [person.write(f".git/{name}.lock", "") for name in (REF, STAGING_REF)]
    theirs = [person.write(f".git/{name}.lock", "") for name in ("refs/heads/main", "index", "packed-refs")]
    assert set(refs.remove_stale_locks(repo.common_dir)) == set(ours)
    assert [path.exists() for path in ours + theirs] == [False, False, True, True, True]


@for_each("name", ["", "../x", "a/b", "a.lock", "-x", "a b", "x" * 65, "@{", "é"])
def test_ambiguous_ids_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a proposal ID"):
        refs.proposal_ref(name)


@pytest.mark.parametrize("part", ["refs", "refs/skilld", "refs/skilld/proposals", REF, "objects"])
def test_symlinks_on_the_way_to_a_ref_are_refused(person: Person, repo: Repo, part: str) -> None:
    path = person.root / ".git" / part
    outside = person.root.parent / "outside"
    if path.exists():
        path.rename(outside)
    else:
        outside.mkdir()
        path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside)
    with pytest.raises(RepoRefusedError, match="symlink"):
        move(repo, RefChange(REF, person.tip(), None))
    assert not (outside / "proposals").exists()
    assert not (outside / "p1").exists()


def propose_in_own_process_group(root: Path, name: str) -> None:
    os.setsid()
    Harness(Person(root)).stage(name, insert_below("- Push the tag.", f"- Learned {name}."))


def test_killed_workers_leave_each_proposal_once(person: Person, repo: Repo) -> None:
    context = multiprocessing.get_context("fork")
    delays = random.Random(7)
    names = [f"p{count}" for count in range(6)]
    killed = 0
    for name in names * 2:
        worker = context.Process(target=propose_in_own_process_group, args=(person.root, name))
        worker.start()
        worker.join(timeout=delays.uniform(0.01, 0.12))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid or 0, signal.SIGKILL)
        worker.kill()
        worker.join()
        killed += worker.exitcode != 0
        wait_for("its git to be gone", lambda: not processes_of(Path(os.environ["HOME"])))
        refs.remove_stale_locks(repo.common_dir)
    assert killed > 0
    harness = Harness(person)
    for name in names:
        harness.stage(name, insert_below("- Push the tag.", f"- Learned {name}."))
    subjects = [subject.removeprefix("skilld(release): say ") for subject in person.log(STAGING_REF, "^main")]
    assert sorted(subjects) == sorted(names)
    assert person.git("fsck", "--strict", "--no-dangling") == ""


def race(root: Path, name: str, rounds: int) -> None:
    harness = Harness(Person(root))
    for count in range(rounds):
        harness.stage(f"{name}{count}", insert_below("- Push the tag.", f"- Learned {name}{count}."))


def test_two_workers_lose_nothing(person: Person) -> None:
    rounds = 4
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=race, args=(person.root, name, rounds)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=300)
    assert [worker.exitcode for worker in workers] == [0, 0]
    expected = sorted(f"{name}{count}" for name in "ab" for count in range(rounds))
    subjects = person.log(STAGING_REF, "^main")
    assert sorted(subject.removeprefix("skilld(release): say ") for subject in subjects) == expected
    assert person.git("rev-list", "--merges", STAGING_REF) == ""
    text = person.show(ref=STAGING_REF)
    assert (
        sorted(row.removeprefix("- Learned ").rstrip(".") for row in text.split("\n") if "Learned" in row) == expected
    )
    listed = person.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/skilld/proposals").split()
    assert sorted(listed) == expected
    assert person.skill.read_text() == TEXT
    assert person.git("status", "--porcelain", "--", SKILL) == ""
