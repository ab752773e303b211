"""F-15: a damaged database. It is moved aside and rebuilt: nothing is lost, proposed twice or applied unasked."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from faults.kills import kill_before
from faults.world import DATABASE, World
from support.session import Session

LATER = "Never put more than one emoji into a release note."


def _overwrite(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _header(path: Path) -> None:
    _overwrite(path, b"\x00" * 100 + path.read_bytes()[100:])


def _flipped(path: Path) -> None:
    dice = random.Random(4)
    data = bytearray(path.read_bytes())
    for _ in range(60):
        data[dice.randrange(4096, len(data))] ^= 0xFF
    _overwrite(path, bytes(data))


def _without_turns_nor_copy(path: Path) -> None:
    for kept in ("skilld.db.copy", "skilld.journal"):
        path.with_name(kept).unlink()
    with closing(sqlite3.connect(path)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'turns'").fetchone()
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : page * size] = bytes(size)
    _overwrite(path, bytes(data))


def _emptied(path: Path) -> None:
    _overwrite(path, b"")


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a machine with an accepted, a rejected and an open proposal, a copy of the day, and turns that wait."""
    world = World(tmp_path_factory.mktemp("decided") / "home")
    world.finish()
    rejected, _ = world.program.json("proposals")
    assert world.program.run("reject", rejected["id"]).returncode == 0
    (world.home / DATABASE).with_name("skilld.db.copy").unlink()
    world.finish()
    session = Session(world.home, world.project)
    session.use_skill()
    session.type("Let us go on", LATER, "ok", "thanks", "go on")
    world.keep()
    return world


@pytest.fixture
def machine(decided: World) -> World:
    """Return that machine as it was."""
    decided.reset()
    return decided


def _by_state(world: World) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for proposal in world.program.json("proposals", "--state", "all"):
        found.setdefault(proposal["state"], []).append(proposal["id"])
    return found


@pytest.mark.parametrize(
    "damage",
    [
        _flipped,
        *(pytest.param(other, marks=pytest.mark.slow) for other in (_header, _without_turns_nor_copy, _emptied)),
    ],
)
def test_f15_it_is_moved_aside_and_rebuilt(machine: World, damage: Callable[[Path], None]) -> None:
    before = _by_state(machine)
    damage(machine.home / DATABASE)
    machine.finish()
    after = _by_state(machine)
    assert set(before["open"]) < set(after["open"])
    assert len(after["open"]) == 2, "the turns that waited were judged"
    assert (after["accepted"], after["rejected"]) == (before["accepted"], before["rejected"])
    assert "moved aside" in machine.program.json("status")["last_error"]["message"]
    _check(machine)


@pytest.mark.slow
@pytest.mark.parametrize("copy", [None, random.Random(6).randbytes(50_000)], ids=["no copy", "a broken copy"])
def test_f15_with_nothing_left_proposals_are_found_again_in_git(machine: World, copy: bytes | None) -> None:
    (still_open,) = machine.program.json("proposals")
    (accepted,) = _by_state(machine)["accepted"]
    database = machine.home / DATABASE
    database.with_name("skilld.journal").unlink()
    for kept in database.parent.glob("skilld.db.copy*"):
        kept.unlink()
    if copy is not None:
        database.with_name("skilld.db.copy").write_bytes(copy)
        database.with_name("skilld.db.copy").chmod(0o600)
    _overwrite(database, random.Random(5).randbytes(database.stat().st_size))
    machine.finish()
    found = {proposal["id"]: proposal for proposal in machine.program.json("proposals", "--state", "all")}
    same = ("state", "skill", "path", "repo", "commit", "branch", "summary", "session_id", "model", "agent")
    assert {name: found[still_open["id"]][name] for name in same} == {name: still_open[name] for name in same}
    assert found[still_open["id"]]["evidence"][0]["quote"] == still_open["evidence"][0]["quote"]
    assert found[still_open["id"]]["flags"] == still_open["flags"], "its batch was judged again, and found its own"
    assert found[accepted]["state"] == "accepted"
    assert sum(LATER in evidence["quote"] for p in found.values() for evidence in p["evidence"]) == 1
    _check(machine)


@pytest.mark.slow
def test_f15_without_its_log_it_goes_on_from_what_it_has(world: World, unharmed: dict[str, Any]) -> None:
    assert kill_before(world, "daemon 30")
    for suffix in ("-wal", "-shm"):
        (world.home / DATABASE).with_name(f"skilld.db{suffix}").unlink()
    world.finish()
    assert world.outcome() == unharmed
    world.check()


@pytest.mark.slow
def test_f15_a_kill_while_it_is_rebuilt_costs_nothing(machine: World) -> None:
    before = _by_state(machine)
    _header(machine.home / DATABASE)
    assert sum(kill_before(machine, f"daemon {step}") for step in (3, 9, 14)) == 3
    machine.finish()
    after = _by_state(machine)
    assert after["rejected"] == before["rejected"]
    assert len(after["open"]) == 2
    _check(machine)


def test_f15_other_commands_say_so_and_change_nothing(machine: World) -> None:
    database = machine.home / DATABASE
    _header(database)
    before = database.read_bytes()
    done = machine.program.run("status")
    assert done.returncode == 1
    assert "The database is damaged" in done.stderr
    assert "Restart skilld (its service, or skilld run)." in done.stderr
    assert database.read_bytes() == before


def _check(machine: World) -> None:
    assert machine.project.fingerprint() == machine.before
    assert len([*(machine.home / DATABASE).parent.glob("skilld.db.damaged-*Z")]) == 1
    made = machine.project.git("log", "--format=%(trailers:key=Skilld-Proposal,valueonly)", "skilld/staging").split()
    assert len(made) == len(set(made))
    quotes = [p["evidence"][0]["quote"] for p in machine.program.json("proposals")]
    assert len(quotes) == len(set(quotes))
