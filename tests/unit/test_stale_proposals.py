"""A proposal that no longer fits its file is named, and `restore` brings it back once it does, or by its words."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from skilld.errors import RetryError, SkilldError
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.proposals.amend import restore
from skilld.proposals.remarks import describe_standing, recently_stale, refusal_and_remedy, staging_use
from skilld.types import Op, Operation, State
from support.proposal_life import DRY, ProposalLife
from support.repos import SKILL, TEXT

WAYS = "to bring it back: skilld restore p1; to discard it: skilld reject p1"


@pytest.fixture
def stale(life: ProposalLife) -> ProposalLife:
    """Return a life with a change of a line that the person has deleted, with others open before and after."""
    life.propose("p1", Operation(Op.REPLACE, "- Push the tag.", "- Push the signed tag."))
    life.person.commit("mine", {SKILL: TEXT.replace("- Push the tag.\n", "")})
    assert life.observe()[0] == "stale"
    return life


def test_it_is_named_for_a_week_with_a_way_out(stale: ProposalLife) -> None:
    ((one, told),) = recently_stale(stale.store, time.time())
    assert (one.id, told) == ("p1", f"{stale.get().note}; {WAYS}")
    assert recently_stale(stale.store, time.time() + 8 * 86400) == []
    assert refusal_and_remedy(stale.store, one, "accept", (State.OPEN,)) == (
        "it is stale",
        "To bring it back: skilld restore p1",
    )


def test_it_comes_back_once_its_line_is_back(stale: ProposalLife) -> None:
    with pytest.raises(SkilldError, match="p1 was not restored") as error:
        restore(stale.store, stale.get())
    assert error.value.remedy == "To see its text and add it by hand: skilld show p1"
    assert stale.get().state is State.STALE
    stale.person.commit("back", {SKILL: TEXT})
    restore(stale.store, stale.get())
    assert stale.observe() == ("open", "")
    assert "- Push the signed tag." in stale.person.show(ref=STAGING_BRANCH)
    stale.accept()
    assert "- Push the signed tag." in stale.person.show()


def test_a_damaged_repository_is_named_and_not_reported_as_our_bug(stale: ProposalLife) -> None:
    head = stale.person.tip("HEAD")
    (stale.person.root / ".git/objects" / head[:2] / head[2:]).unlink()
    with pytest.raises(RetryError, match=r"p1 was not restored: .*the commit it points to cannot be read") as error:
        restore(stale.store, stale.get())
    assert error.value.remedy == "Check the repository's permissions and its disk."


def test_it_comes_back_in_the_file_that_was_renamed_since(life: ProposalLife) -> None:
    life.offer()
    life.person.git("rm", "--quiet", SKILL)
    life.person.commit("delete it")
    life.store.proposals.decide(life.get(), State.STALE, life.get().created_at, who="git", note=f"{SKILL} is gone")
    life.person.commit("elsewhere", {"AGENTS.md": TEXT})
    restore(life.store, life.get())
    assert life.get().relpath == "AGENTS.md"
    assert life.observe() == ("open", "")
    assert DRY in life.person.show("AGENTS.md", STAGING_BRANCH)


def test_a_checked_out_staging_branch_is_named(life: ProposalLife, tmp_path: Path) -> None:
    life.offer()
    repo = life.get().repo
    assert staging_use(life.store, repo) == ""
    there = tmp_path / "there"
    life.person.git("worktree", "add", "--quiet", str(there), STAGING_BRANCH)
    effect = "what you remove there counts once you switch to another branch"
    held = f"{STAGING_BRANCH} is checked out in {there}; {effect}"
    assert staging_use(life.store, repo) == held
    assert describe_standing(life.store, life.get(), time.time()) == held
    life.person.git("worktree", "remove", str(there))
    assert staging_use(life.store, repo) == ""
