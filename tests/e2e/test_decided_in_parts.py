"""A proposal of two parts, decided on in two steps by the ID that the person knows."""

from __future__ import annotations

import json

import pytest

from support.taught_project import FIRST, SECOND, TaughtProject


def does(world: TaughtProject, *command: str) -> str:
    """Run a verb that must succeed."""
    result = world.program.run(*command)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def rest_of(world: TaughtProject) -> str:
    """Return the ID of what is left open of the proposal of two parts."""
    (rest,) = (one["id"] for one in world.program.json("proposals") if one["id"] != world.one)
    return str(rest)


def test_what_was_rejected_of_a_proposal_is_not_accepted_by_its_id(world: TaughtProject) -> None:
    does(world, "reject", world.two, "--part", "1", "--why", "we have no tickets")
    rest = rest_of(world)
    shown = world.program.run("show", world.two).stdout
    assert f"skilld restore {world.two}" in shown
    assert f"skilld accept {world.two}" not in shown
    told = does(world, "accept", world.two)
    stays = f"The part of {world.two} that you rejected stays rejected; to bring it back: skilld restore {world.two}\n"
    assert told.startswith(f"{stays}{rest} accepted: ")
    assert (FIRST in world.skill, SECOND in world.skill) == (False, True)
    assert does(world, "accept", world.two) == f"{stays}{rest} was already accepted.\n"
    assert world.states() == {world.two: "rejected", rest: "accepted", world.one: "open"}
    does(world, "restore", world.two)
    does(world, "accept", world.two)
    assert (FIRST in world.skill, SECOND in world.skill) == (True, True)


@pytest.mark.parametrize("given", [("{two}",), ("{two}", "{rest}"), ("--worktree", "{two}")])
def test_the_rest_is_what_json_reports(world: TaughtProject, given: tuple[str, ...]) -> None:
    does(world, "reject", world.two, "--part", "2")
    rest = rest_of(world)
    named = [one.format(two=world.two, rest=rest) for one in given]
    (row,) = json.loads(does(world, "accept", "--json", *named))
    assert (row["id"], row["state"]) == (rest, "accepted")
    assert (FIRST in world.skill, SECOND in world.skill) == (True, False)


def test_when_all_of_it_was_rejected_its_id_is_that_of_the_part(world: TaughtProject) -> None:
    does(world, "reject", world.two, "--part", "1")
    does(world, "reject", rest_of(world))
    assert does(world, "accept", world.two).startswith(f"You had rejected {world.two}; accepting it now.\n")
    assert (FIRST in world.skill, SECOND in world.skill) == (True, False)


def test_show_offers_what_works_if_accepting_is_refused(world: TaughtProject) -> None:
    pick = f"git cherry-pick {world.show(world.two)['commit'][:10]}"
    world.project.git("switch", "--quiet", "skilld/staging")
    shown = world.program.run("show", world.two).stdout
    assert "note: switch to another branch before you accept it\n" in shown
    assert (pick in shown, f"  skilld accept {world.two}  " in shown) == (False, False)
    assert f"  skilld reject {world.two}  " in shown
    assert "git merge" not in world.program.run("proposals").stdout
    refused = world.program.run("accept", world.two, "--part", "1")
    assert refused.returncode == 5
    assert f"\n  Switch to another branch there, then try again; to accept all of it: skilld accept {world.two}\n" in (
        refused.stderr
    )
    world.project.git("switch", "--quiet", "--detach", "main")
    shown = world.program.run("show", world.two).stdout
    assert "note: no branch is checked out in " in shown
    assert "; check out a branch before you accept it\n" in shown
    assert (pick in shown, f"  skilld accept {world.two}  " in shown) == (True, False)
    world.project.git("switch", "--quiet", "main")
    world.project.git("worktree", "add", "--quiet", str(world.project.root / "../linked"), "skilld/staging")
    shown = world.program.run("show", world.two).stdout
    assert (pick in shown, f"  skilld accept {world.two}  " in shown) == (True, True)


@pytest.mark.parametrize(
    ("verbs", "state", "then"),
    [
        (["accept"], "accepted", "To remove it: skilld revert {}"),
        (["accept", "revert"], "reverted", "To accept it after all: skilld accept {}"),
        (["reject"], "rejected", "To bring it back: skilld restore {}"),
    ],
)
def test_a_part_of_what_is_decided_is_refused_with_a_next_step(
    world: TaughtProject, verbs: list[str], state: str, then: str
) -> None:
    for verb in verbs:
        does(world, verb, world.two)
    refused = world.program.run("accept", world.two, "--part", "1")
    assert refused.returncode == 1
    cause = f"skilld: Cannot accept part of {world.two}: it is {state}\n"
    assert refused.stderr == f"{cause}  {then.format(world.two)}\n"


def test_a_part_of_what_was_dropped_is_refused_with_a_next_step(world: TaughtProject) -> None:
    world.project.git("branch", "--delete", "--force", "skilld/staging")
    for given, then in (
        (("accept", world.two, "--part", "1"), "To bring it back: skilld restore"),
        (("reject", world.two, "--part", "1"), "To bring it back: skilld restore"),
        (("revert", world.two), "To reject it now: skilld reject"),
    ):
        assert world.program.run(*given).stderr.endswith(f"it is dropped\n  {then} {world.two}\n")


def test_show_says_whether_a_merge_of_the_branch_makes_a_commit(world: TaughtProject) -> None:
    world.project.git("reset", "--quiet", "--hard", "skilld/staging~2")
    merge = "git merge skilld/staging    accept every proposal on the branch"
    assert f"  {merge}\n" in world.program.run("show", world.two).stdout
    (world.project.root / "README.md").write_text("more\n")
    world.project.git("commit", "--quiet", "--all", "--message", "meanwhile")
    assert f"  {merge}, with a merge commit\n" in world.program.run("show", world.two).stdout
    before = world.project.git("rev-parse", "HEAD")
    world.project.git("merge", "--quiet", "--no-edit", "skilld/staging")
    assert world.project.git("rev-parse", "HEAD^1") == before
