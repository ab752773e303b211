"""A proposal of two lines, of which the person replaced one after they had accepted both."""

from __future__ import annotations

import pytest

from skilld.exchange.outgoing import LeakCheck, SessionWords
from skilld.proposals.model import CHANGED_NOTE
from skilld.team.sharing import Guard, gather_records
from skilld.types import Kind, Op, Operation, Update
from support.proposal_life import ProposalLife
from support.repos import SKILL, TEXT, Person

SIGN = "Always sign the release tag with your own key."
FRIDAY = "Never release on a Friday."


def shared(life: ProposalLife) -> dict[str, str]:
    """Return what a team is sent, by rule: what each record says of it."""
    guard = Guard(LeakCheck(lambda _: [], SessionWords()))
    sent = gather_records(life.store, life.get().repo, guard, quotes=False, with_open=False).records
    return {one.rule: one.what.value for one in sent}


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (f"- {SIGN}\n- Ask two reviewers.\n", {SIGN: "rule", "": "withdrawn"}),
        (f"- {SIGN}\n- Please never release on Fridays.\n", {SIGN: "rule", FRIDAY: "rule"}),
        (f"- {FRIDAY}\n- Be brief.\n- {SIGN}\n", {SIGN: "rule", FRIDAY: "rule"}),
    ],
)
def test_only_the_rule_that_is_gone_is_withdrawn(
    person: Person, life: ProposalLife, now: str, told: dict[str, str]
) -> None:
    lines = f"- {SIGN}\n- {FRIDAY}"
    updates = tuple(Update(1, "", rule, "", Kind.PREFERENCE, 1, rule, 0.9) for rule in (SIGN, FRIDAY))
    life.propose("p1", Operation(Op.INSERT_AFTER, "- Run the tests.", lines), updates=updates)
    life.accept()
    assert shared(life) == {SIGN: "rule", FRIDAY: "rule"}
    person.commit("Reword", {SKILL: person.skill.read_text().replace(f"{lines}\n", now)})
    assert life.observe() == ("accepted", CHANGED_NOTE if now.count(FRIDAY) == 0 else "")
    assert shared(life) == told
    person.commit("As it was", {SKILL: TEXT.replace("- Run the tests.\n", f"- Run the tests.\n{lines}\n")})
    life.observe()
    assert shared(life) == {SIGN: "rule", FRIDAY: "rule"}
