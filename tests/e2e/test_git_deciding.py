"""Every way a person can decide on a proposal with plain git, and the state that `skilld proposals` shows then.

Two learnings are taught once; each test starts from a copy of that home and repository, in the same place.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import furnish
from support.copies import Original
from support.lessons import HOSTS, LINES, LINKS, TICKETS, Lessons
from support.live_project import Project
from support.program import Program
from support.repos import snapshot

DECIDED, OPEN = LINES[TICKETS], LINES[HOSTS]


@dataclass
class World:
    """A person's home and project with two open proposals: `one` to be decided, `other` to stay open."""

    project: Project
    program: Program
    lessons: Lessons

    def __post_init__(self) -> None:
        self.one, self.other = "", ""

    @property
    def skill(self) -> Path:
        return self.project.skill_path

    def git(self, *arguments: str) -> str:
        return self.project.git(*arguments)

    def shown(self, name: str) -> dict[str, Any]:
        (found,) = (item for item in self.program.json("proposals", "--state", "all") if item["id"] == name)
        return dict(found)

    def commit_of(self, name: str) -> str:
        return str(self.shown(name)["commit"])

    def rewrite(self, old: str, new: str, message: str) -> None:
        """Edit the skill by hand and commit it."""
        text = self.skill.read_text()
        assert old in text
        self.skill.write_text(text.replace(old, new))
        self.git("commit", "--quiet", "--all", "--message", message)

    def elsewhere(self) -> None:
        """Commit something that is not the skill: nothing fast-forwards then."""
        (self.project.root / "README.md").write_text("more\n")
        self.git("commit", "--quiet", "--all", "--message", "meanwhile")

    def alone(self) -> str:
        """Make a branch with the proposal to be decided and nothing else, and return its name."""
        self.git("branch", "alone", self.commit_of(self.one))
        return "alone"


def _taught(folder: Path) -> World:
    home = folder / "home"
    home.mkdir()
    furnish(home)
    project, program = Project(folder / "project", home, ".claude/skills"), Program(home)
    world = World(project, program, Lessons(home, project, program))
    assert len(world.lessons.teach(TICKETS)) == 1
    assert len(world.lessons.teach(HOSTS)) == 2
    world.one, world.other = (item["id"] for item in world.lessons.open())
    return world


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Original[World]:
    return Original(tmp_path_factory.mktemp("deciding"), _taught)


@pytest.fixture
def world(taught: Original[World]) -> Iterator[World]:
    with taught.fresh() as world:
        yield world


def merge(world: World) -> None:
    world.elsewhere()
    world.git("merge", "--quiet", "--no-edit", world.alone())


def fast_forward(world: World) -> None:
    world.git("reset", "--quiet", "--hard", "HEAD~1")  # back to the commit the branch rests on
    world.git("merge", "--quiet", "--ff-only", world.alone())


def squash(world: World) -> None:
    world.git("merge", "--quiet", "--squash", world.alone())
    world.git("commit", "--quiet", "--no-edit")


def pick(world: World) -> None:
    world.git("cherry-pick", world.commit_of(world.one))


def rebase(world: World) -> None:
    world.git("switch", "--quiet", world.alone())
    world.git("rebase", "--quiet", "main")
    world.git("switch", "--quiet", "main")
    world.git("merge", "--quiet", "--ff-only", "alone")


def by_hand(world: World) -> None:
    world.rewrite("- No marketing words.\n", f"- No marketing words.\n{DECIDED}\n", "by hand")


def by_fetch(world: World) -> None:
    """Squash it on the host, with another message, and fetch: the local main stays behind."""
    host = world.project.root.parent / "host"
    world.git("clone", "--quiet", "--no-local", ".", str(host))
    name = world.one
    world.git("-C", str(host), "fetch", "--quiet", "origin", f"refs/skilld/proposals/{name}:refs/heads/review")
    world.git("-C", str(host), "merge", "--quiet", "--squash", "review")
    world.git("-C", str(host), "commit", "--quiet", "--message", "Say it (#7)")
    world.git("remote", "add", "origin", str(host))
    world.git("fetch", "--quiet", "origin")


WAYS = [merge, fast_forward, squash, pick, rebase, by_hand, by_fetch]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_what_plain_git_took_in_is_accepted_and_the_rest_stays_open(world: World, way: Callable[[World], None]) -> None:
    way(world)
    assert world.lessons.states() == {world.one: "accepted", world.other: "open"}
    assert world.shown(world.one)["note"] == ""
    text = world.git("show", f"skilld/staging:{world.shown(world.other)['relpath']}")
    assert OPEN in text
    assert world.git("for-each-ref", "--format=%(refname:short)", "refs/skilld") == f"skilld/proposals/{world.other}"
    assert world.git("fsck", "--strict", "--no-dangling") == ""


