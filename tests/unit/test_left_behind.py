"""What the staging branch is based on but no branch of the person's has any more: it is not on the staging branch."""

from __future__ import annotations

import pytest

from skilld.proposals.amend import restore
from skilld.types import Op, Operation
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT

STAGING = "refs/heads/skilld/staging"
UNDONE = "accepted, but its commit was later removed from its branch"


def amend(life: ProposalLife) -> None:
    """Amend the commit of p1 with a line of the person's own; then p2 is proposed on top of it."""
    life.offer()
    life.accept()
    life.person.write(SKILL, TEXT.replace("- Push", "- My own.\n- Push").replace("- Tag", f"{DRY}\n- Tag"))
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    life.observe()


def offer_another(life: ProposalLife) -> None:
    life.offer("p2", "Keep the changelog short.", "- Write the news.")


def leave(life: ProposalLife, how: str) -> None:
    """Leave the amended commit behind, on no branch but the staging one."""
    if how == "reset":
        life.person.git("reset", "--quiet", "--hard", "HEAD~1")
    else:
        life.person.git("switch", "--quiet", "other")
        life.person.git("branch", "-D", "main")


@pytest.mark.parametrize("how", ["reset", "delete"])
@pytest.mark.parametrize("then", ["accept", "observe and accept", "restore and accept", "revert, leave and accept"])
def test_accepting_again_brings_none_of_the_persons_lines(life: ProposalLife, how: str, then: str) -> None:
    life.person.git("branch", "other")
    amend(life)
    if then.startswith("revert"):
        life.revert()
        offer_another(life)
        leave(life, how)
        if how == "reset":
            leave(life, how)
    else:
        offer_another(life)
        leave(life, how)
    if then != "accept":
        life.observe()
    if then.startswith("restore"):
        restore(life.store, life.get())
    life.accept()
    assert life.person.skill.read_text() == TEXT.replace("- Tag", f"{DRY}\n- Tag")
    assert life.observe()[0] == "accepted"


@pytest.mark.parametrize("how", ["reset", "delete"])
def test_it_stays_dropped_until_it_is_restored(life: ProposalLife, how: str) -> None:
    life.person.git("branch", "other")
    amend(life)
    offer_another(life)
    leave(life, how)
    assert life.observe() == ("dropped", UNDONE)
    assert life.observe("p2")[0] == "open"
    restore(life.store, life.get())
    assert life.observe() == ("open", "")
    assert DRY in life.person.show(ref=STAGING)


@pytest.mark.parametrize("amended", [False, True])
def test_what_was_reopened_is_dropped_when_it_is_taken_off_the_branch(life: ProposalLife, *, amended: bool) -> None:
    """The commit that it was accepted with stays in the history below the staging branch."""
    if amended:
        amend(life)
    else:
        life.offer()
        life.accept()
        life.person.commit("more", {"README.md": "more\n"})
    life.undo()
    offer_another(life)
    assert life.observe()[0] == "open"
    life.person.git("switch", "--quiet", "skilld/staging")
    life.person.git("rebase", "--quiet", "--onto", f"{life.get().commit}^", life.get().commit)
    life.person.git("switch", "--quiet", "main")
    assert life.observe("p2")[0] == "open"
    assert life.observe()[0] == "dropped"


def test_an_edit_on_the_branch_counts_after_its_base_was_left(life: ProposalLife) -> None:
    """The person's own version of an open proposal is accepted, also where the base is on no branch of theirs."""
    life.person.commit("mine", {SKILL: TEXT.replace("- Push", "- Mine.\n- Push")})
    life.offer()
    life.person.git("switch", "--quiet", "skilld/staging")
    life.person.write(SKILL, life.person.skill.read_text().replace(DRY, "- Always do a dry run first."))
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    life.person.git("switch", "--quiet", "main")
    life.person.git("reset", "--quiet", "--hard", "HEAD~1")
    life.accept()
    assert life.person.skill.read_text() == TEXT.replace("- Tag", "- Always do a dry run first.\n- Tag")


