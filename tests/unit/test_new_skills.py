"""A proposal of a new skill, from the staging branch to the work tree and back, on real git."""

from __future__ import annotations

import stat
from collections.abc import Callable

import pytest

from skilld.errors import Exit, RefusedError, SkilldError
from skilld.proposals.auto_apply import apply_unasked
from skilld.proposals.cherry_pick import accept_worktree
from skilld.proposals.explain import find_origin
from skilld.proposals.model import EDITED_NOTE, CommitMethod, GitStatus
from skilld.proposals.propose import rebuild
from skilld.proposals.remove_refs import remove_refs
from skilld.types import State
from support.new_skills import NEW_SKILL, NEW_TEXT, OTHER_TEXT, commit_new, propose_new
from support.repos import SKILL, Harness, Person, create_skill, insert_below, snapshot
from support.repository_states import detached, rebasing

DRY = insert_below("- Run the tests.", "- Do a dry run.")
STAGING = "refs/heads/skilld/staging"
REVIEW = ".claude/skills/review/SKILL.md"
REVIEWING = NEW_TEXT.replace("name: deploy", "name: review")


def test_a_new_skill_is_one_commit_with_one_file(person: Person, harness: Harness) -> None:
    person.write("src/app.py", "print(4)\n")
    person.write("staged.txt", "staged\n")
    person.git("add", "staged.txt")
    person.git("status")
    before = snapshot(person.root)
    proposal = commit_new(harness)
    assert snapshot(person.root) == before
    assert person.git("diff", "--name-status", f"{proposal.commit}^", proposal.commit) == f"A\t{NEW_SKILL}"
    assert person.git("show", f"{proposal.commit}:{NEW_SKILL}") + "\n" == NEW_TEXT
    assert person.git("ls-tree", proposal.commit, NEW_SKILL).split()[0] == "100644"
    assert person.log("-1", STAGING) == ["skilld(deploy): new skill: say n1"]
    assert person.tip(STAGING) == person.tip("refs/skilld/proposals/n1") == proposal.commit
    assert person.git("fsck", "--strict", "--no-dangling") == ""
    assert harness.drop("n1").tip is None
    assert snapshot(person.root) == before


def test_merging_it_brings_only_the_skill(person: Person, harness: Harness) -> None:
    main = person.tip()
    person.git("switch", "--quiet", "-c", "feature")
    person.commit("unfinished", {"src/app.py": "print(3)\n"})
    assert commit_new(harness).base == main
    person.git("switch", "--quiet", "main")
    person.git("merge", "--quiet", "skilld/staging")
    assert person.files_changed(main, "main") == [NEW_SKILL]
    assert harness.observe("n1").seen is GitStatus.LANDED


def test_it_is_based_on_head_where_the_default_branch_has_such_a_skill(person: Person, harness: Harness) -> None:
    person.commit("theirs", {NEW_SKILL: OTHER_TEXT})
    person.git("switch", "--quiet", "-c", "feature")
    person.git("rm", "--quiet", NEW_SKILL)
    gone = person.commit("not here")
    assert commit_new(harness).base == gone


def test_edits_and_new_skills_share_one_branch(person: Person, harness: Harness) -> None:
    person.commit("later", {"src/app.py": "print(2)\n"})
    harness.stage("p1", DRY)
    commit_new(harness)
    harness.stage("p2", insert_below("- Push the tag.", "- Write the news."))
    commit_new(harness, "n2", REVIEW, REVIEWING)
    subjects = ["say p1", "new skill: say n1", "say p2", "new skill: say n2"]
    assert [line.split(": ", 1)[1] for line in person.log("--reverse", STAGING, "^main")] == subjects
    harness.drop("p1")
    assert person.git("diff", "--name-only", f"main...{STAGING}").splitlines() == [NEW_SKILL, REVIEW, SKILL]
    harness.drop("n1")
    assert person.git("diff", "--name-only", f"main...{STAGING}").splitlines() == [REVIEW, SKILL]
    person.commit("skill work", {SKILL: person.skill.read_text() + "More.\n"})
    line = rebuild(person.root, harness.open_edits(), harness.decided)
    assert (line.ended, line.base_info and line.base_info.commit) == ({}, person.tip())
    assert person.git("show", f"{STAGING}:{REVIEW}")


