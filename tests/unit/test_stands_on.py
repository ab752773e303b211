"""What a proposal on the staging branch needs of the open ones below it is said before and when it is accepted."""

from __future__ import annotations

import pytest

from skilld.errors import RefusedError
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.proposals.explain import ProposalReader
from skilld.types import Op, Operation
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, Person

NEWS = "- Write the news."


def amend(person: Person, old: str, new: str) -> None:
    person.git("switch", "--quiet", STAGING_BRANCH)
    person.write(SKILL, person.show(ref=STAGING_BRANCH).replace(old, new))
    person.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    person.git("switch", "--quiet", "main")


def test_an_amended_proposal_that_needs_another_says_so_before_and_when_accepted(life: ProposalLife) -> None:
    life.offer()
    life.offer("p2", "- Run the tests.", NEWS)
    amend(life.person, f"{DRY}\n", "")
    amend(life.person, NEWS, "- Dry run first, then write the news.")
    life.observe_all()
    found = ProposalReader().applicability(life.get("p2"))
    assert found.obstacle == "to accept it, accept p1 first: its lines belong to those"
    with pytest.raises(RefusedError) as refused:
        life.accept("p2")
    assert refused.value.remedy == "Its lines belong to those of p1; to accept them in order: skilld accept p1 p2"
    life.accept()
    life.accept("p2")
    assert "- Dry run first, then write the news." in life.person.show()


def test_an_amended_proposal_keeps_the_heading_that_another_also_adds(life: ProposalLife) -> None:
    last = life.person.show().splitlines()[-1]
    life.propose("p1", Operation(Op.INSERT_AFTER, last, f"\n## Preferences\n\n{DRY}"))
    life.propose("p2", Operation(Op.INSERT_AFTER, last, f"\n## Preferences\n\n{NEWS}"))
    amend(life.person, NEWS, "- Write down what is new.\n- Date it.")
    life.observe_all()
    assert ProposalReader().applicability(life.get("p2")).obstacle == ""
    life.accept("p2")
    assert life.person.show().endswith("\n\n## Preferences\n\n- Write down what is new.\n- Date it.")
    life.accept()
    assert life.person.show().count("## Preferences") == 1


def test_no_merge_is_named_that_git_refuses(life: ProposalLife) -> None:
    life.offer()
    one = life.get()
    assert (found := ProposalReader().applicability(one)).can_merge, "the branch is at the proposal's base"
    assert not found.makes_merge
    life.person.git("config", "merge.ff", "only")
    assert ProposalReader().applicability(one).can_merge
    life.person.commit("more", {"further.txt": "x"})
    found = ProposalReader().applicability(one)
    assert (found.can_cherry_pick, found.can_merge, found.makes_merge) == (True, False, False)
    life.person.git("config", "merge.ff", "false")
    found = ProposalReader().applicability(one)
    assert (found.can_merge, found.makes_merge) == (True, True)
