"""A worker's proposal on a real staging branch, and what the outcomes of git mean for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skilld.errors import SkilldError
from skilld.proposals.staging import stage
from skilld.proposals.staging_result import Staged
from skilld.types import Evidence, Op, Operation, Proposal
from support.proposals import a_proposal
from support.repos import Person

PROPOSAL = a_proposal(
    skill="release",
    operations=(Operation(Op.INSERT_AFTER, "- Tag the commit.", "- Sign the tag."),),
    summary="Sign the tag.",
    evidence=(Evidence("claude-code:t1", "always sign the tag"),),
)


def _staged(person: Person, *standing: Proposal, **changes: object) -> tuple[bool, Staged]:
    staged = Staged()
    proposal = replace(PROPOSAL, path=str(person.skill), **changes)  # type: ignore[arg-type]
    return stage(proposal, standing, staged), staged


def test_a_proposal_is_a_commit_whose_place_is_told(person: Person) -> None:
    made, staged = _staged(person)
    assert made
    (proposal,) = staged.made
    assert proposal.commit == person.tip("skilld/staging")
    assert proposal.base == person.tip()
    assert (proposal.repo, proposal.relpath) == (str(person.root), "skills/release/SKILL.md")
    assert "- Tag the commit.\n- Sign the tag.\n" in person.show(ref="skilld/staging") + "\n"
    assert person.show() == (person.root / "skills/release/SKILL.md").read_text().rstrip("\n")


def test_the_same_proposal_a_second_time_is_the_same_commit(person: Person) -> None:
    _, first = _staged(person)
    _, again = _staged(person)
    assert [made.commit for made in again.made] == [made.commit for made in first.made]
    assert person.git("rev-list", "--count", "main..skilld/staging") == "1"


def test_a_second_proposal_stands_on_the_first(person: Person) -> None:
    _, first = _staged(person)
    other = (Operation(Op.INSERT_AFTER, "- Push the tag.", "- Tell the team."),)
    changes = {"id": "4567cdef", "batch_id": "c" * 16, "operations": other, "summary": "Tell the team."}
    _, second = _staged(person, *first.made, **changes)
    assert person.tip("skilld/staging~1") == first.made[0].commit
    assert person.tip("skilld/staging") == second.made[0].commit


def test_what_the_person_wrote_by_hand_is_not_proposed(person: Person) -> None:
    text = person.skill.read_text().replace("- Tag the commit.", "- Tag the commit.\n- Sign the tag.")
    person.commit("by hand", {"skills/release/SKILL.md": text})
    with pytest.raises(SkilldError, match="says it there already"):
        _staged(person)
    assert person.tip("skilld/staging") == ""


def test_an_edit_of_words_that_are_not_committed_waits_without_a_commit(person: Person) -> None:
    person.write("skills/release/SKILL.md", person.skill.read_text().replace("- Push the tag.", "- Push it."))
    only_here = (Operation(Op.INSERT_AFTER, "- Push it.", "- Tell the team."),)
    made, staged = _staged(person, operations=only_here)
    assert made
    (proposal,) = staged.made
    assert (proposal.commit, proposal.repo) == ("", str(person.root))
    assert "on hold until you commit your edit" in proposal.note
    assert person.tip("skilld/staging") == ""


def test_an_edit_that_fits_nowhere_is_told(person: Person) -> None:
    nowhere = (Operation(Op.INSERT_AFTER, "- A line that never was.", "- x"),)
    with pytest.raises(SkilldError, match="not proposed"):
        _staged(person, operations=nowhere)
    assert person.tip("skilld/staging") == ""