def test_accepted_all_by_merging_staging(world: World) -> None:
    world.git("merge", "--quiet", "--no-edit", "skilld/staging")
    assert world.lessons.states() == {world.one: "accepted", world.other: "accepted"}
    assert world.git("for-each-ref", "refs/skilld", "refs/heads/skilld") == ""


def test_amended_is_accepted_and_edited_by_you(world: World) -> None:
    pick(world)
    world.skill.write_text(world.skill.read_text().replace("ticket number first", "ticket number at the start"))
    world.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    shown = world.shown(world.one)
    assert (shown["state"], shown["note"]) == ("accepted", "edited by you")


def reverted_commit(world: World) -> None:
    pick(world)
    world.lessons.states()
    world.git("revert", "--no-edit", "HEAD")


def reverted_merge(world: World) -> None:
    merge(world)
    world.lessons.states()
    world.git("revert", "--no-edit", "-m", "1", "HEAD")


def reverted_unseen(world: World) -> None:
    pick(world)
    world.git("revert", "--no-edit", "HEAD")


def lines_removed(world: World) -> None:
    pick(world)
    world.lessons.states()
    world.rewrite(f"{DECIDED}\n", "", "no more")


@pytest.mark.parametrize(
    "way", [reverted_commit, reverted_merge, reverted_unseen, lines_removed], ids=lambda way: way.__name__
)
def test_what_plain_git_reverted_is_reverted_and_not_proposed_again(world: World, way: Callable[[World], None]) -> None:
    way(world)
    assert world.lessons.states() == {world.one: "reverted", world.other: "open"}
    _say_it_again(world)
    assert world.lessons.states() == {world.one: "reverted", world.other: "open"}


def a_day_passes(world: World) -> None:
    """Put back by two days what skilld noted of a proposal that is off the branch."""
    (database,) = (world.project.root.parent / "home").rglob("skilld.db")
    with sqlite3.connect(database) as db:
        db.execute("UPDATE proposals SET missing_since = '2026-01-01T00:00:00Z' WHERE missing_since != ''")
    db.close()


def dropped_by_rebase(world: World) -> None:
    world.git("switch", "--quiet", "skilld/staging")
    world.git("-c", "sequence.editor=sed -i -e 2d", "rebase", "--quiet", "--interactive", "main")
    world.git("switch", "--quiet", "main")
    world.one, world.other = world.other, world.one


def dropped_by_reset(world: World) -> None:
    world.git("branch", "--force", "skilld/staging", world.commit_of(world.one))
    world.one, world.other = world.other, world.one


@pytest.mark.parametrize("way", [dropped_by_rebase, dropped_by_reset], ids=lambda way: way.__name__)
def test_dropped_is_rejected_after_a_day(world: World, way: Callable[[World], None]) -> None:
    way(world)
    assert world.lessons.states() == {world.one: "dropped", world.other: "open"}
    a_day_passes(world)
    assert world.lessons.states() == {world.one: "rejected", world.other: "open"}
    assert len(world.git("rev-list", "skilld/staging", "^main").splitlines()) == 1


def test_staging_deleted_rejects_all_after_a_day_and_a_later_merge_accepts(world: World) -> None:
    world.git("branch", "review", "skilld/staging")
    world.git("branch", "--delete", "--force", "skilld/staging")
    assert world.program.json("proposals") == []
    dropped = world.program.json("proposals", "--state", "dropped")
    assert [(item["state"], item["branch"]) for item in dropped] == [("dropped", "")] * 2
    listed = world.program.run("proposals").stdout
    ways = f"to bring it back: skilld restore {world.one}; to reject it now: skilld reject {world.one}"
    way = f"dropped; will be rejected in 24 hours ({ways})"
    assert way in listed
    assert "skilld/staging" not in listed
    assert way in world.program.run("show", world.one).stdout
    assert f"{world.one} {way}" in world.program.run("status").stdout
    assert world.program.json("status")["proposals"]["dropped"] == 2
    a_day_passes(world)
    assert world.lessons.states() == {world.one: "rejected", world.other: "rejected"}
    world.git("merge", "--quiet", "--no-edit", "review")
    assert world.lessons.states() == {world.one: "accepted", world.other: "accepted"}


