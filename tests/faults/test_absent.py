"""R2: transcripts that are away for a while, or for good. Absent for now is not gone."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from typing import NamedTuple

import pytest

from faults.clock import Clock
from faults.model import learned_rules, quotes, teach
from support.live_project import Project
from support.program import Program
from support.session import LASTING, Session
from support.waiting import pause, wait_for

WORDS = ".local/state/skilld/words.db"
DAY = 86400.0
MINUTE = 60.0


def _read(home: Path, project: Project, program: Program) -> Session:
    """Have a session read, and its batch wait for a worker."""
    program.run("run", "--once")
    program.run("pause")
    session = teach(home, project)
    program.run("run", "--once")
    assert program.json("status")["batches"]["pending"] == 1
    program.run("resume")
    return session


SLOW = pytest.mark.slow


class Rounds(NamedTuple):
    """How often the folder goes, and for how long at most (seconds)."""

    seed: int
    many: int
    longest: float


@pytest.mark.parametrize("away", ["folder", pytest.param("file", marks=SLOW), pytest.param("unreadable", marks=SLOW)])
def test_r2_a_temporarily_missing_transcript_is_proposed_when_it_returns(
    home: Path, project: Project, program: Program, away: str
) -> None:
    session = _read(home, project, program)
    clock = Clock(program)
    program.environment["SKILLD_WORKER__ATTEMPTS"] = "1"
    place = session.path if away != "folder" else home / ".claude/projects"
    aside = place.with_name("aside")
    place.rename(aside)
    if away == "unreadable":
        place.mkdir()
    for _ in range(2):  # more than the tries of a batch
        assert program.run("run", "--once").returncode == 0
        assert quotes(program) == []
        clock.pass_by(30 * MINUTE)
    assert program.json("status")["batches"] == {"pending": 1, "done": 0, "parked": 0}
    assert learned_rules(program) == [LASTING], "what was read of it is kept meanwhile"
    if away == "unreadable":
        place.rmdir()
    aside.rename(place)
    program.run("run", "--once")
    assert quotes(program) == [LASTING]
    assert learned_rules(program) == [], "what is proposed is not kept besides"
    assert LASTING.encode() not in (home / WORDS).read_bytes(), "what was judged is kept no longer"


@pytest.mark.parametrize(("prompts", "fate"), [(1, "comes back"), (4, "stays so")])
def test_r2_a_transcript_that_is_half_written_again_is_waited_for_once(
    home: Path, project: Project, program: Program, prompts: int, fate: str
) -> None:
    session = _read(home, project, program)
    whole = session.path.read_bytes()
    session.path.write_bytes(b"".join(whole.splitlines(keepends=True)[: -2 * (5 - prompts)]))
    program.run("run", "--once")
    assert (quotes(program), learned_rules(program)) == ([], [LASTING])
    assert program.json("status")["batches"] == {"pending": 1, "done": 0, "parked": 0}
    if fate == "comes back":
        session.path.write_bytes(whole)
    Clock(program).pass_by(MINUTE)
    program.run("run", "--once")
    assert (quotes(program), learned_rules(program)) == ([LASTING], [])


@pytest.mark.parametrize("how", [pytest.param("deleted", marks=SLOW), "cut", "deleted after a crash"])
def test_r2_what_was_read_of_a_deleted_transcript_is_kept(
    home: Path, project: Project, program: Program, how: str
) -> None:
    clock = Clock(program)
    if how == "deleted after a crash":
        with program.daemon() as daemon:
            program.run("pause")
            session = teach(home, project)
            wait_for("it to be read", lambda: program.json("status")["turns"]["seen"] == 5)
            daemon.kill()
            program.run("resume")
    else:
        session = _read(home, project, program)
    if how == "cut":
        session.path.write_bytes(b"")
    else:
        session.path.unlink()
    program.run("run", "--once")
    assert learned_rules(program) == [LASTING]
    clock.pass_by(DAY - MINUTE)
    program.run("run", "--once")
    assert program.json("status")["batches"]["pending"] == 1, "it is waited for as long as a day"
    clock.pass_by(20 * MINUTE)
    program.run("run", "--once")
    assert program.json("status")["batches"] == {"pending": 0, "done": 1, "parked": 0}
    assert learned_rules(program) == [LASTING]
    assert quotes(program) == []
    said = {check["name"]: check for check in _transcript_checks(program)}["transcripts"]
    assert (said["verdict"], str(session.path) in said["detail"]) == ("warn", True)
    assert said["remedy"].endswith("skilld retry")
    assert LASTING.encode() not in (home / WORDS).read_bytes()


def test_r2_words_returning_after_the_day_are_judged_by_retry(home: Path, project: Project, program: Program) -> None:
    session = _read(home, project, program)
    clock = Clock(program)
    aside = session.path.rename(session.path.with_name("aside"))
    program.run("run", "--once")
    clock.pass_by(DAY + MINUTE)
    program.run("run", "--once")
    assert program.json("status")["batches"]["done"] == 1
    aside.rename(session.path)
    assert "1 batch will be retried " in program.run("retry").stdout
    program.run("run", "--once")
    assert quotes(program) == [LASTING]
    assert learned_rules(program) == []


def test_r2_words_are_kept_redacted_for_two_days_except_of_opted_out_projects(
    home: Path, project: Project, program: Program
) -> None:
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    program.run("run", "--once")
    program.run("pause")
    clock = Clock(program)
    teach(home, project, f"{LASTING} The token is {secret}")
    program.run("run", "--once")
    with sqlite3.connect(home / WORDS) as kept:
        texts = [text for (text,) in kept.execute("SELECT text FROM words")]
    assert len(texts) == 1, "chatter is not kept"
    assert LASTING in texts[0]
    assert "[REDACTED:" in texts[0]
    state = home / ".local/state/skilld"
    files = [path for path in state.rglob("*") if path.is_file()]
    assert not [path for path in files if secret.encode() in path.read_bytes()]
    assert [path.name for path in files if LASTING.encode() in path.read_bytes()] == ["words.db"]
    assert (home / WORDS).stat().st_mode & 0o777 == 0o600
    clock.pass_by(2 * DAY + MINUTE)
    program.run("run", "--once")
    assert LASTING.encode() not in (home / WORDS).read_bytes()
    (project.root / ".skilld.toml").write_text("enabled = false\n")
    teach(home, project)
    program.run("run", "--once")
    assert LASTING.encode() not in (home / WORDS).read_bytes()


@pytest.mark.parametrize(
    "rounds",
    [Rounds(0, 3, 2.0), *(pytest.param(Rounds(seed, 10, 60.0), marks=pytest.mark.slow) for seed in range(1, 6))],
    ids=str,
)
def test_r2_a_folder_missing_at_random_moments_loses_nothing(
    home: Path, project: Project, program: Program, rounds: Rounds
) -> None:
    """The folder goes at some moment of reading and judging, for a while; sometimes the daemon is killed meanwhile."""
    dice = random.Random(rounds.seed)
    folder = home / ".claude/projects"
    folder.mkdir(parents=True)
    aside = folder.with_name("aside")
    rules = [
        f"From now on, always put label number {100 + number} first in each entry." for number in range(rounds.many)
    ]
    clock = Clock(program)
    for rule in rules:
        with program.daemon() as daemon:
            teach(home, project, rule)
            pause(dice.uniform(0, 1.5))
            folder.rename(aside)
            if dice.random() < 0.3:
                daemon.kill()
            pause(dice.uniform(1.0, rounds.longest))
            aside.rename(folder)
    clock.pass_by(20 * MINUTE)
    program.run("run", "--once")
    proposed = quotes(program)
    assert sorted(proposed) == sorted(rules)
    assert learned_rules(program) == []
    assert program.json("status")["batches"] == {"pending": 0, "done": rounds.many, "parked": 0}


def _transcript_checks(program: Program) -> list[dict[str, str]]:
    return list(json.loads(program.run("doctor", "--json").stdout)["checks"])
