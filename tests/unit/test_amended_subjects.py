"""A commit that a person amends on the staging branch under a subject of their own stays its proposal's."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilld.errors import RefusedError
from skilld.git.staging_branch import STAGING_BRANCH, STAGING_REF
from skilld.proposals.model import EDITED_NOTE
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, Person

SUBJECT = "docs(release-notes): ask for a trial run"
MINE = "- Do a trial run before anything else."


def amend(person: Person, old: str = DRY, new: str = MINE, subject: str = SUBJECT) -> str:
    """Give the newest commit on the staging branch another text and a message of the person's own."""
    person.git("switch", "--quiet", STAGING_BRANCH)
    person.write(SKILL, person.show(ref=STAGING_BRANCH).replace(old, new))
    person.git("commit", "--quiet", "--all", "--amend", "--signoff", "-m", subject)
    oid = person.tip()
    person.git("switch", "--quiet", "main")
    return oid


def message(person: Person, ref: str) -> str:
    return person.git("log", "-1", "--format=%B", ref).strip()


def test_an_amended_commit_with_a_subject_of_its_own_is_the_proposals_text(life: ProposalLife) -> None:
    life.offer()
    amend(life.person)
    assert life.observe() == ("open", EDITED_NOTE)
    assert [one.text for one in life.get().operations] == [MINE]
    lines = message(life.person, STAGING_BRANCH).splitlines()
    assert lines[0] == SUBJECT
    assert lines[2].startswith("Signed-off-by: ")
    assert lines[3] == "Skilld-Proposal: p1"
    life.accept()
    assert MINE in life.person.show()
    assert DRY not in life.person.show()
    assert message(life.person, "main").splitlines() == lines
    assert life.observe() == ("accepted", EDITED_NOTE)
    assert life.person.git("for-each-ref", STAGING_REF) == ""
    life.revert()
    assert MINE not in life.person.show()


def test_it_is_accepted_as_amended_while_the_branch_is_checked_out(life: ProposalLife, tmp_path: Path) -> None:
    life.offer()
    amend(life.person)
    there = tmp_path / "there"
    life.person.git("worktree", "add", "--quiet", str(there), STAGING_BRANCH)
    assert life.observe() == ("open", EDITED_NOTE)
    assert life.get().summary == MINE.lstrip("- ")
    life.accept()
    assert MINE in life.person.show()
    assert DRY not in life.person.show()
    assert "Skilld-Proposal: p1" in message(life.person, "main")
    life.person.git("worktree", "remove", str(there))
    assert life.observe() == ("accepted", EDITED_NOTE)
    assert life.person.git("for-each-ref", STAGING_REF) == ""


def test_it_leaves_the_branch_with_its_proposal(life: ProposalLife, tmp_path: Path) -> None:
    life.offer()
    amend(life.person)
    there = tmp_path / "there"
    life.person.git("worktree", "add", "--quiet", str(there), STAGING_BRANCH)
    life.reject()
    life.person.git("worktree", "remove", str(there))
    life.observe_all()
    assert life.get().state.value == "rejected"
    assert life.person.git("for-each-ref", STAGING_REF) == ""


def test_a_pick_of_it_is_noticed(life: ProposalLife) -> None:
    life.offer()
    life.person.git("cherry-pick", amend(life.person))
    life.observe()
    life.observe()
    assert life.get().state.value == "accepted"
    assert life.get().summary == MINE.lstrip("- ")
    assert life.person.git("for-each-ref", STAGING_REF) == ""


def test_another_one_below_it_keeps_its_own_commit(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", "- Write the news.")
    amend(life.person, "- Write the news.", "- Write down what is new.")
    life.observe_all()
    assert [one.text for one in life.get("p1").operations] == [DRY]
    assert [one.text for one in life.get("p2").operations] == ["- Write down what is new."]


def test_a_commit_that_may_be_several_proposals_counts_as_none(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", "- Write the news.")
    person = life.person
    person.git("switch", "--quiet", STAGING_BRANCH)
    text = person.show(ref=STAGING_BRANCH)
    author = person.git("log", "-1", "--format=%an <%ae>").strip(), person.git("log", "-1", "--format=%ai").strip()
    person.git("reset", "--quiet", "--hard", "main")
    person.commit("mine", {"further.txt": "x"})
    person.write(SKILL, text)
    person.git("commit", "--quiet", "--all", f"--author={author[0]}", f"--date={author[1]}", "-m", SUBJECT)
    person.git("switch", "--quiet", "main")
    life.observe_all()
    assert [life.get(name).state.value for name in ("p1", "p2")] == ["open", "open"], "the branch has their lines"
    assert [[one.text for one in life.get(name).operations] for name in ("p1", "p2")] == [[DRY], ["- Write the news."]]


def test_a_secret_in_it_is_refused(life: ProposalLife) -> None:
    life.offer()
    secret = "ghp_" + "Zk3Qy7Wp9Lm2Vb8Nc4Xd6Tf1Rg5Hj0Ks2Qz7"
    amend(life.person, new=f"- Use the token {secret}.")
    life.observe()
    assert [one.text for one in life.get().operations] == [DRY]
    with pytest.raises(RefusedError):
        life.accept()
    assert secret not in life.person.show()


def test_a_subject_of_skilld_follows_the_amended_text(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", "- Write the news.")
    person = life.person
    person.git("switch", "--quiet", STAGING_BRANCH)
    person.write(SKILL, person.show(ref=STAGING_BRANCH).replace("- Write the news.", "- Write down what is new."))
    person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    person.git("switch", "--quiet", "main")
    life.observe_all()
    subject = "skilld(release): Write down what is new."
    assert person.git("log", "-2", "--format=%s", STAGING_BRANCH).split("\n")[:2] == [
        subject,
        "skilld(release): say p1",
    ]
    life.accept("p2")
    assert message(person, "main").splitlines()[0] == subject
    assert life.observe("p2") == ("accepted", EDITED_NOTE)


def test_it_follows_the_text_when_accepted_at_once(life: ProposalLife, tmp_path: Path) -> None:
    life.offer()
    person, there = life.person, tmp_path / "there"
    person.git("worktree", "add", "--quiet", str(there), STAGING_BRANCH)
    file = there / SKILL
    file.write_text(file.read_text().replace(DRY, MINE))
    person.git("-C", str(there), "commit", "--quiet", "--all", "--amend", "--no-edit")
    life.observe_all()
    life.accept()
    assert message(person, "main").splitlines()[0] == "skilld(release): Do a trial run before anything else."