@pytest.mark.parametrize("by", ["rebuild", "picked, rebuild"])
def test_what_a_rebuild_found_is_missed_where_its_commit_was_never_seen(life: ProposalLife, by: str) -> None:
    life.offer()
    offer_another(life)
    if by == "rebuild":
        life.person.commit("mine", {SKILL: TEXT.replace("- Tag", f"{DRY}\n- Tag")})
    else:
        life.person.git("cherry-pick", life.get().commit)
    life.reject("p2")
    assert (life.get().state.value, life.get().note) == ("accepted", "the file now says this")
    life.person.git("reset", "--quiet", "--hard", "HEAD~1")
    assert life.observe() == ("dropped", UNDONE)
    restore(life.store, life.get())
    assert life.observe() == ("open", "")


def test_what_a_rebuild_found_is_looked_for_on_other_branches(life: ProposalLife) -> None:
    life.offer()
    offer_another(life)
    life.person.git("switch", "--quiet", "--create", "side")
    life.person.commit("mine", {SKILL: TEXT.replace("- Tag", f"{DRY}\n- Tag")})
    life.offer("p3", "- Push the tag.", "- Tell them.")
    assert life.get().note == "the file now says this"
    life.person.git("switch", "--quiet", "main")
    assert life.observe() == ("accepted", "the file now says this; now only on the branch side")


def test_reverting_an_amended_commit_brings_nothing_back_that_the_person_took_out_in_it(life: ProposalLife) -> None:
    """Neither a line of their own nor one of another proposal."""
    life.person.commit("mine", {SKILL: TEXT.replace("- Push", "- Mine.\n- Push")})
    life.offer("p2", "- Push the tag.", "- Write the news.")
    life.accept("p2")
    life.offer()
    life.accept()
    text = life.person.skill.read_text()
    life.person.write(SKILL, text.replace("- Mine.\n", "").replace("- Write the news.\n", ""))
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    assert life.observe()[0] == "accepted"
    assert life.observe("p2")[0] == "reverted"
    life.revert()
    assert life.person.skill.read_text() == TEXT
    assert life.observe()[0] == "reverted"


def test_reverting_an_amended_replacement_puts_its_own_line_back(life: ProposalLife) -> None:
    life.person.commit("mine", {SKILL: TEXT.replace("- Push", "- Mine.\n- Push")})
    life.propose("p1", Operation(Op.REPLACE, "- Tag the commit.", "- Sign an annotated tag."))
    life.accept()
    life.person.write(SKILL, life.person.skill.read_text().replace("- Mine.\n", ""))
    life.person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    life.observe()
    life.revert()
    assert life.person.skill.read_text() == TEXT


@pytest.mark.parametrize("how", ["picked", "accepted", "rejected"])
@pytest.mark.parametrize("below", ["an accepted one", "a commit of their own"])
def test_the_last_open_one_takes_the_commit_below_along(life: ProposalLife, below: str, how: str) -> None:
    """A commit that was reset away is not taken for one that the person made on the staging branch."""
    if below == "an accepted one":
        life.offer()
        offer_another(life)
        life.accept()
    else:
        life.person.commit("mine", {SKILL: TEXT.replace("- Push", "- My own.\n- Push")})
        offer_another(life)
    life.person.git("reset", "--quiet", "--hard", "HEAD~1")
    if how == "picked":
        life.person.git("cherry-pick", life.get("p2").commit)
    else:
        report = life.accept("p2") if how == "accepted" else life.reject("p2")
        assert (report.warnings, life.person.tip(STAGING)) == ((), "")
    assert life.observe("p2")[0] == ("rejected" if how == "rejected" else "accepted")
    assert life.person.tip(STAGING) == ""
    if below == "an accepted one":
        assert life.observe() == ("dropped", UNDONE)
