"""Issue 18, 5: when the commit of an undone acceptance is removed, and when it is reverted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from skilld.git import refs
from skilld.proposals.model import GitStatus
from skilld.proposals.observe import observe
from skilld.proposals.undo_accept import remove_commit
from skilld.types import Proposal, State
from support.repos import SKILL, TEXT, Harness, Person, insert_below

DRY = insert_below("- Run the tests.", "- Do a dry run.")
NEWS = insert_below("- Push the tag.", "- Write the news.")
DONE = TEXT.replace("- Tag", "- Do a dry run.\n- Tag")


def accept_p1(harness: Harness) -> Proposal:
    harness.stage("p1", DRY)
    harness.stage("p2", NEWS)
    landed = harness.accept("p1")
    harness.drop("p1")  # the staging branch rests on the commit now, as it does in the program
    return replace(harness.proposals["p1"], state=State.ACCEPTED, landed=landed.commit)


def test_an_unshared_commit_is_removed_with_its_file(person: Person, harness: Harness) -> None:
    before = person.tip()
    proposal = accept_p1(harness)
    person.write("notes.txt", "untracked\n")
    assert person.git("merge-base", "--is-ancestor", proposal.landed, "skilld/staging") == ""
    assert remove_commit(proposal) is None
    assert person.tip() == person.tip("main") == before
    assert person.skill.read_text() == TEXT
    assert person.git("status", "--porcelain") == "?? notes.txt"
    assert person.git("reflog", "-1", "--format=%gs") == "skilld: undo accept p1"
    assert person.git("fsck", "--no-dangling") == ""


def commit_on_top(person: Person, landed: str) -> str:
    assert landed
    person.commit("next", {"README.md": "more\n"})
    return "HEAD has moved to another commit"


def edit(person: Person, landed: str) -> str:
    assert landed
    person.write("README.md", "half a sentence")
    return "the work tree has uncommitted changes"


def stage(person: Person, landed: str) -> str:
    edit(person, landed)
    person.git("add", "README.md")
    return "the work tree has uncommitted changes"


def stash(person: Person, landed: str) -> str:
    assert landed
    person.write("README.md", "half a sentence")
    person.git("stash", "--quiet")
    return "stash contains it too"


def add_work_tree(person: Person, landed: str) -> str:
    place = person.root.parent / "beside"
    person.git("worktree", "add", "--quiet", "--detach", str(place), landed)
    return f"the work tree {place} contains it too"


def check_out_staging(person: Person, landed: str) -> str:
    assert landed
    person.git("worktree", "add", "--quiet", str(person.root.parent / "beside"), "skilld/staging")
    return "skilld/staging contains it too"


@pytest.mark.parametrize("happens", [commit_on_top, edit, stage, stash, add_work_tree, check_out_staging])
def test_otherwise_it_stays_and_says_why(
    person: Person, harness: Harness, happens: Callable[[Person, str], str]
) -> None:
    proposal = accept_p1(harness)
    why = happens(person, proposal.landed)
    before = person.tip(), person.git("status", "--porcelain"), person.skill.read_text()
    assert remove_commit(proposal) == why
    assert (person.tip(), person.git("status", "--porcelain"), person.skill.read_text()) == before


def test_it_stays_while_another_ref_contains_it(person: Person, harness: Harness) -> None:
    proposal = accept_p1(harness)
    for ref, name in (
        ("refs/heads/feature", "feature"),
        ("refs/tags/v1", "tags/v1"),
        ("refs/remotes/origin/main", "remotes/origin/main"),
    ):
        person.git("update-ref", ref, proposal.landed)
        assert remove_commit(proposal) == f"{name} contains it too"
        assert (person.tip(), person.git("status", "--porcelain")) == (proposal.landed, "")
        person.git("update-ref", "-d", ref)
    assert person.skill.read_text() == DONE


def test_a_commit_of_another_proposal_stays(person: Person, harness: Harness) -> None:
    harness.stage("p1", DRY)
    tip = person.commit("mine", {SKILL: DONE})
    landed = harness.accept("p1")
    assert landed.commit == tip
    proposal = replace(harness.proposals["p1"], state=State.ACCEPTED, landed=tip)
    assert remove_commit(proposal) == "no commit contains only this proposal"
    assert person.tip() == tip


def test_a_branch_that_moves_meanwhile_keeps_its_new_tip(
    person: Person, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = accept_p1(harness)
    move = refs.move_refs

    def after_another(*given: object) -> None:
        person.git("update-ref", "refs/heads/main", person.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "x"))
        move(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(refs, "move_refs", after_another)
    assert remove_commit(proposal) == "its branch has moved or is locked"
    assert person.log("-2") == ["x", "skilld(release): say p1"]
    assert person.skill.read_text() == DONE
    assert person.git("status", "--porcelain") == ""


def test_a_reverted_and_reopened_proposal_is_news_only_when_it_changes_again(person: Person, harness: Harness) -> None:
    proposal = accept_p1(harness)
    harness.revert("p1")
    harness.decided.discard("p1")
    harness.stage("p1", DRY, restored=True)
    reopened = replace(harness.proposals["p1"], state=State.OPEN, landed=proposal.landed)
    assert [one.seen for one in observe(person.root, [reopened])] == [GitStatus.NOTHING]
    person.git("cherry-pick", reopened.commit)
    assert [one.seen for one in observe(person.root, [reopened])] == [GitStatus.LANDED]
    person.git("revert", "--no-edit", "HEAD")
    assert [one.seen for one in observe(person.root, [reopened])] == [GitStatus.REVERTED]
