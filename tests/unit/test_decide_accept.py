from __future__ import annotations

import errno
import itertools
from pathlib import Path

import pytest

from skilld.errors import Exit, RefusedError, SkilldError
from skilld.proposals import whole_files
from skilld.proposals.cherry_pick import accept_worktree
from skilld.proposals.model import CommitMethod
from support.repos import (
    SKILL,
    TEXT,
    Harness,
    Person,
    harness_with,
    insert_below,
    isolate_git,
    remove_line,
    replace_line,
    snapshot,
)
from support.repository_states import bisecting, detached, dirty, merging, on_staging, rebasing

DRY = insert_below("- Run the tests.", "- Do a dry run.")
APPENDED = {name: insert_below("- Push the tag.", f"- Learned {name}.") for name in ("a", "b", "c")}
ORDERS = list(itertools.permutations("abc"))


@pytest.fixture
def harness_with_p1(templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    """Return a harness with one proposal, p1."""
    isolate_git(monkeypatch, tmp_path / "home")
    return harness_with({"p1": DRY}, templates / "one", tmp_path)


@pytest.fixture
def harness_with_three(templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    """Return a harness with three proposals for one place."""
    isolate_git(monkeypatch, tmp_path / "home")
    return harness_with(APPENDED, templates / "three", tmp_path)


@pytest.mark.parametrize("comment", ["#", "S"])
def test_accepting_cherry_picks_in_the_persons_name(person: Person, harness: Harness, comment: str) -> None:
    person.git("config", "core.commentChar", comment)  # stripped, such lines would take the trailers along
    person.git("config", "commit.cleanup", "strip")
    proposal = harness.stage("p1", DRY)
    landed = harness.accept("p1")
    assert (landed.method, landed.commit) == (CommitMethod.GIT, person.tip())
    assert person.git("log", "-1", "--format=%an <%ae> %cn") == "skilld <skilld@localhost> Pat Person"
    assert person.git("log", "-1", "--format=%B") == person.git("log", "-1", "--format=%B", proposal.commit)
    assert person.skill.read_text() == TEXT.replace("- Tag", "- Do a dry run.\n- Tag")
    assert person.git("status", "--porcelain") == ""


@pytest.mark.parametrize("by_lines", [False, True])
def test_an_accepted_commit_has_no_words_if_the_repository_got_a_remote(
    person: Person, harness_with_p1: Harness, *, by_lines: bool
) -> None:
    person.git("remote", "add", "origin", "https://example.org/x.git")
    if by_lines:
        person.commit("meanwhile", {SKILL: TEXT.replace("- Tag", "- Tag now:\n- Tag")})
    landed = harness_with_p1.accept("p1")
    body = person.git("log", "-1", "--format=%B")
    assert landed.method is (CommitMethod.ANCHORS if by_lines else CommitMethod.GIT)
    assert ("always p1" in body, "Skilld-Session" in body, "Skilld-Proposal: p1" in body) == (False, False, True)
    assert "- Do a dry run." in person.skill.read_text()


def test_a_revert_commit_names_what_it_reverts_whatever_the_git_settings(harness_with_p1: Harness) -> None:
    person, harness = harness_with_p1.person, harness_with_p1
    landed = harness.accept("p1")
    person.git("config", "revert.reference", "true")
    harness.revert("p1")
    message = person.git("log", "-1", "--format=%B")
    assert message == f'Revert "skilld(release): say p1"\n\nThis reverts commit {landed.commit}.'
    tip = person.tip()
    assert harness.revert("p1").method is CommitMethod.NOTHING, "it is gone"
    assert person.tip() == tip


@pytest.mark.parametrize(("accepted", "reverted"), [*zip(ORDERS[::2], ORDERS[1::2][::-1], strict=True)])
def test_neighbouring_proposals_are_accepted_and_reverted_in_any_order(
    harness_with_three: Harness, accepted: tuple[str, ...], reverted: tuple[str, ...]
) -> None:
    person, harness = harness_with_three.person, harness_with_three
    for name in accepted:
        harness.accept(name)
        harness.drop(name)
        assert f"- Learned {name}." in person.show()
    assert person.show() == person.skill.read_text().rstrip("\n")
    for count, name in enumerate(reverted, start=1):
        landed = harness.revert(name)
        body = person.git("log", "-1", "--format=%B", landed.commit)
        assert "This reverts commit" in body
        assert [f"- Learned {other}." in person.show() for other in reverted] == [False] * count + [True] * (3 - count)
    assert person.skill.read_text() == TEXT
    assert person.git("status", "--porcelain") == ""
    assert len(person.log("^HEAD~6", "HEAD")) == 6


def test_accepting_a_change_that_is_already_there_leaves_nothing_behind(harness_with_p1: Harness) -> None:
    person, harness = harness_with_p1.person, harness_with_p1
    tip = person.commit("mine", {SKILL: TEXT.replace("- Tag", "- Do a dry run.\n- Tag")})
    landed = harness.accept("p1")
    assert (landed.method, landed.commit) == (CommitMethod.NOTHING, tip)
    assert person.tip() == tip
    assert not (person.root / ".git/CHERRY_PICK_HEAD").exists()
    assert person.git("status", "--porcelain") == ""


@pytest.mark.parametrize("neighbour", [False, True], ids=["by git", "by lines"])
def test_a_proposal_amended_on_the_branch_is_accepted_as_amended(
    person: Person, harness: Harness, *, neighbour: bool
) -> None:
    harness.stage("a", APPENDED["a"])
    person.git("switch", "--quiet", "skilld/staging")
    person.write(SKILL, person.skill.read_text().replace("- Learned a.", "- Learned a, in my words."))
    person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    person.git("switch", "--quiet", "main")
    if neighbour:
        person.commit("mine", {SKILL: TEXT.replace("- Push the tag.", "- Push the tag.\n- Mine.")})
    assert harness.accept("a").method is (CommitMethod.ANCHORS if neighbour else CommitMethod.GIT)
    assert "- Learned a, in my words." in person.show()
    assert person.show().count("Learned a") == 1


def test_other_work_is_left_alone(harness_with_p1: Harness) -> None:
    person, harness = harness_with_p1.person, harness_with_p1
    person.write("src/app.py", "print(9)\n")
    person.write("staged.txt", "staged\n")
    person.git("add", "staged.txt")
    landed = harness.accept("p1")
    assert landed.method is CommitMethod.ANCHORS
    assert person.git("status", "--porcelain").splitlines() == ["M src/app.py", "A  staged.txt"]
    assert person.files_changed("HEAD^", "HEAD") == [SKILL]
    assert person.git("log", "-1", "--format=%an %cn %at") == "skilld Pat Person 1767607200"
    harness.revert("p1")
    assert person.skill.read_text() == TEXT
    assert person.git("status", "--porcelain").splitlines() == ["M src/app.py", "A  staged.txt"]


def stage(person: Person) -> str:
    person.write(SKILL, TEXT + "unfinished\n")
    person.git("add", SKILL)
    person.write(SKILL, TEXT)
    return f"{SKILL} has uncommitted changes"


def remove_anchors(person: Person) -> str:
    person.commit("mine", {SKILL: TEXT.replace("- Run the tests.\n- Tag the commit.\n", "- Do it all.\n")})
    return "anchor not found once: - Run the tests."


@pytest.mark.parametrize(
    "state",
    [dirty, stage, detached, merging, rebasing, bisecting, on_staging, remove_anchors],
    ids=lambda f: f.__name__,
)
def test_an_unready_work_tree_is_left_alone(person: Person, harness: Harness, state: object) -> None:
    assert callable(state)
    proposal = harness.stage("p1", DRY)
    cause = state(person)
    person.git("status")
    before = {name: value.rsplit(" ", 1)[0] for name, value in snapshot(person.root).items()}
    with pytest.raises(RefusedError) as raises_refusal:
        harness.accept("p1")
    assert raises_refusal.value.code is Exit.REFUSED
    assert raises_refusal.value.cause == cause
    first = (
        "Commit or stash it, then: " if "uncommitted" in cause else "Finish or abort it, then: " * ("is in" in cause)
    )
    pick = f"git -C {person.root} cherry-pick {proposal.commit}"
    by_hand = f"Edit {SKILL} yourself; to see the change: skilld show p1"  # R6: a cherry-pick would conflict
    again = f"{first}skilld accept p1" if first else pick
    if state is on_staging:  # a cherry-pick to this branch has nothing to add
        again = "Switch to another branch, then: skilld accept p1"
    if state is detached:
        again = f"Check out a branch, then: skilld accept p1; or by hand: {pick}"
    assert raises_refusal.value.remedy == (by_hand if state is remove_anchors else again)
    after = {name: value.rsplit(" ", 1)[0] for name, value in snapshot(person.root).items()}
    for trace in (".git/ORIG_HEAD", ".git/logs/HEAD"):
        before.pop(trace, None)
        after.pop(trace, None)
    assert after == before


def test_a_git_refusal_is_reported_with_a_remedy_and_changes_nothing(harness_with_p1: Harness) -> None:
    person, tip = harness_with_p1.person, harness_with_p1.person.tip()

    def raises_refusal(match: str | None = None) -> str:
        with pytest.raises(RefusedError, match=match) as error:
            harness_with_p1.accept("p1")
        assert (person.tip(), person.skill.read_text()) == (tip, TEXT)
        assert not (person.root / ".git/CHERRY_PICK_HEAD").exists()
        return error.value.remedy

    lock = person.write(".git/index.lock", "")
    assert raises_refusal() == f"If no other git process is running, delete the lock: rm {lock}"
    lock.unlink()
    person.git("config", "--global", "--unset", "user.email")
    person.git("config", "user.useConfigOnly", "true")
    assert "git config --global user.email" in raises_refusal()
    person.git("config", "user.email", "pat@example.org")
    person.git("config", "commit.gpgsign", "true")
    person.git("config", "gpg.program", "false")
    unsigned = raises_refusal("git cannot sign the commit: gpg failed to sign the data")
    assert unsigned == "Set a key: git config user.signingkey KEY, then: skilld accept p1"
    person.git("config", "user.signingkey", "0123ABCD")
    unsigned = raises_refusal("git cannot sign the commit: gpg failed to sign the data")
    asks = "Start the key's agent, or let gpg ask here: export GPG_TTY=$(tty), then: skilld accept p1"
    assert unsigned == asks
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg"):
        person.write(f".git/hooks/{name}", "#!/bin/sh\necho not today >&2\nexit 1\n").chmod(0o755)
    assert raises_refusal("the pre-commit hook refused the commit: not today$") == "Fix that, then: skilld accept p1"
    assert person.git("status", "--porcelain") == ""


def test_a_hook_that_rewrites_and_refuses_loses_nothing(harness_with_p1: Harness) -> None:
    person, harness = harness_with_p1.person, harness_with_p1
    person.write("staged.txt", "staged\n")
    person.git("add", "staged.txt")
    hook = person.write(".git/hooks/pre-commit", f"#!/bin/sh\necho tidied >> {SKILL}\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(RefusedError, match="is kept as git object") as raises_refusal:
        harness.accept("p1")
    assert person.skill.read_text() == TEXT
    assert person.git("status", "--porcelain") == "A  staged.txt"
    kept = person.git("cat-file", "blob", raises_refusal.value.cause.rsplit(" ", 1)[1])
    assert kept == (TEXT.replace("- Tag", "- Do a dry run.\n- Tag") + "tidied").rstrip("\n")


@pytest.mark.parametrize("flag", ["assume-unchanged", "skip-worktree"])
def test_changes_git_is_told_to_ignore_stay_the_persons(harness_with_p1: Harness, flag: str) -> None:
    person, harness = harness_with_p1.person, harness_with_p1
    person.git("update-index", f"--{flag}", SKILL)
    tip = harness.accept("p1").commit  # the flag alone is no reason to refuse
    person.git("update-index", f"--{flag}", SKILL)  # git drops the one where it writes the file
    person.write(SKILL, unfinished := person.skill.read_text() + "unfinished\n")
    for decide in (harness.revert, harness.accept):
        with pytest.raises(RefusedError) as error:
            decide("p1")
        assert error.value.cause == f"{SKILL} has uncommitted changes that git ignores ({flag})"
        assert f"update-index --no-{flag} {SKILL}, then: skilld " in (error.value.remedy or "")
    assert (person.tip(), person.skill.read_text()) == (tip, unfinished)


def test_a_lock_on_packed_refs_leaves_no_cherry_pick_in_progress(harness_with_p1: Harness) -> None:
    person, harness = harness_with_p1.person, harness_with_p1
    (person.root / ".git/packed-refs.lock").touch()
    assert harness.accept("p1").method is CommitMethod.GIT
    assert harness.revert("p1").method is CommitMethod.GIT
    assert person.skill.read_text() == TEXT
    assert not [*(person.root / ".git").glob("*_HEAD")]


def test_a_read_only_folder_is_refused(person: Person, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    proposal = harness.stage("p1", DRY)
    person.write("staged.txt", "staged\n")
    person.git("add", "staged.txt")  # so that it is done by the lines
    monkeypatch.setattr(whole_files, "write_atomically", full)
    with pytest.raises(RefusedError, match="Read-only file system"):
        harness.accept("p1")
    assert person.tip() != proposal.commit
    assert person.skill.read_text() == TEXT


def test_the_persons_hooks_run_and_foreign_variables_do_not_redirect(
    harness_with_p1: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, harness = harness_with_p1.person, harness_with_p1
    hook = person.write(".git/hooks/post-commit", "#!/bin/sh\ntouch hook-ran\n")
    hook.chmod(0o755)
    foreign = {"GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere/index", "GIT_COMMITTER_NAME": "Pat at Work"}
    for name, value in foreign.items():
        monkeypatch.setenv(name, value)
    harness.accept("p1")
    assert (person.root / "hook-ran").exists()
    assert person.git("log", "-1", "--format=%an %cn") == "skilld Pat at Work"


def test_a_file_with_line_ending_conversion_stays_clean(person: Person, harness: Harness) -> None:
    person.commit("endings", {".gitattributes": "*.md text eol=crlf\n"})
    person.skill.unlink()
    person.git("checkout", "--", SKILL)
    for name, apply in APPENDED.items():
        harness.stage(name, apply)
    harness.accept("c")
    harness.accept("a")
    assert b"- Push the tag.\r\n- Learned a.\r\n- Learned c.\r\n" in person.skill.read_bytes()
    assert "\r" not in person.git("cat-file", "blob", f"HEAD:{SKILL}")
    assert person.git("status", "--porcelain") == ""


def test_accept_worktree_only_writes_the_file(harness_with_p1: Harness) -> None:
    person, harness = harness_with_p1.person, harness_with_p1
    person.skill.chmod(0o755)
    person.write(SKILL, TEXT + "unfinished\n")
    tip = person.tip()
    assert accept_worktree(harness.proposals["p1"], DRY)
    assert person.skill.read_text() == TEXT.replace("- Tag", "- Do a dry run.\n- Tag") + "unfinished\n"
    assert person.skill.stat().st_mode & 0o777 == 0o755
    assert person.tip() == tip
    assert person.git("diff", "--cached", "--name-only") == ""
    assert [path.name for path in person.skill.parent.iterdir()] == ["SKILL.md"]
    person.write(SKILL, "other\n")
    with pytest.raises(SkilldError, match="anchor not found"):
        accept_worktree(harness.proposals["p1"], DRY)
    assert person.skill.read_text() == "other\n"


@pytest.mark.parametrize(
    "apply",
    [remove_line("- Tag the commit."), replace_line("- Tag the commit.", "- Sign it.")],
    ids=["removal", "change"],
)
def test_removals_and_changes_are_reverted_too(person: Person, harness: Harness, apply: object) -> None:
    assert callable(apply)
    harness.stage("p1", apply)
    harness.accept("p1")
    person.commit("near by", {SKILL: person.skill.read_text().replace("- Run the tests.", "- Run all tests.")})
    person.commit("near by", {SKILL: person.skill.read_text().replace("- Push the tag.", "- Push it.")})
    harness.revert("p1")
    expected = TEXT.replace("- Run the tests.", "- Run all tests.").replace("- Push the tag.", "- Push it.")
    assert person.skill.read_text() == expected


@pytest.mark.parametrize("moved", ["acb", "cba", "cab", "bac"])
@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_a_line_that_was_moved_is_taken_out(harness_with_three: Harness, moved: str, name: str) -> None:
    person, harness = harness_with_three.person, harness_with_three
    for one in "abc":
        harness.accept(one)
        harness.drop(one)
    head = TEXT.partition("- Push the tag.")[0] + "- Push the tag.\n"
    tail = TEXT.removeprefix(head)
    person.commit("order", {SKILL: head + "".join(f"- Learned {one}.\n" for one in moved) + tail})
    assert harness.revert(name).commit == person.tip()
    left = "".join(f"- Learned {one}.\n" for one in moved if one != name)
    assert (person.skill.read_text(), person.git("status", "--porcelain")) == (head + left + tail, "")


def test_a_squash_commit_is_not_reverted_as_a_whole(person: Person, harness: Harness) -> None:
    harness.stage("a", APPENDED["a"])
    harness.stage("b", APPENDED["b"])
    person.git("merge", "--quiet", "--squash", "skilld/staging")
    person.git("commit", "--quiet", "--no-edit")
    harness.revert("a")
    assert "- Learned a." not in person.show()
    assert "- Learned b." in person.show()