def test_making_it_twice_makes_one_commit(person: Person, harness: Harness) -> None:
    proposal = commit_new(harness)
    again = commit_new(harness)
    assert again.commit == proposal.commit
    assert propose_new(harness, "n2") is None
    with pytest.raises(SkilldError, match="a skill with that name now exists"):
        propose_new(harness, "n3", text=OTHER_TEXT)
    assert person.tip(STAGING) == proposal.commit


def test_an_existing_skill_of_that_name_ends_it(person: Person, harness: Harness) -> None:
    commit_new(harness)
    commit_new(harness, "n2", REVIEW, REVIEWING)
    person.commit("mine", {NEW_SKILL: OTHER_TEXT, REVIEW: REVIEWING})
    before = snapshot(person.root)
    with pytest.raises(RefusedError, match="a skill with that name now exists"):
        harness.accept("n1")
    assert snapshot(person.root) == before
    line = rebuild(person.root, harness.open_edits())
    assert (line.tip, {name: after for name, (after, _) in line.ended.items()}) == (
        None,
        {"n1": State.STALE, "n2": State.ACCEPTED},
    )


def test_accepting_cherry_picks_and_writes_the_file(person: Person, harness: Harness) -> None:
    proposal = commit_new(harness)
    landed = harness.accept("n1")
    assert (landed.method, landed.commit) == (CommitMethod.GIT, person.tip())
    assert (person.root / NEW_SKILL).read_text() == NEW_TEXT
    assert person.files_changed("HEAD^", "HEAD") == [NEW_SKILL]
    assert person.git("log", "-1", "--format=%an %cn") == "skilld Pat Person"
    assert person.git("status", "--porcelain") == ""
    assert harness.accept("n1").method is CommitMethod.NOTHING
    assert harness.drop("n1").tip is None
    assert harness.observe("n1").seen is GitStatus.LANDED
    origin = find_origin(person.root / NEW_SKILL, 9)
    assert (origin.text, origin.proposals) == ("- Watch the graphs.", ("n1",))
    assert proposal.commit != landed.commit or person.tip("main^") == proposal.base


def test_reverting_removes_the_file_and_its_folder(person: Person, harness: Harness) -> None:
    commit_new(harness)
    harness.accept("n1")
    harness.drop("n1")
    landed = harness.revert("n1")
    assert landed.method is CommitMethod.GIT
    assert "This reverts commit" in person.git("log", "-1", "--format=%B")
    assert not (person.root / ".claude").exists()
    assert harness.observe("n1").seen is GitStatus.REVERTED
    assert harness.revert("n1").method is CommitMethod.NOTHING


def test_other_staged_work_stays_staged(person: Person, harness: Harness) -> None:
    commit_new(harness)
    person.write("src/app.py", "print(9)\n")
    person.write("staged.txt", "staged\n")
    person.git("add", "staged.txt")
    assert harness.accept("n1").method is CommitMethod.ANCHORS
    assert person.git("status", "--porcelain").splitlines() == ["M src/app.py", "A  staged.txt"]
    assert person.files_changed("HEAD^", "HEAD") == [NEW_SKILL]
    assert person.git("log", "-1", "--format=%an %cn %at") == "skilld Pat Person 1767607200"
    assert harness.revert("n1").method is CommitMethod.ANCHORS
    assert person.git("status", "--porcelain").splitlines() == ["M src/app.py", "A  staged.txt"]
    assert person.files_changed("HEAD^", "HEAD") == [NEW_SKILL]
    assert not (person.root / ".claude").exists()


def git_state(person: Person) -> tuple[object, ...]:
    """Return what the person has: their commit, index and files."""
    files = {name: facts for name, facts in snapshot(person.root).items() if not name.startswith(".git/")}
    return person.tip(), person.git("ls-files", "--stage"), person.git("status", "--porcelain"), files


@pytest.mark.parametrize("verb", ["accept", "revert"])
def test_a_failing_hook_leaves_everything_unchanged(person: Person, harness: Harness, verb: str) -> None:
    commit_new(harness)
    if verb == "revert":
        harness.accept("n1")
    person.write("staged.txt", "staged\n")
    person.git("add", "staged.txt")
    person.git("status")
    person.write(".git/hooks/pre-commit", "#!/bin/sh\necho no >&2\nexit 1\n").chmod(0o755)
    before = git_state(person)
    with pytest.raises(RefusedError, match="no"):
        harness.accept("n1") if verb == "accept" else harness.revert("n1")
    assert git_state(person) == before


