"""Where a commit-msg hook refuses skilld's subject, the person commits the change of the file under their own."""

from __future__ import annotations

from argparse import Namespace

import pytest

from skilld.cli.decide import check_accept, check_revert
from skilld.errors import RefusedError, UsageError
from skilld.git.staging_branch import STAGING_REF
from skilld.proposals.amend import decide_parts
from skilld.proposals.decide import accepting, decide, reverting
from skilld.types import Op, Operation
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, Person

NEWS = "- Write the news."
HOOK = '#!/bin/sh\nhead -1 "$1" | grep -q "^docs: " || { echo "no type: $(head -1 "$1")" >&2; exit 1; }\n'


def refuse_other_subjects(person: Person) -> None:
    hook = person.root / ".git/hooks/commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK)
    hook.chmod(0o755)
    person.write("further.txt", "x")
    person.git("add", "further.txt")  # with other work staged, git commits by itself, and runs its hooks


def commit(person: Person) -> None:
    person.git("commit", "--quiet", "-m", "docs: a rule", "--", SKILL)


def test_the_refusal_says_how_to_use_a_subject_of_ones_own(life: ProposalLife) -> None:
    life.offer()
    refuse_other_subjects(life.person)
    with pytest.raises(RefusedError, match="the commit-msg hook refused the commit: no type: skilld") as refused:
        life.accept()
    own = "To change the file and commit it under your own subject: skilld accept --worktree p1"
    assert refused.value.remedy == own
    life.accept(worktree=True)
    commit(life.person)
    assert life.observe() == ("accepted", "you committed it")


def test_an_accepted_proposal_is_reverted_by_the_persons_commit(life: ProposalLife) -> None:
    life.offer()
    life.accept()
    text = (life.person.root / SKILL).read_text()
    refuse_other_subjects(life.person)
    with pytest.raises(RefusedError) as refused:
        life.revert()
    own = "To change the file and commit it under your own subject: skilld revert --worktree p1"
    assert refused.value.remedy == own
    report = decide(life.store, life.get(), reverting(worktree=True))
    assert report.lines[0].startswith("p1 is no longer in ")
    assert (life.person.root / SKILL).read_text() == text.replace(f"{DRY}\n", "")
    assert life.observe() == ("accepted", "")
    commit(life.person)
    assert life.observe() == ("reverted", "")


def test_a_part_is_accepted_without_a_commit(life: ProposalLife) -> None:
    life.propose(
        "p1", Operation(Op.INSERT_AFTER, "- Run the tests.", DRY), Operation(Op.INSERT_AFTER, "- Push the tag.", NEWS)
    )
    refuse_other_subjects(life.person)
    decide_parts(life.store, life.get(), [0], accepting(worktree=True))
    written = (life.person.root / SKILL).read_text()
    assert (DRY in written, NEWS in written) == (True, False)
    commit(life.person)
    assert life.observe() == ("accepted", "you committed it")
    (rest,) = [one for one in life.store.proposals.all() if one.id != "p1"]
    assert [one.text for one in rest.operations] == [NEWS]
    assert (rest.state.value, life.person.git("for-each-ref", STAGING_REF) != "") == ("open", True)


def test_what_can_be_combined_with_the_file_alone() -> None:
    given = {"ids": ["p1"], "all": False, "all_repositories": False, "to": None, "why": [], "part": [1]}
    assert check_accept(Namespace(**given, worktree=True)) == ""
    check_revert(Namespace(**given, worktree=True))
    with pytest.raises(UsageError, match="--why cannot be combined with --worktree"):
        check_revert(Namespace(**(given | {"why": ["too", "long"]}), worktree=True))
