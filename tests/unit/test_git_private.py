"""skilld's own repositories: untracked skills are proposed, decided and observed like any others."""

from __future__ import annotations

import multiprocessing
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skilld.errors import RefusedError
from skilld.git import managed_repos, run
from skilld.git.errors import NotTrackedError, RefLockedError, RepoRefusedError
from skilld.paths import places
from skilld.proposals.explain import find_origin
from skilld.proposals.model import CommitMethod, GitStatus, ProposalCommit
from skilld.proposals.poll import _repo_stamp
from skilld.proposals.propose import propose
from skilld.proposals.repositories import repo_at
from support.repos import TEXT, Harness, Person, insert_below, isolate_git, new_repo, snapshot
from support.rows import for_each
from support.waiting import LIMIT

DRY = insert_below("- Run the tests.", "- Do a dry run.")
NEWS = insert_below("- Push the tag.", "- Write the news.")
APPENDED = {name: insert_below("- Push the tag.", f"- Learned {name}.") for name in ("a", "b", "c")}


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Return a person with a skill in no repository, and with other files beside it."""
    isolate_git(monkeypatch, tmp_path / "home")
    person = Person(tmp_path / "home/.claude")
    person.write("skills/release/SKILL.md", TEXT)
    person.write("skills/release/scripts/run.sh", "echo\n")
    person.write("skills/other/SKILL.md", "# Other\n")
    return person


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate_git(monkeypatch, tmp_path / "home")
    return places().repositories


@pytest.fixture
def harness(person: Person) -> Harness:
    return Harness(person)


def private_repository(harness: Harness) -> Person:
    """Return the person's git in the repository of the first proposal, by its address alone."""
    return Person(Path(next(iter(harness.proposals.values())).repo))


def test_a_proposal_changes_nothing_in_the_root(person: Person, harness: Harness, folder: Path) -> None:
    before = snapshot(person.root)
    proposal = harness.stage("p1", DRY)
    assert snapshot(person.root) == before
    assert Path(proposal.repo).parent == folder
    assert proposal.relpath == "release/SKILL.md"
    assert proposal.staging.base_info is not None
    assert proposal.staging.base_info.warning == ""
    git = private_repository(harness)
    assert git.log("skilld/staging") == ["skilld(release): say p1", "Current state: release/SKILL.md"]
    assert git.git("log", "-1", "--format=%an <%ae> %cn", "main") == "Pat Person <pat@example.org> Pat Person"
    assert git.git("ls-tree", "-r", "--name-only", "skilld/staging") == "release/SKILL.md"
    assert git.git("show", "main:release/SKILL.md") == TEXT.rstrip("\n")
    assert git.git("fsck", "--strict", "--no-dangling") == ""
    assert git.git("status", "--porcelain") == ""


