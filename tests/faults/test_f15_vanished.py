"""F-15, R1 (part 6): the database vanishes, or is another one, after kill -9. It is noticed, and nothing is lost."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from faults.damages import DAMAGES, Known, decide, repository_is_sound
from faults.kills import Moment, kill_at
from faults.world import DATABASE, World
from support.live_project import Project
from support.program import Program
from support.session import LASTING, LASTING_2, Session
from support.waiting import wait_for

LATER = "Never put more than one emoji into a release note."
QUICK = {"missing", "older", "garbage_pages"}
KINDS = [pytest.param(kind, marks=() if kind in QUICK else pytest.mark.slow) for kind in DAMAGES]
HARMLESS = {"log_gone", "unreadable"}  # where all of it was in the database itself, or its mode is mended


@pytest.fixture(scope="module")
def decided_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a machine with an accepted, a rejected and an open proposal, a learning, and turns that wait."""
    world = World(tmp_path_factory.mktemp("vanished") / "home")
    decide(world)
    session = Session(world.home, world.project)
    session.use_skill()
    session.type("Let us go on", LATER, "ok", "thanks", "go on")
    world.keep()
    return world


@pytest.fixture(scope="module")
def expected(decided_world: World) -> Known:
    """Return what comes of that machine when nothing happens to it."""
    decided_world.reset()
    decided_world.finish()
    known = Known.of(decided_world)
    assert sorted(known.states.values()) == ["accepted", "open", "open", "rejected"]
    assert LATER in known.quotes
    assert known.learnings
    return known


@pytest.fixture
def machine(decided_world: World) -> World:
    """Return that machine as it was."""
    decided_world.reset()
    return decided_world


@pytest.mark.parametrize("kind", KINDS)
def test_r1_nothing_is_lost_or_doubled(machine: World, expected: Known, kind: str) -> None:
    dice = random.Random(kind)
    kill_at(machine, Moment("daemon", "daemon", dice.uniform(0.0, 0.4)))
    DAMAGES[kind](machine.home / DATABASE, dice)
    machine.later()
    machine.finish()
    assert Known.of(machine) == expected
    repository_is_sound(machine)
    status = machine.program.json("status")
    if kind not in HARMLESS:
        assert status["rebuilt"]["from"]
        assert "database  rebuilt" in machine.program.run("status").stdout
        assert "rebuilt from" in machine.program.run("doctor").stdout
    assert (machine.home / DATABASE).stat().st_mode & 0o777 == 0o600
    _repeat_rejected(machine)
    assert Known.of(machine).states == expected.states, "what was rejected is not proposed again"


def _repeat_rejected(machine: World) -> None:
    for skill, lasting in (("release-notes", LASTING), ("deploy", LASTING_2)):
        session = Session(machine.home, machine.project)
        session.use_skill(skill)
        session.type("Let us begin", lasting, "ok, looks good", "thanks", "go on")
    machine.finish()


@pytest.mark.parametrize(
    "kind",
    [*("missing", "header"), *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("older", "foreign_database"))],
)
def test_r1_a_command_without_a_daemon_says_so_once_and_changes_nothing(machine: World, kind: str) -> None:
    database = machine.home / DATABASE
    DAMAGES[kind](database, random.Random(kind))
    before = database.read_bytes() if database.exists() else None
    for verb in ("proposals", "learnings"):
        result = machine.program.run(verb)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr.count("The database is ") == 1
        assert result.stderr.count("skilld run") == 1
    assert "The database is " in machine.program.run("doctor").stdout
    assert (database.read_bytes() if database.exists() else None) == before


def test_r1_a_backup_is_not_overwritten_by_one_with_less(machine: World) -> None:
    database = machine.home / DATABASE
    machine.finish()
    copy = database.with_name("skilld.db.copy")
    for _ in range(3):
        database.unlink()
        database.with_name("skilld.journal").unlink()
        machine.finish()
        with closing(sqlite3.connect(copy)) as db:
            assert db.execute("SELECT count(*) FROM proposals WHERE state = 'rejected'").fetchone() == (1,)


@pytest.mark.slow
def test_r1_a_kill_while_rebuilding_loses_nothing(machine: World, expected: Known) -> None:
    dice = random.Random(8)
    for kind in ("missing", "emptied", "missing_with_its_copies"):
        machine.reset()
        DAMAGES[kind](machine.home / DATABASE, dice)
        for _ in range(4):
            kill_at(machine, Moment("daemon", "start", dice.uniform(0.3, 0.9)))
        machine.later()
        machine.finish()
        assert Known.of(machine) == expected
        repository_is_sound(machine)


