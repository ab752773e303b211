"""Decisions with plain git or by command, and what becomes of the other proposal.

Every way of plain git by itself is in tests/unit/test_decide_observe.py.
"""

from __future__ import annotations

import sqlite3
import time
from typing import Any

from support.lessons import LINKS, TICKETS, Lessons
from support.repos import snapshot
from support.taught_project import FIRST, THIRD, TaughtProject

DATABASE = ".local/state/skilld/skilld.db"


def teach(world: TaughtProject, text: str) -> list[dict[str, Any]]:
    """Say it in another session, and return what is open then."""
    return Lessons(world.home, world.project, world.program).teach(text)


def test_a_merge_with_plain_git_accepts_and_the_rest_stays_open(world: TaughtProject) -> None:
    (world.project.root / "README.md").write_text("more\n")  # nothing fast-forwards then
    world.project.git("commit", "--quiet", "--all", "--message", "meanwhile")
    world.project.git("merge", "--quiet", "--no-edit", world.show(world.two)["commit"])
    assert world.states() == {world.two: "accepted", world.one: "open"}
    assert world.show(world.two)["note"] == ""
    text = world.project.git("show", f"skilld/staging:{world.show(world.one)['relpath']}")
    assert THIRD in text
    assert (
        world.project.git("for-each-ref", "--format=%(refname:short)", "refs/skilld") == f"skilld/proposals/{world.one}"
    )
    assert world.project.git("fsck", "--strict", "--no-dangling") == ""


def test_a_revert_with_plain_git_comes_before_what_is_said_next(world: TaughtProject) -> None:
    commit = world.show(world.one)["commit"]
    world.project.git("merge", "--quiet", "--no-edit", commit, date=time.time())
    world.project.git("revert", "--no-edit", commit, date=time.time())
    lessons = Lessons(world.home, world.project, world.program)
    lessons.say(LINKS)
    said = lessons.judge()
    assert "You said this again for release-notes after you reverted it" in said
    assert f"To bring it back: skilld accept {world.one}" in said
    assert world.states()[world.one] == "reverted"


def pass_a_day(world: TaughtProject) -> None:
    """Put back by two days what skilld noted of a proposal that is off the branch."""
    with sqlite3.connect(world.home / DATABASE) as db:
        db.execute("UPDATE proposals SET missing_since = '2026-01-01T00:00:00Z' WHERE missing_since != ''")
    db.close()


def test_deleting_the_staging_branch_rejects_all_after_a_day_and_a_later_merge_accepts(world: TaughtProject) -> None:
    world.project.git("branch", "review", "skilld/staging")
    world.project.git("branch", "--delete", "--force", "skilld/staging")
    assert world.program.json("proposals") == []
    dropped = world.program.json("proposals", "--state", "dropped")
    assert [(item["state"], item["branch"]) for item in dropped] == [("dropped", "")] * 2
    listed = world.program.run("proposals").stdout
    ways = f"to bring it back: skilld restore {world.two}; to reject it now: skilld reject {world.two}"
    way = f"dropped; will be rejected in 24 hours ({ways})"
    assert way in listed
    assert "skilld/staging" not in listed
    assert way in world.program.run("show", world.two).stdout
    assert f"{world.two} {way}" in world.program.run("status").stdout
    assert world.program.json("status")["proposals"]["dropped"] == 2
    pass_a_day(world)
    assert world.states() == {world.two: "rejected", world.one: "rejected"}
    world.project.git("merge", "--quiet", "--no-edit", "review")
    assert world.states() == {world.two: "accepted", world.one: "accepted"}


def test_a_dropped_proposal_is_restored_beside_newer_ones(world: TaughtProject) -> None:
    world.project.git("branch", "--delete", "--force", "skilld/staging")
    taught = {item["id"] for item in teach(world, "Always sign the release notes with the name of the editor.")}
    assert len(taught) == 1
    assert world.two not in taught
    assert world.states().pop(world.two) == "dropped"
    before = snapshot(world.project.root)
    result = world.program.run("restore", world.two)
    assert (result.returncode, result.stdout.split(":")[0]) == (0, f"{world.two} is back on skilld/staging")
    states = world.states()
    assert (states[world.two], states[world.one]) == ("open", "dropped")
    assert len(world.project.git("rev-list", "skilld/staging", "^main").splitlines()) == 2
    assert snapshot(world.project.root) == before