def test_later_changes_are_not_removed(person: Person, harness: Harness) -> None:
    commit_new(harness)
    harness.accept("n1")
    harness.drop("n1")
    person.commit("mine", {NEW_SKILL: NEW_TEXT + "- Mine.\n"})
    assert harness.observe("n1").seen is GitStatus.LANDED
    before = snapshot(person.root)
    with pytest.raises(RefusedError, match="has changed since it was created"):
        harness.revert("n1")
    assert snapshot(person.root) == before


def leave_untracked(person: Person) -> None:
    person.write(NEW_SKILL, "mine\n")


def put_file_above(person: Person) -> None:
    person.write(".claude/skills", "mine\n")


def stage_and_delete(person: Person) -> None:
    person.write(NEW_SKILL, "mine\n")
    person.git("add", NEW_SKILL)
    (person.root / NEW_SKILL).unlink()


def add_twin(person: Person) -> None:
    person.write(NEW_SKILL.replace("deploy", "Deploy"), "mine\n")


def link_parent(person: Person) -> None:
    (person.root.parent / "outside").mkdir()
    (person.root / ".claude").symlink_to("../outside")


def ignore_folder(person: Person) -> None:
    person.write(".git/info/exclude", ".claude/\n")


def on_staging(person: Person) -> None:
    person.git("switch", "--quiet", "skilld/staging")
    (person.root / NEW_SKILL).unlink()
    person.git("rm", "--quiet", "--cached", NEW_SKILL)
    person.git("commit", "--quiet", "-m", "off")


@pytest.mark.parametrize(
    "build",
    [
        leave_untracked,
        put_file_above,
        stage_and_delete,
        add_twin,
        link_parent,
        ignore_folder,
        detached,
        on_staging,
        rebasing,
    ],
)
def test_a_refused_accept_changes_nothing(person: Person, harness: Harness, build: Callable[[Person], object]) -> None:
    commit_new(harness)
    build(person)
    before = snapshot(person.root.parent)
    with pytest.raises(RefusedError) as error:
        harness.accept("n1")
    assert error.value.code is Exit.REFUSED
    assert snapshot(person.root.parent) == before
    if build in {leave_untracked, put_file_above, link_parent}:
        with pytest.raises(RefusedError):
            accept_worktree(harness.proposals["n1"], create_skill(NEW_TEXT))
        assert snapshot(person.root.parent) == before


def test_it_can_be_accepted_as_a_file_only(person: Person, harness: Harness) -> None:
    commit_new(harness)
    assert accept_worktree(harness.proposals["n1"], create_skill(NEW_TEXT))
    assert (person.root / NEW_SKILL).read_text() == NEW_TEXT
    assert [path.name for path in (person.root / ".claude/skills/deploy").iterdir()] == ["SKILL.md"]
    assert person.git("status", "--porcelain") == "?? .claude/"
    assert not accept_worktree(harness.proposals["n1"], create_skill(NEW_TEXT))
    assert stat.S_IMODE((person.root / NEW_SKILL).stat().st_mode) == 0o644


def test_auto_mode_never_creates_a_skill(person: Person, harness: Harness) -> None:
    commit_new(harness)
    before = snapshot(person.root)
    with pytest.raises(RefusedError, match="always need your approval"):
        apply_unasked(harness.edit("n1"))
    assert snapshot(person.root) == before


def line_endings_converted(person: Person) -> Person:
    person.git("config", "core.autocrlf", "true")
    return person


def sparse(person: Person) -> Person:
    person.git("sparse-checkout", "set", "skills")
    return person


def sparse_by_patterns(person: Person) -> Person:
    person.git("sparse-checkout", "set", "--no-cone", "/skills/", "/README.md")
    return person


def linked_work_tree(person: Person) -> Person:
    person.git("worktree", "add", "--quiet", "-b", "side", "../linked")
    return Person(person.root.parent / "linked")


