"""What is observed later than it happened, elsewhere than here, or of lines that were there before."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from skilld.clock import rfc3339
from skilld.errors import RefusedError
from skilld.proposals.poll import observe_job, proposals_to_check, record_observation, refresh
from skilld.proposals.reconcile import observe
from skilld.proposals.remarks import describe_standing
from skilld.types import Op, Operation
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT

UNDONE = "accepted, but its commit was later removed from its branch"


def pass_a_day(life: ProposalLife) -> None:
    life.store.proposals.set_missing("p1", rfc3339(time.time() - 86401))


# An accepted commit that was reset away


@pytest.mark.parametrize("how", ["reset", "branch deleted"])
def test_after_a_day_it_is_reverted_not_rejected(life: ProposalLife, how: str) -> None:
    life.offer()
    if how == "branch deleted":
        life.person.git("switch", "--quiet", "--create", "side")
    life.accept()
    kept = life.person.tip()
    if how == "reset":
        life.person.git("reset", "--quiet", "--hard", "HEAD~1")
    else:
        life.person.git("switch", "--quiet", "main")
        life.person.git("branch", "-D", "side")
    assert life.observe() == ("dropped", UNDONE)
    assert "rejected" not in describe_standing(life.store, life.get(), time.time()).partition("(")[0]
    pass_a_day(life)
    assert life.observe() == ("reverted", UNDONE)
    life.person.git("reset", "--quiet", "--hard", kept)
    assert life.observe() == ("accepted", "")


def test_what_was_dropped_unaccepted_is_rejected_after_a_day(life: ProposalLife) -> None:
    life.offer()
    life.person.git("branch", "-D", "skilld/staging")
    life.observe()
    pass_a_day(life)
    assert life.observe() == ("rejected", "dropped from the staging branch")


# Reverting what is elsewhere


@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize("where", ["branch", "remote branch"])
def test_what_was_written_and_committed_on_another_branch_is_not_reverted_here(
    life: ProposalLife, where: str, *, observed: bool
) -> None:
    life.offer()
    life.hub()
    life.person.git("switch", "--quiet", "--create", "side")
    life.accept(worktree=True)
    commit = life.person.commit("mine")
    life.person.git("switch", "--quiet", "main")
    if where == "remote branch":
        life.person.git("push", "--quiet", "origin", "side")
        life.person.git("branch", "-D", "side")
    if observed:
        life.observe()
    with pytest.raises(RefusedError) as error:
        life.revert()
    name = "side" if where == "branch" else "origin/side"
    assert error.value.cause == f"it is on the branch {name} ({commit[:10]})"
    assert life.get().state.value == "accepted"


def test_what_only_the_remote_has_is_not_reverted_here(life: ProposalLife) -> None:
    """A colleague took it in, and that was only fetched."""
    life.offer()
    life.offer("p2", "- Push the tag.", "- Write the news.")
    other = life.hub()
    other.write(SKILL, TEXT.replace("- Tag", f"{DRY}\n- Tag"))
    other.git("commit", "--quiet", "--all", "-m", "Say it")
    other.git("push", "--quiet")
    life.person.git("fetch", "--quiet")
    assert life.observe()[0] == "accepted"
    with pytest.raises(RefusedError) as error:
        life.revert()
    assert error.value.cause == f"it is on the branch origin/main ({other.tip()[:10]})"
    assert life.observe()[0] == "accepted"
    life.person.git("merge", "--quiet", "--ff-only")
    life.revert()
    assert life.observe()[0] == "reverted"
    assert life.person.skill.read_text() == TEXT


def test_an_accepted_branch_that_is_only_on_the_remote_is_not_reverted_here(life: ProposalLife) -> None:
    life.offer()
    life.hub()
    life.person.git("switch", "--quiet", "--create", "side")
    life.accept()
    life.person.git("push", "--quiet", "origin", "side")
    life.person.git("switch", "--quiet", "main")
    life.person.git("branch", "-D", "side")
    assert life.observe() == ("accepted", "committed; now only on the branch origin/side")
    with pytest.raises(RefusedError, match="origin/side"):
        life.revert()
    assert life.observe()[0] == "accepted"


# A look at git that ends after a decision


@pytest.mark.parametrize("when", ["before", "between"])
def test_a_look_that_ends_after_accept_and_undo_changes_nothing(life: ProposalLife, when: str) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", "- Write the news.")
    now = time.time()
    job = replace(observe_job(life.store, proposals_to_check(life.store, now), now), rebuild=False)
    if when == "before":
        life.person.git("branch", "-D", "skilld/staging")
        seen = observe(job)
        refresh(life.store)
        life.accept()
        life.undo()
    else:
        life.accept()
        life.person.git("reset", "--quiet", "--hard", "HEAD~1")
        seen = observe(job)
        life.person.git("reset", "--quiet", "--hard", "HEAD@{1}")
        life.undo()
    known = life.get()
    assert known.state.value == "open"
    record_observation(life.store, seen, time.time())
    assert life.get() == known
    assert life.store.proposals.missing_since("p1") == ""
    assert life.observe()[0] == "open"


# An acceptance that was undone on one branch and is still on another, or whose undoing was itself removed


def test_it_is_accepted_where_it_was_not_undone(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "Keep the changelog short.", "- Write the news.")
    life.accept()
    life.person.git("branch", "feature")
    life.undo()
    assert life.observe() == ("open", "")
    life.person.git("switch", "--quiet", "feature")
    assert life.observe()[0] == "accepted"
    life.person.git("switch", "--quiet", "main")
    assert life.observe() == ("accepted", "committed; now only on the branch feature")
    life.accept()
    assert life.observe() == ("accepted", "")
    life.person.git("revert", "--no-edit", "HEAD")
    life.person.git("branch", "-D", "feature")
    assert life.observe()[0] == "reverted"


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("on", ["main", "side"])
def test_a_new_skill_is_accepted_where_it_was_not_undone(life: ProposalLife, on: str, *, beside: bool) -> None:
    if beside:
        life.offer("p2")
    if on == "side":
        life.person.git("switch", "--quiet", "--create", "side")
    new = "---\nname: extra\ndescription: Use for more.\n---\n\n# Extra\n"
    life.propose("p1", Operation(Op.CREATE, "", new), path=life.person.root / "skills/extra/SKILL.md")
    life.accept()
    life.person.git("branch", "feature")
    life.undo()
    assert life.observe() == ("open", "")
    life.person.git("switch", "--quiet", "feature")
    assert life.observe()[0] == "accepted"
    life.person.git("switch", "--quiet", on)
    assert life.observe() == ("accepted", "committed; now only on the branch feature")


def test_it_is_reverted_where_its_undoing_is_merged(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "Keep the changelog short.", "- Write the news.")
    life.accept()
    life.person.git("switch", "--quiet", "--create", "feature")
    life.undo()
    life.person.git("switch", "--quiet", "main")
    assert life.observe()[0] == "accepted"
    life.person.git("merge", "--quiet", "feature")
    assert life.observe()[0] == "reverted"


def test_what_the_person_committed_and_undid_is_reverted_when_they_remove_it(life: ProposalLife) -> None:
    life.offer()
    life.accept(worktree=True)
    life.person.git("commit", "--quiet", "--all", "-m", "mine")
    assert life.observe()[0] == "accepted"
    life.undo()
    assert life.observe() == ("open", "")
    life.person.git("reset", "--quiet", "HEAD~1")
    assert life.observe()[0] == "accepted"
    life.person.git("commit", "--quiet", "--all", "-m", "without it")
    assert life.observe()[0] == "reverted"


# Lines that come and go with the whole file

CUT = Operation(Op.DELETE, "- Push the tag.", "")
OTHER = "---\nname: release\ndescription: How we release.\n---\n\n# Release\n\nAsk Pat.\n"


def cut(life: ProposalLife, name: str, line: str = "- Push the tag.") -> None:
    life.propose(name, Operation(Op.DELETE, line, ""))


def test_a_new_cut_is_open_where_the_same_one_was_accepted_and_overwritten(life: ProposalLife) -> None:
    cut(life, "p1")
    life.accept()
    life.person.commit("all of it again", {SKILL: TEXT})
    assert life.observe()[0] == "reverted"
    cut(life, "p2")
    assert life.observe("p2") == ("open", "")
    assert life.observe("p1")[0] == "reverted"
    life.accept("p2")
    assert life.observe("p2")[0] == "accepted"


def test_a_new_rule_is_open_where_the_same_one_was_accepted_and_overwritten(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    life.person.commit("all of it again", {SKILL: TEXT})
    assert life.observe()[0] == "reverted"
    life.offer("p2")
    assert life.observe("p2") == ("open", "")


@pytest.mark.parametrize("by", ["command", "git"])
def test_a_rejected_cut_is_not_accepted_when_the_file_is_overwritten(life: ProposalLife, by: str) -> None:
    cut(life, "p1")
    cut(life, "p2", "- Tag the commit.")
    if by == "command":
        life.reject()
    else:
        life.person.git("branch", "-D", "skilld/staging")
        life.observe()
        pass_a_day(life)
        life.observe()
    life.accept("p2")
    life.person.commit("another text", {SKILL: OTHER})
    assert life.observe()[0] == "rejected"
    assert life.observe("p2")[0] == "accepted"


def test_an_open_cut_is_not_accepted_when_the_file_is_overwritten(life: ProposalLife) -> None:
    cut(life, "p1")
    life.person.commit("another text", {SKILL: OTHER})
    assert life.observe()[0] != "accepted"


@pytest.mark.parametrize("more", ["", "- Mine.\n"])
def test_a_cut_that_the_person_makes_themselves_is_accepted(life: ProposalLife, more: str) -> None:
    cut(life, "p1")
    life.person.commit("cut it", {SKILL: TEXT.replace("- Push the tag.\n", more)})
    assert life.observe()[0] == "accepted"