def test_a_hand_edit_of_the_neighbouring_line(world: World) -> None:
    """R6: the proposal follows it, what is offered works, and accepting does."""
    before = world.shown(world.other)["operations"][0]["anchor"].splitlines()[-1]
    world.rewrite(before, f"{before} As ever.", "mine")
    shown = world.program.run("show", world.other).stdout
    assert "As ever." in shown
    for row in (row for row in shown.splitlines() if " cherry-pick " in row):
        world.git("cherry-pick", row.split()[2])
        world.git("reset", "--quiet", "--hard", "HEAD~1")
    assert world.program.run("accept", world.other).returncode == 0
    text = world.skill.read_text()
    assert f"{before} As ever.\n" in text
    assert LINES[HOSTS] in text
    assert world.lessons.states() == {world.one: "open", world.other: "accepted"}


def test_what_was_dropped_is_restored_beside_what_was_taught_since(world: World) -> None:
    world.git("branch", "--delete", "--force", "skilld/staging")
    taught = {item["id"] for item in world.lessons.teach(LINKS)}
    assert len(taught) == 1
    assert world.one not in taught
    assert world.lessons.states().pop(world.one) == "dropped"
    before = snapshot(world.project.root)
    done = world.program.run("restore", world.one)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, f"{world.one} is back on skilld/staging")
    states = world.lessons.states()
    assert (states[world.one], states[world.other]) == ("open", "dropped")
    assert len(world.git("rev-list", "skilld/staging", "^main").splitlines()) == 2
    assert snapshot(world.project.root) == before


def test_a_branch_that_a_remote_holds_is_not_dropped(world: World) -> None:
    host = world.project.root.parent / "host"
    world.git("init", "--quiet", "--bare", str(host))
    world.git("remote", "add", "origin", str(host))
    world.git("push", "--quiet", "origin", "skilld/staging:refs/heads/review")
    world.git("branch", "--delete", "--force", "skilld/staging")
    a_day_passes(world)
    assert world.lessons.states() == {world.one: "open", world.other: "open"}


def test_a_rebase_of_staging_in_progress_is_left_alone(world: World) -> None:
    world.git("switch", "--quiet", "skilld/staging")
    world.git("-c", "sequence.editor=sed -i -e 1ibreak", "rebase", "--quiet", "--interactive", "HEAD~2")
    before = world.git("for-each-ref"), world.git("rev-parse", "HEAD")
    assert world.lessons.states() == {world.one: "open", world.other: "open"}
    assert world.program.run("reject", world.one).returncode == 0
    refs = world.git("for-each-ref", "refs/heads"), world.git("rev-parse", "HEAD")
    assert refs == ("\n".join(row for row in before[0].splitlines() if "refs/heads" in row), before[1])
    world.git("rebase", "--continue")
    world.git("switch", "--quiet", "main")
    assert world.lessons.states() == {world.one: "rejected", world.other: "open"}
    assert DECIDED not in world.git("show", f"skilld/staging:{world.shown(world.other)['relpath']}")


def test_a_repository_that_moved_or_went_makes_them_stale(world: World) -> None:
    world.project.root.rename(world.project.root.parent / "moved")
    assert world.lessons.states() == {world.one: "stale", world.other: "stale"}


def _say_it_again(world: World) -> None:
    world.lessons.teach(TICKETS)


def test_after_a_reject_the_same_words_propose_nothing(world: World) -> None:
    assert world.program.run("reject", world.one, "--why", "not in these notes").returncode == 0
    before = world.program.json("status")
    assert before["said_again"] == []
    _say_it_again(world)
    assert world.lessons.states() == {world.one: "rejected", world.other: "open"}
    told = f"you said it again after you rejected it; to bring it back: skilld restore {world.one}"
    now = world.program.json("status")
    assert now["said_again"] == [{"id": world.one, "told": told}]
    assert now["turns"]["taught"] == before["turns"]["taught"] + 1, "it counts as something lasting"
    for verb in (("status",), ("proposals",), ("show", world.one)):
        assert told in world.program.run(*verb).stdout.replace("\n          ", " ")
    (database,) = (world.project.root.parent / "home").rglob("skilld.db")
    with sqlite3.connect(database) as db:
        assert db.execute("SELECT after, who, why FROM decisions").fetchall() == [
            ("rejected", "command", "not in these notes")
        ]
    db.close()


def test_accept_all_and_revert_in_another_order(world: World) -> None:
    before = world.skill.read_text()
    done = world.program.run("accept", "--all")
    assert (done.returncode, done.stderr) == (0, "")
    text = world.skill.read_text()
    assert DECIDED in text
    assert OPEN in text
    done = world.program.run("revert", world.one, world.other)
    assert (done.returncode, done.stderr) == (0, "")
    assert world.skill.read_text() == before
    assert world.git("status", "--porcelain") == ""
    assert world.lessons.states() == {world.one: "reverted", world.other: "reverted"}


