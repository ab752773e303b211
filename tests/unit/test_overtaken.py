"""An open proposal about a line that the person has had more to say about since."""

from __future__ import annotations

from typing import Any

import pytest

from skilld.errors import RefusedError
from skilld.proposals.amend import restore
from skilld.proposals.remarks import describe_decision
from skilld.types import Kind, Op, Operation, Update
from support.proposal_life import DRY, ProposalLife
from support.repos import TEXT, Person

LINE = "- Tag the commit."
CLEARER = Operation(Op.REPLACE, LINE, "- **Tag the commit.**")
GONE = Operation(Op.DELETE, LINE)
STAGING = "refs/heads/skilld/staging"


def said(kind: Kind) -> dict[str, Any]:
    update = Update(1, "", "Tags are not needed any more.", "", kind, 1, "you don't have to tag any more", 0.9)
    return {"kind": kind, "updates": (update,)}


@pytest.mark.parametrize("batch", ["effect-sharpen-0123abcd", "batch-p1"])
def test_a_removal_overtakes_what_only_rewords_its_line(person: Person, life: ProposalLife, batch: str) -> None:
    life.propose("p1", CLEARER, batch_id=batch)
    life.offer("p2")
    life.propose("p3", GONE, **said(Kind.REMOVE_STEP))
    without = TEXT.replace(f"{LINE}\n", "").replace("- Run the tests.\n", "- Run the tests.\n- Dry run first.\n")
    assert person.show(ref=STAGING) == without.strip()
    life.observe_all()
    assert {name: life.get(name).state.value for name in ("p1", "p2", "p3")} == {
        "p1": "superseded",
        "p2": "open",
        "p3": "open",
    }
    assert life.get("p1").note == "overtaken: p3 takes away what it rewords"
    with pytest.raises(RefusedError, match="the open proposal p3 changes the same line; decide on it first"):
        restore(life.store, life.get("p1"))
    life.reject("p3")
    restore(life.store, life.get("p1"))
    assert life.get("p1").state.value == "open"
    assert "- **Tag the commit.**" in person.show(ref=STAGING)


def test_a_change_overtakes_only_what_the_person_did_not_ask_for(person: Person, life: ProposalLife) -> None:
    changed = Operation(Op.REPLACE, LINE, "- Tags are not needed any more.")
    life.propose("p1", CLEARER)
    with pytest.raises(RefusedError, match="the open proposal p1 changes the same line; decide on it first"):
        life.propose("p2", changed, **said(Kind.CHANGE_STEP))
    life.reject("p1")
    life.propose("p3", CLEARER, batch_id="effect-sharpen-0123abcd")
    life.propose("p4", changed, **said(Kind.CHANGE_STEP))
    assert life.get("p3").state.value == "superseded"
    assert "- Tags are not needed any more.\n- Push the tag." in person.show(ref=STAGING)
    life.accept("p4")
    assert LINE not in person.skill.read_text()


def test_a_proposal_with_other_parts_is_named_and_stays(life: ProposalLife) -> None:
    life.propose("p1", CLEARER, Operation(Op.INSERT_AFTER, "- Push the tag.", "- Tell the team."))
    with pytest.raises(RefusedError, match="the open proposal p1 changes the same line; decide on it first"):
        life.propose("p2", GONE, **said(Kind.REMOVE_STEP))
    assert life.get("p1").state.value == "open"


def test_a_line_that_an_accepted_proposal_reworded_names_it_as_the_one_to_revert_first(
    person: Person, life: ProposalLife
) -> None:
    life.offer("p1")
    life.accept("p1")
    life.propose("p2", Operation(Op.REPLACE, DRY, "- **Dry run first.**"), batch_id="effect-sharpen-0123abcd")
    life.accept("p2")
    with pytest.raises(RefusedError, match="reworded") as error:
        life.revert("p1")
    first = "p2, which you accepted later, changed that line. First: skilld revert p2"
    assert error.value.remedy == f"{first}, then: skilld revert p1"
    life.revert("p2")
    life.revert("p1")
    assert person.skill.read_text() == TEXT


def test_a_rule_that_was_accepted_long_ago_is_reverted_by_the_removal_of_its_line(life: ProposalLife) -> None:
    life.offer("p1")
    life.accept("p1")
    life.offer("p2", text="- Bump the version.")
    life.accept("p2")
    with life.store.transaction():
        life.store._db.execute("UPDATE proposals SET decided_at = '2020-01-01T00:00:00Z' WHERE state = 'accepted'")
    life.propose("p3", Operation(Op.DELETE, DRY), **said(Kind.REMOVE_STEP))
    life.accept("p3")
    assert (life.observe("p1")[0], life.observe("p2")[0]) == ("reverted", "accepted")
    assert life.store.proposals.removed_by("p1") == "p3"
    assert life.store.proposals.replaced_ids() == {"p1"}
    life.revert("p2")
    assert life.store.proposals.replaced_ids() == {"p1"}


def test_a_rule_whose_replacement_was_replaced_too_is_not_attributed_to_plain_git(life: ProposalLife) -> None:
    never, ask = "- Publish nothing on Fridays.", "- Ask Bo to publish."
    steps = {
        "p1": Operation(Op.INSERT_AFTER, "- Run the tests.", DRY),
        "p2": Operation(Op.REPLACE, DRY, never),
        "p3": Operation(Op.REPLACE, never, ask),
    }
    for name, step in steps.items():
        life.propose(name, step)
        life.accept(name)
        life.observe_all()
    assert {name: life.get(name).state.value for name in ("p1", "p2", "p3")} == {
        "p1": "reverted",
        "p2": "reverted",
        "p3": "accepted",
    }
    told = {name: describe_decision(life.store, life.get(name)) for name in ("p1", "p2")}
    assert told == {
        "p1": ["you accepted p2, which removed it"],
        "p2": ["you accepted p3, which removed it; to undo that: skilld revert p3"],
    }
    assert life.store.proposals.replaced_ids() == {"p1", "p2"}