def test_a_proposal_and_a_look_take_few_processes(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was opened, listed and read is known the second time; nothing above the skill could be a repository."""
    harness.stage("p1", DRY)
    started: list[str] = []
    start = run._start

    def recorded_start(argv: list[str], folder: Path, env: Mapping[str, str], *, reads: bool) -> Any:
        started.append(argv[argv.index("-C") + 2])
        return start(argv, folder, env, reads=reads)

    monkeypatch.setattr(run, "_start", recorded_start)
    harness.stage("p2", NEWS)
    assert started == ["config", "cat-file", "ls-files", "unpack-objects", "update-ref"]
    started.clear()
    assert harness.observe("p2").seen is GitStatus.NOTHING
    assert started == ["config", "cat-file", "ls-files"]


def test_the_private_repository_is_readable_by_nobody_else(harness: Harness, folder: Path) -> None:
    old = os.umask(0o022)
    try:
        harness.stage("p1", DRY)
    finally:
        os.umask(old)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent)] == [0o700, 0o700]


def test_accepting_and_reverting_works_in_every_order(person: Person, harness: Harness) -> None:
    for name, apply in APPENDED.items():
        harness.stage(name, apply)
    for name in "bca":
        harness.accept(name)
        harness.drop(name)
        assert f"- Learned {name}." in person.skill.read_text()
    for name in "cab":
        harness.revert(name)
        assert f"- Learned {name}." not in person.skill.read_text()
    assert person.skill.read_text() == TEXT
    assert private_repository(harness).git("status", "--porcelain") == ""
    assert sorted(path.name for path in person.skill.parent.iterdir()) == ["SKILL.md", "scripts"]


def test_the_persons_edits_are_committed_in_their_name(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    person.write("skills/release/SKILL.md", TEXT.replace("Keep the", "Always keep the"))
    landed = harness.accept("p1")
    assert landed.method is CommitMethod.GIT
    expected = TEXT.replace("Keep the", "Always keep the").replace("- Tag", "- Do a dry run.\n- Tag")
    assert person.skill.read_text() == expected
    assert private_repository(harness).git("log", "--format=%an: %s", "main").splitlines() == [
        "skilld: skilld(release): say p1",
        "Pat Person: Current state: release/SKILL.md",
        "Pat Person: Current state: release/SKILL.md",
    ]


def test_the_persons_hooks_and_conversions_do_not_apply(person: Person, harness: Harness, tmp_path: Path) -> None:
    hook = person.write("../hooks/pre-commit", "#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    person.git("config", "--global", "core.hooksPath", str(hook.parent))
    person.git("config", "--global", "core.autocrlf", "true")
    person.git("config", "--global", "init.templateDir", str(tmp_path / "template"))
    person.git("config", "--global", "init.defaultBranch", "trunk")
    (tmp_path / "template/hooks").mkdir(parents=True)
    (tmp_path / "template/hooks/reference-transaction").symlink_to(hook)
    person.write("skills/.gitattributes", "*.md filter=x text eol=crlf ident\n")
    person.write("skills/release/SKILL.md", TEXT.replace("\n", "\r\n") + "$Id$\r\n")
    harness.stage("p1", DRY)
    harness.stage("p2", NEWS)
    harness.accept("p1")
    harness.accept("p2")
    expected = TEXT.replace("- Tag", "- Do a dry run.\n- Tag").replace("tag.\n", "tag.\n- Write the news.\n")
    assert person.skill.read_bytes() == expected.replace("\n", "\r\n").encode() + b"$Id$\r\n"
    assert private_repository(harness).git("status", "--porcelain") == ""


def test_all_skills_of_a_root_share_one_repository(person: Person, harness: Harness) -> None:
    first = harness.stage("p1", DRY)
    second = harness.stage("p2", insert_below("# Other", "More."), path=person.root / "skills/other/SKILL.md")
    assert second.repo == first.repo
    git = private_repository(harness)
    assert git.git("ls-tree", "-r", "--name-only", "main").splitlines() == ["other/SKILL.md", "release/SKILL.md"]
    assert git.log("skilld/staging", "^main") == ["skilld(release): say p2", "skilld(release): say p1"]


def test_lines_typed_or_removed_by_hand_are_noticed(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    person.write("skills/release/SKILL.md", TEXT.replace("- Tag", "- Do a dry run.\n- Tag"))
    found = harness.observe("p1")
    assert (found.seen, found.how) == (GitStatus.LANDED, "same change")
    harness.mark_accepted("p1", landed=found.commit)
    person.write("skills/release/SKILL.md", TEXT)
    assert harness.observe("p1").seen is GitStatus.REVERTED


def test_a_deleted_skill_is_not_recreated(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    person.skill.unlink()
    assert harness.observe("p1").seen is GitStatus.NOTHING
    assert private_repository(harness).git("ls-tree", "-r", "--name-only", "main") == ""
    private_repository(harness).git("merge", "skilld/staging", check=False)
    assert "release/SKILL.md" in private_repository(harness).git("status", "--porcelain")


def test_accepting_for_a_deleted_skill_says_that_it_is_missing(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    person.skill.unlink()
    with pytest.raises(RefusedError, match=f"{person.skill} does not exist"):
        harness.accept("p1")


def test_a_missing_root_ends_its_proposals(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    (person.root / "skills").rename(person.root / "moved")
    assert harness.observe("p1").seen is GitStatus.GONE
    with pytest.raises(NotTrackedError):
        repo_at(harness.proposals["p1"].repo)


def test_a_merge_in_progress_is_left_alone(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    person.write("skills/release/SKILL.md", TEXT.replace("- Tag", "- Do my dry run.\n- Tag"))
    harness.observe("p1")
    git = private_repository(harness)
    git.git("merge", "skilld/staging", check=False)
    assert "<<<<<<<" in person.skill.read_text()
    tip = git.tip("main")
    harness.observe("p1")
    with pytest.raises(RefusedError, match="a merge is in progress"):
        harness.accept("p1")
    assert git.tip("main") == tip
    assert "<<<<<<<" in person.skill.read_text()
    git.git("merge", "--abort")
    assert harness.accept("p1").method is CommitMethod.ANCHORS


def test_why_finds_a_line(person: Person, harness: Harness) -> None:
    with pytest.raises(NotTrackedError):
        find_origin(person.skill, 1)
    harness.stage("p1", DRY)
    harness.accept("p1")
    origin = find_origin(person.skill, TEXT.split("\n").index("- Tag the commit.") + 1)
    assert (origin.text, origin.proposals) == ("- Do a dry run.", ("p1",))


def test_git_takes_over_once_it_tracks_the_skill(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    person.git("init", "--quiet")
    person.git("add", "skills/release")
    person.git("commit", "--quiet", "-m", "now in git")
    made = harness.propose("p2", NEWS, standing={})
    assert isinstance(made, ProposalCommit)
    assert made.repo == str(person.root)
    # What was proposed before still comes in from where it was proposed.
    harness.accept("p1")
    assert person.git("status", "--porcelain", "--untracked-files=no") == "M skills/release/SKILL.md"


@pytest.mark.parametrize("state", ["untracked", "ignored", "unborn"])
def test_files_ignored_by_a_surrounding_repository_are_handled_here(tmp_path: Path, folder: Path, state: str) -> None:
    person = new_repo(tmp_path / "work") if state != "unborn" else Person(tmp_path / "work")
    if state == "unborn":
        person.root.mkdir()
        person.git("init", "--quiet")
        person.write("skills/release/SKILL.md", TEXT)
    else:
        person.git("rm", "--quiet", "--cached", "skills/release/SKILL.md")
        person.commit("not in git", {".gitignore": "skills/\n"} if state == "ignored" else {})
        person.write("skills/release/SKILL.md", TEXT)
        person.git("rm", "--quiet", "--cached", "--ignore-unmatch", "skills/release/SKILL.md")
        person.git("commit", "--quiet", "--allow-empty", "-m", "out")
    before = snapshot(person.root)
    harness = Harness(person)
    proposal = harness.stage("p1", DRY)
    assert Path(proposal.repo).parent == folder
    harness.drop("p1")
    assert snapshot(person.root) == before
    harness.stage("p2", NEWS)
    harness.accept("p2")
    assert "- Write the news." in person.skill.read_text()
    after = {name: value for name, value in snapshot(person.root).items() if name != "skills/release/SKILL.md"}
    assert after == {name: value for name, value in before.items() if name != "skills/release/SKILL.md"}


def test_a_refused_repository_is_not_bypassed(tmp_path: Path, folder: Path) -> None:
    person = new_repo(tmp_path / "work")
    person.git("config", "core.repositoryFormatVersion", "1")
    person.git("config", "extensions.refStorage", "reftable")
    with pytest.raises(RepoRefusedError):
        Harness(person).propose("p1", DRY)
    assert not folder.exists()


def test_links_are_not_followed(person: Person, harness: Harness, tmp_path: Path) -> None:
    harness.stage("p1", DRY)
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "SKILL.md").write_text("secret\n")
    person.skill.rename(tmp_path / "kept.md")
    (person.skill.parent / "scripts/run.sh").unlink()
    (person.skill.parent / "scripts").rmdir()
    person.skill.parent.rmdir()
    person.skill.parent.symlink_to(secret)
    with pytest.raises(RefusedError, match="reached through a symlink"):
        harness.accept("p1")
    harness.observe("p1")
    assert private_repository(harness).git("ls-tree", "-r", "--name-only", "main") == ""
    assert (secret / "SKILL.md").read_text() == "secret\n"


def test_a_replaced_repository_is_not_opened(person: Person, harness: Harness, folder: Path, tmp_path: Path) -> None:
    harness.stage("p1", DRY)
    address = Path(harness.proposals["p1"].repo)
    person.git("--git-dir", str(address), "config", "core.worktree", str(tmp_path))
    with pytest.raises(NotTrackedError):
        managed_repos.open_any(address, folder)
    assert managed_repos.list_roots(folder) == {}
    other = new_repo(tmp_path / "work")
    assert managed_repos.open_any(other.root, folder).private is False


def test_a_root_is_known_once_it_has_a_repository(person: Person, harness: Harness, folder: Path) -> None:
    assert managed_repos.list_roots(folder) == {}
    harness.stage("p1", DRY)
    assert managed_repos.list_roots(folder) == {person.root / "skills": Path(harness.proposals["p1"].repo)}


@for_each(
    ("skill", "root"),
    [
        ("/h/.claude/skills/a/SKILL.md", "/h/.claude/skills"),
        ("/h/.agents/skills/made/a/SKILL.md", "/h/.agents/skills"),
        ("/h/.claude/skills/skills/SKILL.md", "/h/.claude/skills"),
        ("/h/dotfiles/claude/a/SKILL.md", "/h/dotfiles/claude"),
    ],
)
def test_the_root_of_a_skill_is_found(skill: str, root: str) -> None:
    assert managed_repos.root_of(Path(skill)) == Path(root)


def private_head(skill: Path, folder: Path) -> str:
    return managed_repos.track_in_managed(skill, folder).repo.head


def test_four_processes_can_create_it_at_once(person: Person, folder: Path) -> None:
    with multiprocessing.get_context("fork").Pool(4) as pool:
        heads = pool.starmap_async(private_head, [(person.skill, folder)] * 4, chunksize=1).get(LIMIT)
    assert len(heads) == 4
    assert len({*heads}) == 1
    assert len(list(folder.iterdir())) == 1


def test_a_retry_finds_the_existing_commit(harness: Harness) -> None:
    proposal = harness.stage("p1", DRY)
    again = propose(harness.request("p1", DRY))
    assert isinstance(again, ProposalCommit)
    assert (again.commit, again.repo) == (proposal.commit, proposal.repo)


def test_a_lock_left_by_a_killed_process_expires(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    lock = Path(harness.proposals["p1"].repo) / "index.lock"
    lock.touch()
    person.write("skills/release/SKILL.md", TEXT + "\nMore.\n")
    with pytest.raises(RefLockedError):
        harness.stage("p2", NEWS)
    two_hours_ago = time.time() - 7200
    os.utime(lock, (two_hours_ago, two_hours_ago))
    harness.stage("p2", NEWS)
    assert not lock.exists()


def test_a_kill_between_index_and_commit_is_repaired(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    git = private_repository(harness)
    blob = git.git("hash-object", "-w", "--stdin", check=True)
    git.git("update-index", "--cacheinfo", f"100644,{blob},release/SKILL.md")
    assert git.git("status", "--porcelain") != ""
    harness.observe("p1")
    assert git.git("status", "--porcelain") == ""
    assert person.skill.read_text() == TEXT


def test_the_daemon_notices_changed_skills_and_refs(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    address, skills = Path(harness.proposals["p1"].repo), [str(person.skill)]
    stamps = [_repo_stamp(address, skills)]
    os.utime(person.skill, (1, 1))
    stamps.append(_repo_stamp(address, skills))
    private_repository(harness).git("update-ref", "refs/heads/mine", "main")
    stamps.append(_repo_stamp(address, skills))
    assert len(set(stamps)) == 3
    assert _repo_stamp(address, skills) == stamps[-1]
