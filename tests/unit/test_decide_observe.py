from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from skilld.errors import RefusedError
from skilld.proposals.amend import stage_and_store
from skilld.proposals.decide import accepting, decide, reverting
from skilld.proposals.model import CHANGED_NOTE, EDITED_NOTE, GitStatus, Observation
from skilld.proposals.observe import observe
from skilld.proposals.poll import refresh
from skilld.proposals.results import agents_around
from skilld.store import Store
from skilld.store.transcripts import ActiveSession
from skilld.types import Op, Operation, Proposal, State
from support.proposals import make_proposal
from support.repos import (
    AT,
    SKILL,
    TEXT,
    Harness,
    Person,
    harness_with,
    insert_below,
    isolate_git,
    new_repo,
    remove_line,
    replace_line,
)

DRY = insert_below("- Run the tests.", "- Do a dry run.")
NEWS = insert_below("- Push the tag.", "- Write the news.")


@pytest.fixture
def harness(templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    """Return a harness with two proposals: p1 to be decided, p2 to stay open."""
    isolate_git(monkeypatch, tmp_path / "home")
    return harness_with({"p1": DRY, "p2": NEWS}, templates / "two", tmp_path)


@pytest.fixture
def person(harness: Harness) -> Person:
    return harness.person


def merge(person: Person, harness: Harness) -> str:
    person.commit("meanwhile", {"src/app.py": "print(2)\n"})
    person.git("merge", "--quiet", "--no-ff", "-m", "bring in", harness.proposals["p1"].commit)
    return harness.proposals["p1"].commit


def fast_forward(person: Person, harness: Harness) -> str:
    person.git("merge", "--quiet", "--ff-only", harness.proposals["p1"].commit)
    return person.tip()


def squash(person: Person, harness: Harness) -> str:
    person.commit("meanwhile", {"src/app.py": "print(2)\n"})
    person.git("merge", "--quiet", "--squash", harness.proposals["p1"].commit)
    person.git("commit", "--quiet", "--no-edit")
    return person.tip()


def pick(person: Person, harness: Harness) -> str:
    person.commit("meanwhile", {"src/app.py": "print(2)\n"})
    person.git("cherry-pick", harness.proposals["p1"].commit)
    return person.tip()


def pick_under_another_message(person: Person, harness: Harness) -> str:
    person.commit("meanwhile", {SKILL: TEXT.replace("Keep the", "Always keep the")})
    person.git("cherry-pick", "--no-commit", harness.proposals["p1"].commit)
    person.git("commit", "--quiet", "-m", "a dry run")
    return person.tip()


def rebase(person: Person, harness: Harness) -> str:
    person.commit("meanwhile", {"src/app.py": "print(2)\n"})
    person.git("switch", "--quiet", "-c", "review", harness.proposals["p1"].commit)
    person.git("rebase", "--quiet", "main")
    person.git("switch", "--quiet", "main")
    person.git("merge", "--quiet", "--ff-only", "review")
    return person.tip()


def typed_by_hand(person: Person, harness: Harness) -> str:
    assert harness.proposals
    text = person.skill.read_text().replace("- Tag", "- Do a dry run.\n- Tag").replace("Keep the", "Always keep the")
    return person.commit("by hand", {SKILL: text})


def by_fetch(person: Person, harness: Harness) -> str:
    """Squash it on the host and fetch; the local main stays behind."""
    host = Person(person.root.parent / "host")
    person.git("clone", "--quiet", "--no-local", ".", str(host.root))
    host.git("fetch", "--quiet", "origin", "refs/skilld/proposals/*:refs/heads/p/*")
    host.git("merge", "--quiet", "--squash", "p/p1")
    host.git("commit", "--quiet", "-m", f"Say it (#7)\n\n* {host.git('log', '-1', '--format=%B', 'p/p1')}\n* more")
    person.git("remote", "add", "origin", str(host.root))
    person.git("fetch", "--quiet", "origin", "main")
    assert harness.proposals
    return person.tip("origin/main")


WAYS: list[Callable[[Person, Harness], str]] = [
    merge,
    fast_forward,
    squash,
    pick,
    pick_under_another_message,
    rebase,
    typed_by_hand,
    by_fetch,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_way_of_accepting_and_removing_by_hand_is_noticed(
    person: Person, harness: Harness, way: Callable[[Person, Harness], str]
) -> None:
    assert harness.observe("p1").seen is GitStatus.NOTHING
    commit = way(person, harness)
    found = harness.observe("p1")
    where = "committed; now only on the branch origin/main" if way is by_fetch else ""
    assert (found.seen, found.commit, found.note) == (GitStatus.LANDED, commit, where)
    assert harness.observe("p2").seen is GitStatus.NOTHING
    harness.mark_accepted("p1", landed=commit)
    if way is by_fetch:
        person.git("merge", "--quiet", "--ff-only", "origin/main")
    removed = person.commit("no more", {SKILL: person.skill.read_text().replace("- Do a dry run.\n", "")})
    assert harness.observe("p1") == Observation("p1", GitStatus.REVERTED, removed, "lines gone")


@pytest.mark.parametrize("way", [fast_forward, squash], ids=lambda way: way.__name__)
def test_git_revert_and_its_revert_are_noticed(
    person: Person, harness: Harness, way: Callable[[Person, Harness], str]
) -> None:
    harness.mark_accepted("p1", landed=way(person, harness))
    person.git("revert", "--no-edit", "HEAD")
    reverted = person.tip()
    assert harness.observe("p1") == Observation("p1", GitStatus.REVERTED, reverted, "reverted")
    person.git("revert", "--no-edit", "HEAD")
    assert harness.observe("p1") == Observation("p1", GitStatus.LANDED, person.tip(), "restored")


def test_a_revert_naming_a_short_commit_is_noticed_even_if_the_skill_is_gone(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    harness.accept("p1")
    person.git("-c", "revert.reference=true", "revert", "--no-edit", "HEAD")
    person.git("rm", "--quiet", SKILL)
    person.git("commit", "--quiet", "-m", "gone")
    assert harness.observe("p1").seen is GitStatus.REVERTED


def test_reverting_a_merge_reverts_what_it_brought(person: Person, harness: Harness) -> None:
    merge(person, harness)
    person.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert harness.observe("p1") == Observation("p1", GitStatus.REVERTED, person.tip(), "reverted")


def test_reverting_a_merge_of_a_rebased_branch_is_noticed(person: Person, harness: Harness) -> None:
    person.commit("meanwhile", {"src/app.py": "print(2)\n"})
    person.git("switch", "--quiet", "skilld/staging")
    person.git("rebase", "--quiet", "main")
    person.git("switch", "--quiet", "main")
    person.git("merge", "--quiet", "--no-ff", "-m", "bring in", "skilld/staging")
    assert [harness.observe(name).seen for name in ("p1", "p2")] == [GitStatus.LANDED, GitStatus.LANDED]
    person.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert [harness.observe(name).seen for name in ("p1", "p2")] == [GitStatus.REVERTED, GitStatus.REVERTED]


def test_an_amended_proposal_counts_as_edited_by_the_person(person: Person, harness: Harness) -> None:
    person.git("cherry-pick", harness.proposals["p1"].commit)
    person.write(SKILL, person.skill.read_text().replace("- Do a dry run.", "- Do a dry run with care."))
    person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    assert harness.observe("p1") == Observation("p1", GitStatus.LANDED, person.tip(), "named", EDITED_NOTE)


def test_later_rewording_is_an_edit_and_not_a_revert(person: Person, harness: Harness) -> None:
    commit = pick(person, harness)
    person.commit("word", {SKILL: person.skill.read_text().replace("- Do a dry run.", "- First do a dry run.")})
    assert harness.observe("p1") == Observation("p1", GitStatus.LANDED, commit, "named", CHANGED_NOTE)


def test_only_a_checked_out_branch_can_accept(person: Person, harness: Harness) -> None:
    person.git("branch", "review", "skilld/staging")
    assert harness.observe("p1").seen is GitStatus.NOTHING
    person.git("worktree", "add", "--quiet", "../linked", "review")
    assert harness.observe("p1").seen is GitStatus.LANDED
    assert harness.observe("p2").seen is GitStatus.LANDED


def test_the_staging_branch_itself_accepts_nothing_even_while_rebased(person: Person, harness: Harness) -> None:
    person.git("switch", "--quiet", "skilld/staging")
    assert harness.observe("p1").seen is GitStatus.BUSY
    person.git("rebase", "--quiet", "--exec", "false", "HEAD~1", check=False)
    assert harness.observe("p1").seen is GitStatus.BUSY


def test_another_version_on_another_branch_accepts_no_removal(person: Person, harness: Harness) -> None:
    person.git("switch", "--quiet", "-c", "old")
    person.commit("long ago", {SKILL: "# Release\n"})
    person.git("switch", "--quiet", "main")
    person.commit("newer", {SKILL: TEXT + "\nNew.\n"})
    proposal = harness.stage("p3", remove_line("New."))
    assert proposal
    person.git("switch", "--quiet", "old")
    assert harness.observe("p3").seen is GitStatus.NOTHING


def test_the_default_branch_takes_precedence(person: Person, harness: Harness) -> None:
    pick(person, harness)
    person.git("switch", "--quiet", "-c", "feature")
    person.git("revert", "--no-edit", "HEAD")
    assert harness.observe("p1").seen is GitStatus.LANDED


def test_the_newer_of_main_and_its_remote_counts(person: Person, harness: Harness) -> None:
    person.git("init", "--quiet", "--bare", "../host.git")
    person.git("remote", "add", "origin", "../host.git")
    pick(person, harness)
    person.git("revert", "--no-edit", "HEAD")
    person.git("push", "--quiet", "origin", "main")
    assert harness.observe("p1").seen is GitStatus.REVERTED
    person.git("revert", "--no-edit", "HEAD")
    assert harness.observe("p1").seen is GitStatus.LANDED


def test_a_later_merge_overrides_a_rejection(person: Person, harness: Harness) -> None:
    commit = harness.proposals["p1"].commit
    harness.drop("p1")
    assert harness.observe("p1").seen is GitStatus.DROPPED
    person.git("cherry-pick", commit)
    assert harness.observe("p1").seen is GitStatus.LANDED


def test_a_missing_or_moved_repository_is_noticed(person: Person, harness: Harness) -> None:
    proposals = list(harness.proposals.values())
    person.root.rename(person.root.parent / "elsewhere")
    assert [found.seen for found in observe(person.root, proposals)] == [GitStatus.GONE, GitStatus.GONE]
    new_repo(person.root, text="# Other\n")
    assert [found.seen for found in observe(person.root, proposals)] == [GitStatus.GONE, GitStatus.GONE]


def test_a_missing_skill_reverts_nothing(person: Person, harness: Harness) -> None:
    pick(person, harness)
    shutil.rmtree(person.root / "skills")
    person.commit("moved away")
    assert harness.observe("p1").seen is GitStatus.LANDED


@pytest.mark.parametrize(
    "apply",
    [remove_line("- Tag the commit."), replace_line("- Tag the commit.", "- Sign it.")],
    ids=["removal", "change"],
)
def test_removals_and_changes_by_hand_are_recognized_and_can_be_reverted(
    person: Person, harness: Harness, apply: Callable[[bytes], bytes]
) -> None:
    harness.stage("p3", apply)
    person.commit("by hand", {SKILL: apply(TEXT.encode())})
    assert harness.observe("p3").how == "same change"
    harness.mark_accepted("p3", landed=person.tip())
    person.commit("back", {SKILL: TEXT + "More.\n"})
    assert harness.observe("p3").seen is GitStatus.REVERTED


def test_a_revert_on_another_branch_keeps_who_accepted(person: Person, store: Store) -> None:
    edit = (Operation(Op.INSERT_AFTER, "- Run the tests.", "- Do a dry run."),)
    stage_and_store(
        store, make_proposal(id="p1", skill="release", path=str(person.skill), operations=edit, created_at=AT)
    )

    def p1() -> Proposal:
        found = store.proposals.get("p1")
        assert found is not None
        return found

    decide(store, p1(), accepting())
    person.git("switch", "--quiet", "-c", "feature")
    decide(store, p1(), reverting())
    assert (p1().state, store.proposals.decided_by("p1")) == (State.REVERTED, "command")
    person.git("switch", "--quiet", "main")
    refresh(store)
    assert (p1().state, store.proposals.decided_by("p1")) == (State.ACCEPTED, "command")


def _accept_on_feature(person: Person, store: Store, way: str) -> Proposal:
    """Return a proposal that was accepted on the branch feature, with main checked out again."""
    edit = (Operation(Op.INSERT_AFTER, "- Run the tests.", "- Do a dry run."),)
    stage_and_store(
        store, make_proposal(id="p1", skill="release", path=str(person.skill), operations=edit, created_at=AT)
    )
    person.git("switch", "--quiet", "-c", "feature")
    made = store.proposals.get("p1")
    assert made is not None
    if way == "command":
        decide(store, made, accepting())
    elif way == "merge":
        person.git("merge", "--quiet", "--ff-only", "skilld/staging")
    else:
        person.commit("by hand", {SKILL: DRY(TEXT.encode())})
    refresh(store)
    person.git("switch", "--quiet", "main")
    found = store.proposals.get("p1")
    assert found is not None
    assert found.state is State.ACCEPTED
    return found


@pytest.mark.parametrize("way", ["command", "merge", "by hand"])
def test_what_only_another_branch_has_is_not_reverted_here(person: Person, store: Store, way: str) -> None:
    p1 = _accept_on_feature(person, store, way)
    tips = person.git("for-each-ref")
    with pytest.raises(RefusedError) as refused:
        decide(store, p1, reverting())
    assert refused.value.cause == f"it is on the branch feature ({p1.landed[:10]})"
    assert refused.value.remedy == "Check that out, then: skilld revert p1"
    assert (store.proposals.get("p1"), person.git("for-each-ref")) == (p1, tips)

    person.git("switch", "--quiet", "feature")
    decide(store, p1, reverting())
    person.git("switch", "--quiet", "main")
    person.git("merge", "--quiet", "feature")
    assert "dry run" not in person.show()


def test_in_another_work_tree_the_revert_is_made_there(person: Person, store: Store, tmp_path: Path) -> None:
    p1 = _accept_on_feature(person, store, "command")
    person.git("worktree", "add", "--quiet", str(tmp_path / "there"), "feature")
    with pytest.raises(RefusedError) as refused:
        decide(store, p1, reverting())
    assert refused.value.remedy == f"git -C {tmp_path / 'there'} revert {person.tip('feature')}"


@pytest.mark.parametrize("repo", ["work", "there"])
def test_s3_an_agent_in_another_work_tree_may_have_decided(person: Person, tmp_path: Path, repo: str) -> None:
    person.git("worktree", "add", "--quiet", "../there")
    places = {"work": person.root, "there": person.root.with_name("there")}
    proposal = make_proposal(repo=str(places[repo]), path=str(places[repo] / SKILL))
    folders = {"codex": places["work"], "gemini-cli": places["there"] / "src", "aider": tmp_path / "elsewhere"}
    sessions = [ActiveSession(agent, str(folder), 1.0) for agent, folder in folders.items()]
    assert agents_around(sessions, proposal, 2.0) == ["codex", "gemini-cli"]


@pytest.mark.parametrize("way", ["taken out there", "branch deleted", "merged", "squashed"])
def test_what_was_taken_out_or_is_on_no_branch_needs_no_commit(person: Person, store: Store, way: str) -> None:
    p1 = _accept_on_feature(person, store, "command")
    if way == "taken out there":
        person.git("switch", "--quiet", "feature")
        person.git("revert", "--no-edit", "HEAD")
        person.git("switch", "--quiet", "main")
    elif way == "branch deleted":
        person.git("branch", "--quiet", "-D", "feature")
    else:
        person.git("merge", "--quiet", "--ff-only" if way == "merged" else "--squash", "feature")
        person.commit("with a message of my own", {"README.md": "read it\n"})
        person.commit("back", {SKILL: TEXT})
    report = decide(store, p1, reverting())
    assert "No commit was needed" in "".join(report.lines)


def test_another_proposal_that_says_the_same_was_not_reverted_with_this_one(harness: Harness, person: Person) -> None:
    """In another work tree, whose branch is older, the same was said again after the first was taken out on main."""
    person.git("branch", "older")
    harness.accept("p1")
    harness.drop("p1")
    harness.revert("p1")
    other = person.root.parent / "other"
    person.git("worktree", "add", "--quiet", str(other), "older")
    again = Harness(Person(other), standing=dict(harness.standing), proposals=dict(harness.proposals))
    again.stage("p3", DRY)
    assert again.observe("p3").seen is GitStatus.NOTHING