def test_each_decision_names_the_one_that_undoes_it(world: World) -> None:
    def after(*decision: str) -> str:
        assert world.program.run(*decision, world.one).returncode == 0
        world.program.json("proposals")  # what is seen in git does not overrule it
        return world.program.run("show", world.one).stdout.rpartition("\n\n")[2]

    take_in = f"  skilld accept {world.one}  accept it after all\n"
    take_out = f"  skilld revert {world.one}  undo it with a new commit\n"
    put_back = f"  skilld restore {world.one}  return it to the staging branch\n"
    assert after("reject", "--why", "not here") == put_back + take_in.replace("  accept it", "   accept it")
    for verb in (("show", world.one), ("proposals", "--state", "all")):
        assert "rejected; your reason: not here" in world.program.run(*verb).stdout
    assert world.program.json("show", world.one)["rejected_for"] == "not here"
    for _ in range(2):
        assert after("accept") == take_out
        assert DECIDED in world.skill.read_text()
        assert after("revert") == take_in
        assert DECIDED not in world.skill.read_text()
    assert world.lessons.states() == {world.one: "reverted", world.other: "open"}


def test_what_was_accepted_and_thrown_away_is_taken_in_again(world: World) -> None:
    head = world.git("rev-parse", "HEAD")
    for accept, throw_away in (
        (("accept", "--worktree"), ("checkout", "--quiet", ".")),
        (("accept",), ("reset", "--quiet", "--hard", head)),
        (("accept",), ("reset", "--quiet", "--hard", head)),
    ):
        assert world.program.run(*accept, world.one).stdout.startswith(f"{world.one} accepted: ")
        assert DECIDED in world.skill.read_text()
        assert world.program.run("accept", world.one).stdout == f"{world.one} was already accepted.\n"
        world.git(*throw_away)
        assert DECIDED not in world.skill.read_text()
    assert world.lessons.states() == {world.one: "accepted", world.other: "open"}


def test_it_is_told_in_which_folder_a_proposal_is(world: World) -> None:
    for told in (world.program.run("proposals").stdout, world.program.run("show", world.one).stdout):
        assert str(world.skill.parent) in told


def test_accept_worktree_only_writes_the_file(world: World) -> None:
    head = world.git("rev-parse", "HEAD")
    assert world.program.run("accept", "--worktree", world.one).returncode == 0
    assert DECIDED in world.skill.read_text()
    assert world.git("rev-parse", "HEAD") == head
    assert world.git("status", "--porcelain") == "M .claude/skills/release-notes/SKILL.md"
    assert world.lessons.states() == {world.one: "accepted", world.other: "open"}
    number = world.skill.read_text().splitlines().index(DECIDED) + 1
    why = world.program.json("why", f"{world.skill}:{number}")
    assert (why["commit"], [item["id"] for item in why["proposals"]]) == ("", [world.one])


def test_one_that_cannot_be_accepted_keeps_none_of_the_others_from_it(world: World) -> None:
    assert world.program.run("reject", world.one).returncode == 0
    world.git("update-ref", "-d", f"refs/skilld/proposals/{world.one}")
    world.git("gc", "--quiet", "--prune=now")
    done = world.program.run("accept", world.one, world.other)
    assert done.returncode == 5
    assert done.stderr.startswith(f"skilld: {world.one}: The proposal was not accepted")
    assert world.lessons.states() == {world.one: "rejected", world.other: "accepted"}


@pytest.mark.parametrize("state", ["dirty", "merge", "detached"])
def test_a_tree_that_is_not_ready_is_refused_with_the_command(world: World, state: str) -> None:
    if state == "dirty":
        world.skill.write_text(world.skill.read_text() + "\nMine.\n")
    elif state == "detached":
        world.git("checkout", "--quiet", "--detach")
    else:
        world.git("switch", "--quiet", "-c", "side", "HEAD~1")
        world.elsewhere()
        world.git("switch", "--quiet", "main")
        world.git("merge", "--quiet", "--no-commit", "--no-ff", "side")
    before = snapshot(world.project.root)
    done = world.program.run("accept", world.one)
    assert done.returncode == 5
    pick = f"git -C {world.project.root} cherry-pick {world.commit_of(world.one)}"
    assert (pick if state == "detached" else f"it, then: skilld accept {world.one}") in done.stderr
    assert snapshot(world.project.root) == before
    assert world.lessons.states() == {world.one: "open", world.other: "open"}
