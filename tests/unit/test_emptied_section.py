"""A removal takes skilld's own heading along, and a new rule still has a place beside an open removal."""

from __future__ import annotations

import pytest

from skilld.edit.lint import lint
from skilld.edit.operations import apply
from skilld.types import Kind, Op, Operation
from support.proposal_life import ProposalLife
from support.repos import SKILL, TEXT
from support.rows import for_each

OWN = TEXT.rstrip("\n") + "\n\n## Preferences\n\n- Sign the tag.\n"
REMOVAL = Operation(Op.DELETE, "- Sign the tag.")
RULE = Operation(Op.INSERT_AFTER, "- Sign the tag.", "- Ask before you publish.")
WITH_RULE = OWN.replace("- Sign the tag.", "- Ask before you publish.")


@pytest.fixture
def life(life: ProposalLife) -> ProposalLife:
    life.commit("own section", {SKILL: OWN})
    life.propose("p1", REMOVAL, kind=Kind.REMOVE_STEP)
    return life


def test_the_heading_goes_with_its_last_line_and_comes_back_with_it(life: ProposalLife) -> None:
    life.accept()
    assert life.person.skill.read_text() == TEXT.rstrip("\n") + "\n"
    assert life.observe()[0] == "accepted"
    flags = [finding.sentence for finding in lint(OWN.encode(), apply(OWN.encode(), [REMOVAL]), "")]
    assert flags == ["It removes a safeguard: - Sign the tag."]
    life.revert()
    assert life.person.skill.read_text() == OWN
    assert life.observe()[0] == "reverted"


@pytest.mark.parametrize("first", ["p1", "p2"])
def test_a_rule_for_the_section_has_a_place_beside_the_open_removal(life: ProposalLife, first: str) -> None:
    life.propose("p2", RULE)
    assert life.person.show(ref="refs/heads/skilld/staging") == WITH_RULE.strip()
    life.accept(first)
    assert life.observe(first)[0] == "accepted"
    life.accept("p2" if first == "p1" else "p1")
    assert life.person.skill.read_text() == WITH_RULE
    assert (life.observe("p1")[0], life.observe("p2")[0]) == ("accepted", "accepted")


def test_a_rule_stays_below_its_heading_where_the_removal_is_rejected(life: ProposalLife) -> None:
    life.propose("p2", RULE)
    life.reject("p1")
    life.accept("p2")
    assert life.person.skill.read_text() == OWN + "- Ask before you publish.\n"


@for_each(
    ("text", "left"),
    [
        ("# A\n\n## Preferences\n\n- Sign.\n\n## More\n\n- Push.\n", "# A\n\n## More\n\n- Push.\n"),
        ("# A\n\n- Tag.\n\n## Preferences\n- Sign.", "# A\n\n- Tag."),
        ("# A\n\n## Rules\n\n- Sign.\n", "# A\n\n## Rules\n\n"),
        ("# Preferences\n\n- Sign.\n", "# Preferences\n\n"),
        ("# A\n\n## Preferences\n\n- Sign.\n- Push.\n", "# A\n\n## Preferences\n\n- Push.\n"),
        ("# A\n\n## Preferences\n\n## More\n\n- Sign.\n- Push.\n", "# A\n\n## Preferences\n\n## More\n\n- Push.\n"),
    ],
)
def test_only_an_emptied_section_of_skilld_goes(text: str, left: str) -> None:
    assert apply(text.encode(), [Operation(Op.DELETE, "- Sign.")]).decode() == left
