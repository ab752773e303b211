"""Where proposals are that no branch that counts has, and those whose commit is nowhere."""

from __future__ import annotations

import time

import pytest

from skilld.clock import rfc3339
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.proposals.poll import refresh
from skilld.proposals.remarks import describe_doubt
from skilld.types import Op, Operation, State
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT


def test_an_accepted_one_is_found_on_a_branch_that_was_rebased_since(life: ProposalLife) -> None:
    life.offer()
    life.person.git("switch", "--quiet", "--create", "side")
    life.accept()
    life.person.git("commit", "--quiet", "--amend", "--no-edit", "--date=2026-01-06T10:00:00Z")
    life.person.git("switch", "--quiet", "main")
    assert life.observe() == ("accepted", "committed; now only on the branch side")


def test_an_accepted_one_whose_lines_went_on_its_branch_is_reverted(life: ProposalLife) -> None:
    life.offer()
    life.person.git("switch", "--quiet", "--create", "side")
    life.accept()
    life.person.commit("mine", {SKILL: TEXT})
    life.person.git("switch", "--quiet", "main")
    assert life.observe()[0] == "reverted"


def test_what_another_machine_committed_stays_accepted(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", "- Write the news.")
    life.store.proposals.decide(life.get(), State.ACCEPTED, rfc3339(time.time()), who="git", commit="f" * 40)
    life.person.git("cherry-pick", life.get("p2").commit)
    assert life.observe() == ("accepted", "")
    assert life.observe("p2") == ("accepted", "")


def test_a_file_that_cannot_be_read_is_no_discarded_one(life: ProposalLife) -> None:
    life.offer()
    life.accept(worktree=True)
    life.person.skill.unlink()
    life.person.skill.mkdir()
    assert life.observe() == ("accepted", "written to the file, not committed")


def test_one_whose_message_the_person_replaced_is_on_the_branch_as_long_as_it_has_its_lines(life: ProposalLife) -> None:
    life.offer()
    life.person.git("switch", "--quiet", STAGING_BRANCH)
    life.person.git("commit", "--quiet", "--amend", "-m", "In my words")
    life.person.git("switch", "--quiet", "main")
    assert life.observe() == ("open", "")
    life.person.git("branch", "--force", STAGING_BRANCH, "main")
    assert life.observe()[0] == "dropped"


def test_a_cut_is_not_on_a_branch_whose_file_had_no_such_line_before(life: ProposalLife) -> None:
    life.propose("p1", Operation(Op.DELETE, "- Push the tag.", ""))
    life.person.commit("another text", {SKILL: "# Other\n"})
    life.person.git("branch", "--force", STAGING_BRANCH, "main")
    life.person.git("switch", "--quiet", STAGING_BRANCH)
    life.person.commit("mine", {SKILL: "# Other\n\n- Mine.\n"})
    life.person.git("switch", "--quiet", "main")
    assert life.observe()[0] == "dropped"


def remove_as_skilld_does(life: ProposalLife) -> None:
    """Leave what a kill leaves between the branch that lost a proposal and the reason that is stored."""
    for ref in ("refs/skilld/proposals/p1", f"refs/heads/{STAGING_BRANCH}"):
        life.person.git("update-ref", "-d", ref)


@pytest.mark.parametrize(
    ("text", "why"),
    [(None, f"{SKILL} is gone"), ("# Other\n", "no longer fits the file"), (TEXT, "")],
    ids=["no file", "another text", "the same text"],
)
def test_what_skilld_removed_before_a_kill_has_its_reason(life: ProposalLife, text: str | None, why: str) -> None:
    life.offer()
    if text is None:
        life.person.git("rm", "--quiet", SKILL)
        life.person.git("commit", "--quiet", "-m", "Remove it")
    elif text != TEXT:
        life.person.commit("other", {SKILL: text})
    remove_as_skilld_does(life)
    refresh(life.store)
    state, note = life.get().state.value, life.get().note
    assert state == ("stale" if why else "dropped")
    assert why in note


@pytest.mark.parametrize("decide", ["reject", "accept"])
def test_a_decided_one_whose_commit_git_has_cleaned_up_has_no_note(life: ProposalLife, decide: str) -> None:
    life.offer()
    getattr(life, decide)()
    life.observe()
    life.person.git("reflog", "expire", "--all", "--expire=now")
    life.person.git("gc", "--quiet", "--prune=now")
    assert life.observe() == (f"{decide}ed", "")
    assert (DRY in life.person.skill.read_text()) == (decide == "accept")


def test_what_was_only_fetched_says_so_until_a_branch_here_has_it(life: ProposalLife) -> None:
    other = life.hub()
    life.offer()
    other.commit("theirs", {SKILL: TEXT.replace("- Run the tests.\n", f"- Run the tests.\n{DRY}\n")})
    other.git("push", "--quiet")
    life.person.git("fetch", "--quiet")
    life.person.git("switch", "--quiet", "--detach", "origin/main")
    assert life.observe() == ("accepted", "committed; now only on the branch origin/main")
    life.store.proposals.decide(life.get(), State.ACCEPTED, rfc3339(time.time()), who="git, maybe claude-code")
    assert describe_doubt(life.store, life.get()) == "", "it was decided elsewhere, and there is nothing here to undo"
    life.person.git("switch", "--quiet", "main")
    life.person.git("merge", "--quiet", "origin/main")
    assert life.observe() == ("accepted", "")
