"""What `skilld uninstall` says of copies that it cannot remove."""

from __future__ import annotations

from skilld.cli.uninstall import _repository_removals
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.proposals.remove_refs import plan_removal
from support.proposal_life import ProposalLife


def test_copies_of_the_branches_on_remotes_are_named(life: ProposalLife) -> None:
    life.hub()
    life.offer()
    life.person.git("branch", "skilld/share/release", "main")
    life.person.git("push", "--quiet", "origin", STAGING_BRANCH, "skilld/share/release", "main:skilldx/staging")
    planned = plan_removal(life.person.root)
    assert planned.pushed == (("origin", "skilld/share/release"), ("origin", STAGING_BRANCH))
    _, told = _repository_removals(life.store)
    command = f"git -C {life.person.root} push origin --delete {STAGING_BRANCH}"
    line = f"origin: {STAGING_BRANCH}, which was pushed there from {life.person.root} (to delete it: {command})"
    assert line in told