@pytest.mark.parametrize(
    ("build", "way"),
    [
        *(
            (build, CommitMethod.GIT)
            for build in (line_endings_converted, sparse, sparse_by_patterns, linked_work_tree)
        ),
        *((build, CommitMethod.ANCHORS) for build in (line_endings_converted, sparse)),
    ],
)
def test_it_is_accepted_and_reverted_in_every_kind_of_work_tree(
    person: Person, build: Callable[[Person], Person], way: CommitMethod
) -> None:
    person = build(person)
    harness = Harness(person)
    commit_new(harness)
    if way is CommitMethod.ANCHORS:
        person.write("staged.txt", "staged\n")
        person.git("add", "--sparse", "staged.txt")
    before = person.git("status", "--porcelain")
    assert harness.accept("n1").method is way
    assert (person.root / NEW_SKILL).read_text() == NEW_TEXT
    assert (person.show(NEW_SKILL) + "\n", person.git("status", "--porcelain")) == (NEW_TEXT, before)
    assert harness.observe("n1").seen is GitStatus.LANDED
    assert harness.revert("n1").method is way
    assert not (person.root / NEW_SKILL).exists()
    assert person.git("status", "--porcelain") == before
    assert harness.observe("n1").seen is GitStatus.REVERTED


def test_a_renamed_folder_is_created_again(person: Person, harness: Harness) -> None:
    person.commit("skills", {f".claude/skills/{name}/SKILL.md": f"# {name}\n" * 5 for name in "ab"})
    commit_new(harness)
    person.git("mv", ".claude/skills", "moved")
    person.commit("moved")
    harness.accept("n1")
    assert (person.root / NEW_SKILL).read_text() == NEW_TEXT
    assert person.git("status", "--porcelain") == ""


def amend(person: Person) -> None:
    person.git("switch", "--quiet", "skilld/staging")
    person.write(NEW_SKILL, NEW_TEXT + "- Mine.\n")
    person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    person.git("switch", "--quiet", "main")


def test_a_version_amended_on_the_branch_is_accepted(person: Person, harness: Harness) -> None:
    commit_new(harness)
    amend(person)
    person.write("staged.txt", "staged\n")
    person.git("add", "staged.txt")
    assert harness.accept("n1").method is CommitMethod.ANCHORS
    assert (person.root / NEW_SKILL).read_text() == NEW_TEXT + "- Mine.\n"
    assert harness.observe("n1").note == EDITED_NOTE


def merge(person: Person, harness: Harness) -> None:
    person.git("merge", "--quiet", "--no-ff", "-m", "bring in", harness.proposals["n1"].commit)


def squash(person: Person, harness: Harness) -> None:
    person.git("merge", "--quiet", "--squash", harness.proposals["n1"].commit)
    person.git("commit", "--quiet", "--no-edit")


def write_by_hand(person: Person, harness: Harness) -> None:
    assert harness.proposals
    person.commit("a skill", {NEW_SKILL: NEW_TEXT, "src/app.py": "print(7)\n"})


@pytest.mark.parametrize(
    ("bring", "take"), [*((bring, "revert") for bring in (merge, squash, write_by_hand)), (merge, "delete")]
)
def test_decisions_made_with_plain_git_are_noticed(
    person: Person, harness: Harness, bring: Callable[[Person, Harness], None], take: str
) -> None:
    commit_new(harness)
    assert harness.observe("n1").seen is GitStatus.NOTHING
    person.commit("meanwhile", {"src/app.py": "print(2)\n"})
    bring(person, harness)
    seen = harness.observe("n1")
    assert (seen.seen, seen.note) == (GitStatus.LANDED, "")
    harness.mark_accepted("n1", landed=seen.commit)
    harness.drop("n1")
    if take == "delete":
        person.git("rm", "--quiet", NEW_SKILL)
        person.commit("not wanted")
    elif bring is merge:
        person.git("revert", "--no-edit", "-m", "1", "HEAD")
    else:
        person.git("revert", "--no-edit", "HEAD")
    assert harness.observe("n1").seen is GitStatus.REVERTED


def test_dropping_it_from_the_branch_is_noticed(person: Person, harness: Harness) -> None:
    commit_new(harness)
    person.git("branch", "--quiet", "-D", "skilld/staging")
    assert harness.observe("n1").seen is GitStatus.DROPPED


def test_withdrawing_removes_it(person: Person, harness: Harness) -> None:
    before = snapshot(person.root)
    commit_new(harness)
    assert set(remove_refs(person.root).refs) == {STAGING, "refs/skilld/proposals/n1"}
    assert snapshot(person.root) == before


def test_create_does_not_fit_an_existing_skill(person: Person, harness: Harness) -> None:
    with pytest.raises(SkilldError, match="a skill with that name now exists"):
        harness.propose("p1", create_skill(NEW_TEXT), path=person.skill)