@pytest.mark.slow
@pytest.mark.parametrize("copy", [None, random.Random(6).randbytes(50_000)], ids=["no copy", "a broken copy"])
def test_f15_without_any_copy_proposals_are_recovered_from_git(machine: World, copy: bytes | None) -> None:
    (still_open,) = machine.program.json("proposals")
    (accepted,) = machine.program.json("proposals", "--state", "accepted")
    database = machine.home / DATABASE
    database.with_name("skilld.journal").unlink()
    for kept in database.parent.glob("skilld.db.copy*"):
        kept.unlink()
    if copy is not None:
        database.with_name("skilld.db.copy").write_bytes(copy)
        database.with_name("skilld.db.copy").chmod(0o600)
    DAMAGES["random_bytes"](database, random.Random(5))
    machine.finish()
    found = {proposal["id"]: proposal for proposal in machine.program.json("proposals", "--state", "all")}
    same = ("state", "skill", "path", "repo", "commit", "branch", "summary", "session_id", "model", "agent")
    assert {name: found[still_open["id"]][name] for name in same} == {name: still_open[name] for name in same}
    assert found[still_open["id"]]["evidence"][0]["quote"] == still_open["evidence"][0]["quote"]
    assert found[still_open["id"]]["flags"] == still_open["flags"], "its batch was judged again, and found its own"
    assert found[accepted["id"]]["state"] == "accepted"
    assert sum(LATER in evidence["quote"] for p in found.values() for evidence in p["evidence"]) == 1
    repository_is_sound(machine)


@pytest.mark.slow
def test_f15_without_turns_copy_and_journal_the_rest_is_kept(machine: World) -> None:
    before = Known.of(machine).states
    database = machine.home / DATABASE
    for kept in ("skilld.db.copy", "skilld.journal"):
        database.with_name(kept).unlink()
    with closing(sqlite3.connect(database)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'turns'").fetchone()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(database.read_bytes())
    data[(page - 1) * size : page * size] = bytes(size)
    database.write_bytes(data)
    machine.finish()
    after = Known.of(machine).states
    assert {name: after[name] for name in before} == before
    assert sorted(after.values()) == ["accepted", "open", "open", "rejected"], "the turns that waited were judged"
    assert "moved aside" in machine.program.json("status")["last_error"]["message"]
    assert len([*database.parent.glob("skilld.db.damaged-*Z")]) == 1
    repository_is_sound(machine)


def test_r1_the_write_ahead_log_of_a_young_database_is_missing(home: Path, project: Project, program: Program) -> None:
    with program.daemon() as daemon:
        session = Session(home, project)
        session.use_skill()
        session.type("Let us begin", LASTING, "ok", "thanks", "go on")
        (made,) = wait_for("a proposal", lambda: program.json("proposals"), every=0.2)
        assert program.run("reject", made["id"]).returncode == 0
        daemon.kill()
    for suffix in ("-wal", "-shm"):
        (home / DATABASE).with_name(f"skilld.db{suffix}").unlink()
    assert program.run("run", "--once").returncode == 0
    found = {proposal["id"]: proposal["state"] for proposal in program.json("proposals", "--state", "all")}
    assert found == {made["id"]: "rejected"}


def test_r1_git_holds_a_proposal_unknown_to_database_and_journal(machine: World) -> None:
    """The folder of skilld's state is put back from a backup: only git tells."""
    state = (machine.home / DATABASE).parent
    state.rename(state.with_name("before"))
    shutil.copytree(state.with_name("before"), state)
    machine.finish()
    known = Known.of(machine)
    shutil.rmtree(state)
    state.with_name("before").rename(state)
    machine.finish()
    assert Known.of(machine).states == known.states
    repository_is_sound(machine)


def test_r1_a_new_installation_is_no_lost_database(home: Path, project: Project, program: Program) -> None:
    del project
    assert program.run("proposals").returncode == 0
    assert program.run("run", "--once").returncode == 0
    assert program.json("status")["rebuilt"] is None
    assert program.json("status")["last_error"] is None
    assert not [*(home / DATABASE).parent.glob("*.damaged-*")]