def test_a_rebase_of_staging_in_progress_is_left_alone(world: TaughtProject) -> None:
    world.project.git("switch", "--quiet", "skilld/staging")
    world.project.git("-c", "sequence.editor=sed -i -e 1ibreak", "rebase", "--quiet", "--interactive", "HEAD~2")
    before = world.project.git("for-each-ref"), world.project.git("rev-parse", "HEAD")
    assert world.states() == {world.two: "open", world.one: "open"}
    assert world.program.run("reject", world.two).returncode == 0
    refs = world.project.git("for-each-ref", "refs/heads"), world.project.git("rev-parse", "HEAD")
    assert refs == ("\n".join(row for row in before[0].splitlines() if "refs/heads" in row), before[1])
    world.project.git("rebase", "--continue")
    world.project.git("switch", "--quiet", "main")
    assert world.states() == {world.two: "rejected", world.one: "open"}
    assert FIRST not in world.project.git("show", f"skilld/staging:{world.show(world.one)['relpath']}")


def test_after_a_rejection_the_same_words_propose_nothing(world: TaughtProject) -> None:
    assert world.program.run("reject", world.two, "--why", "not in these notes").returncode == 0
    before = world.program.json("status")
    assert before["said_again"] == []
    teach(world, TICKETS)
    assert world.states() == {world.two: "rejected", world.one: "open"}
    told = f"you said it again after you rejected it; to bring it back: skilld restore {world.two}"
    now = world.program.json("status")
    assert now["said_again"] == [{"id": world.two, "told": told}]
    assert now["turns"]["taught"] == before["turns"]["taught"] + 1, "it counts as something lasting"
    why = world.program.json("doctor")["why_nothing"]
    assert why[-1] == "what you said has been proposed before (list: skilld proposals --state all)"
    for verb in (("status",), ("proposals",), ("show", world.two)):
        assert told in world.program.run(*verb).stdout.replace("\n          ", " ")
    with sqlite3.connect(world.home / DATABASE) as db:
        assert db.execute("SELECT after, who, why FROM decisions").fetchall() == [
            ("rejected", "command", "not in these notes")
        ]
    db.close()


def test_each_decision_names_the_command_that_undoes_it(world: TaughtProject) -> None:
    def after_decision(*decision: str) -> str:
        assert world.program.run(*decision, world.two).returncode == 0
        world.program.json("proposals")  # what is seen in git does not overrule it
        return world.program.run("show", world.two).stdout.rpartition("\n\n")[2]

    take_in = f"  skilld accept {world.two}  accept it after all\n"
    take_out = f"  skilld revert {world.two}  undo it with a new commit\n"
    put_back = f"  skilld restore {world.two}  return it to the staging branch\n"
    assert after_decision("reject", "--why", "not here") == put_back + take_in.replace("  accept it", "   accept it")
    for verb in (("show", world.two), ("proposals", "--state", "all")):
        assert "rejected; your reason: not here" in world.program.run(*verb).stdout
    assert world.program.json("show", world.two)["rejected_for"] == "not here"
    for _ in range(2):
        assert after_decision("accept") == take_out
        assert FIRST in world.skill
        assert after_decision("revert") == take_in
        assert FIRST not in world.skill
    assert world.states() == {world.two: "reverted", world.one: "open"}


def test_a_proposal_that_cannot_be_accepted_does_not_block_the_others(world: TaughtProject) -> None:
    assert world.program.run("reject", world.two).returncode == 0
    world.project.git("update-ref", "-d", f"refs/skilld/proposals/{world.two}")
    world.project.git("gc", "--quiet", "--prune=now")
    result = world.program.run("accept", world.two, world.one)
    assert result.returncode == 5
    assert result.stderr.startswith(f"skilld: {world.two}: The proposal was not accepted")
    assert world.states() == {world.two: "rejected", world.one: "accepted"}
