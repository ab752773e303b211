"""A proposal that a person puts in other words is accepted and edited; one whose lines they delete is reverted."""

from __future__ import annotations

import pytest

from skilld.errors import RefusedError
from skilld.proposals.model import CHANGED_NOTE, EDITED_NOTE
from skilld.types import Op, Operation
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL

MINE = "- Before anything else: a run in which nothing is published."


def reword(life: ProposalLife, new: str, old: str = DRY) -> None:
    life.person.write(SKILL, life.person.show().replace(f"{old}\n", f"{new}\n" if new else ""))
    life.person.git("add", "--all")


def test_a_pick_that_was_amended_with_other_words_is_accepted_and_edited(life: ProposalLife) -> None:
    life.offer()
    life.person.git("cherry-pick", life.get().commit)
    reword(life, MINE)
    life.person.git("commit", "--quiet", "--amend", "--no-edit")
    assert life.observe() == ("accepted", EDITED_NOTE)
    assert "already accepted" in life.accept().lines[0]
    reword(life, "- Nothing is published without a rehearsal.", MINE)
    life.person.commit("better words")
    assert life.observe() == ("accepted", EDITED_NOTE)
    reword(life, "", "- Nothing is published without a rehearsal.")
    life.person.commit("not at all")
    assert life.observe()[0] == "reverted"


def test_a_pick_that_was_amended_without_its_line_is_reverted(life: ProposalLife) -> None:
    life.offer()
    life.person.git("cherry-pick", life.get().commit)
    reword(life, "")
    life.person.write("other.md", "Mine.\n")
    life.person.git("add", "--all")
    life.person.git("commit", "--quiet", "--amend", "--no-edit")
    assert life.observe()[0] == "reverted"


def test_a_later_commit_with_other_words_in_its_place_changes_it(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    reword(life, "- Everything starts with a dry rehearsal of it all.")
    life.person.commit("better words")
    assert life.observe() == ("accepted", CHANGED_NOTE)
    assert "already accepted" in life.accept().lines[0]
    with pytest.raises(RefusedError, match="its lines have been reworded since"):
        life.revert()


@pytest.mark.parametrize("new", ["", "- Nobody deploys on Friday afternoons."])
def test_a_later_commit_with_nothing_or_another_rule_in_its_place_reverts_it(life: ProposalLife, new: str) -> None:
    life.offer()
    life.accept()
    reword(life, new)
    life.person.commit("mine")
    assert life.observe()[0] == "reverted"


def test_the_line_of_another_proposal_in_its_place_is_no_wording_of_it(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Push the tag.", "- Dry runs come first and last, whoever may ask for something else.")
    life.accept()
    life.accept("p2")
    text = life.person.show()
    other = "- Dry runs come first and last, whoever may ask for something else."
    life.person.commit("mine", {SKILL: text.replace(f"{other}\n", "").replace(DRY, other)})
    assert [life.observe(name)[0] for name in ("p1", "p2")] == ["reverted", "accepted"]


def test_a_line_that_another_proposal_sets_in_bold_stays_accepted(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    bold = f"- **{DRY.removeprefix('- ')}**"
    life.propose("p2", Operation(Op.REPLACE, DRY, bold))
    life.accept("p2")
    assert [life.observe(name) for name in ("p1", "p2")] == [("accepted", CHANGED_NOTE), ("accepted", "")]
    reword(life, "", bold)
    life.person.commit("not at all")
    assert [life.observe(name)[0] for name in ("p1", "p2")] == ["reverted", "reverted"]


@pytest.mark.parametrize("said", [("--no-edit",), ("-m", "Set the dry run in bold")])
def test_a_line_that_a_squash_sets_in_bold_stays_accepted(life: ProposalLife, said: tuple[str, ...]) -> None:
    life.offer()
    life.accept()
    bold = f"- **{DRY.removeprefix('- ')}**"
    life.propose("p2", Operation(Op.REPLACE, DRY, bold))
    life.person.git("merge", "--quiet", "--squash", "skilld/staging")
    life.person.git("commit", "--quiet", *said)
    assert [life.observe(name)[0] for name in ("p1", "p2")] == ["accepted", "accepted"]
    life.revert("p2")
    assert [life.observe(name)[0] for name in ("p1", "p2")] == ["accepted", "reverted"]
