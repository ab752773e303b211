"""Proposals that were decided while they waited for the staging branch: what git shows of their lines counts."""

from __future__ import annotations

import pytest

from skilld.proposals.amend import restore
from skilld.types import Op, Operation
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT

WRITTEN = "written to the file, not committed"
FOUND = "you made this change yourself"
EXTRA = "skills/extra/SKILL.md"
NEW = "---\nname: extra\ndescription: Use for anything extra.\n---\n\n# Extra\n\n- Never email customers.\n"
WITH_DRY = TEXT.replace("- Tag", f"{DRY}\n- Tag")
SIGNED = TEXT.replace("- Tag the commit.", "- Sign the tag.")
CHANGES = {
    "a line": (Operation(Op.INSERT_AFTER, "- Run the tests.", DRY), SKILL, WITH_DRY),
    "another line": (Operation(Op.REPLACE, "- Tag the commit.", "- Sign the tag."), SKILL, SIGNED),
    "a cut": (Operation(Op.DELETE, "- Push the tag.", ""), SKILL, TEXT.replace("- Push the tag.\n", "")),
    "a file": (Operation(Op.CREATE, "", NEW), EXTRA, NEW),
}


@pytest.fixture
def life(life: ProposalLife) -> ProposalLife:
    """Return one with a branch of the person's own, and the staging branch checked out."""
    life.offer("p0", "Keep the changelog short.", "- Write the news.")
    life.person.git("branch", "feature")
    life.person.git("switch", "--quiet", "skilld/staging")
    return life


def wait(life: ProposalLife, change: str) -> None:
    """Propose a change, which has to wait, then leave the staging branch for the feature branch."""
    operation, path, _ = CHANGES[change]
    life.propose("p1", operation, path=life.person.root / path)
    assert (life.get().commit, life.get().note[:8]) == ("", "on hold:")
    life.person.git("switch", "--quiet", "feature")


@pytest.mark.parametrize("change", [*CHANGES])
def test_what_the_person_did_on_a_branch_is_only_there(life: ProposalLife, change: str) -> None:
    wait(life, change)
    _, path, text = CHANGES[change]
    life.person.commit("mine", {path: text})
    assert life.observe() == ("accepted", FOUND)
    life.person.git("switch", "--quiet", "main")
    assert life.observe() == ("accepted", f"{FOUND}; now only on the branch feature")
    life.person.git("merge", "--quiet", "feature")
    assert life.observe() == ("accepted", FOUND)
    life.person.git("revert", "--no-edit", "HEAD")
    assert life.observe()[0] == "reverted"


@pytest.mark.parametrize("change", [*CHANGES])
def test_what_was_written_and_committed_is_committed(life: ProposalLife, change: str) -> None:
    wait(life, change)
    life.accept(worktree=True)
    assert life.observe() == ("accepted", WRITTEN)
    life.person.git("add", "--all")
    life.person.git("commit", "--quiet", "-m", "mine")
    assert life.observe() == ("accepted", "you committed it")


@pytest.mark.parametrize("change", [*CHANGES])
def test_what_was_written_and_thrown_away_is_open_again(life: ProposalLife, change: str) -> None:
    wait(life, change)
    life.accept(worktree=True)
    life.person.git("stash", "--include-untracked")
    assert life.observe() == ("accepted", f"{WRITTEN}; now only in a stash")
    life.person.git("stash", "drop")
    assert life.observe()[0] == "open"
    life.accept()
    assert life.observe() == ("accepted", "")


def test_what_was_found_and_reset_away_is_dropped(life: ProposalLife) -> None:
    wait(life, "a line")
    life.person.commit("mine", {SKILL: WITH_DRY})
    assert life.observe() == ("accepted", FOUND)
    life.person.git("reset", "--quiet", "--hard", "HEAD~1")
    assert life.observe()[0] == "dropped"
    restore(life.store, life.get())
    assert DRY in life.person.show(ref="skilld/staging")
    assert life.observe("p0")[0] == "open"
    life.accept()
    assert life.observe() == ("accepted", "")


def test_a_rejected_one_that_the_person_makes_later_is_accepted(life: ProposalLife) -> None:
    wait(life, "a line")
    life.reject()
    assert life.observe()[0] == "rejected"
    life.person.commit("mine", {SKILL: WITH_DRY})
    assert life.observe()[0] == "accepted"


def test_an_edit_of_a_line_that_was_not_committed_yet_is_known_by_its_lines(life: ProposalLife) -> None:
    own = TEXT.replace("- Push the tag.", "- Push the tag.\n- Wait.")
    life.person.skill.write_text(own)
    life.propose("p1", Operation(Op.INSERT_AFTER, "- Wait.", "- Never on a Friday."))
    life.reject()
    assert life.get().commit == ""
    life.person.git("switch", "--quiet", "--force", "feature")
    life.person.commit("mine", {SKILL: own})
    assert life.observe()[0] == "rejected"
    life.person.commit("then that", {SKILL: own.replace("- Wait.", "- Wait.\n- Never on a Friday.")})
    assert life.observe()[0] == "accepted"


def test_one_whose_path_an_older_skilld_did_not_store_stops_nothing(life: ProposalLife) -> None:
    wait(life, "a line")
    life.reject()
    life.store._db.execute("UPDATE proposals SET relpath = '' WHERE id = 'p1'")
    life.person.git("cherry-pick", life.get("p0").commit)
    assert life.observe("p0")[0] == "accepted"
