"""Following a database: every turn once, across restarts, locks and migrations."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld.ingest.discover import Root
from skilld.ingest.follow import Follower
from support.new_store import new_store
from support.opencode_db import OpenCodeDb, skill_call

INSTALLED = 1_795_000_000.0


class Machine:
    """A client's database, its list of typed prompts, and followers that come and go."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "share" / "opencode"
        self.client = OpenCodeDb(self.folder / "opencode.db")
        self.client.session("s1", "/w")
        self.list = root / "state" / "opencode" / "prompt-history.jsonl"
        self.list.parent.mkdir(parents=True)
        self.list.touch()
        self.database = root / "skilld.db"
        self.store = new_store(self.database)

    def start(self) -> Follower:
        """Start skilld, as after a kill: nothing is left but what is stored."""
        self.store.close()
        self.store = new_store(self.database)
        return Follower(self.store, [Root("opencode", self.folder)], INSTALLED)

    def type(self, text: str) -> None:
        """Type a prompt, which the client first puts into its list."""
        with self.list.open("a") as file:
            file.write(json.dumps({"input": text, "parts": [], "mode": "normal"}) + "\n")
        self.client.prompt("s1", text)

    def waiting(self) -> int:
        return len(self.store.transcripts.waiting("opencode", "s1"))


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    made.store.close()
    made.client.db.close()


def test_turns_are_counted_once_across_restarts(machine: Machine) -> None:
    follower = machine.start()
    for number in range(6):
        machine.type(f"prompt {number}")
        machine.client.answer("s1")
        assert follower.sweep() == 1
        assert follower.sweep() == 0
        follower = machine.start()
        assert follower.sweep() == 0
    assert machine.waiting() == 6


def test_earlier_turns_do_not_count_but_their_skill_is_known(machine: Machine) -> None:
    machine.type("old")
    machine.client.skill("s1", Path("/w/.opencode/skills/notes"))
    follower = machine.start()
    machine.type("new")
    assert follower.sweep() == 1
    (turn,) = machine.store.transcripts.waiting("opencode", "s1")
    assert turn.at == "2026-11-18T11:06:43Z"
    (use,) = machine.store.transcripts.uses("opencode", "s1", turn.seq)
    assert (use.name, use.path, use.cwd) == ("notes", "/w/.opencode/skills/notes/SKILL.md", "/w")


def test_a_backfill_counts_earlier_turns(machine: Machine) -> None:
    machine.type("old")
    follower = machine.start()
    assert follower.sweep() == 0
    assert follower.backfill(2, INSTALLED + 10) == 1
    assert follower.sweep() == 1


def test_a_prompt_is_read_once_its_text_part_arrives(machine: Machine) -> None:
    follower = machine.start()
    message = machine.client.message("s1", {"role": "user"})
    machine.list.write_text(json.dumps({"input": "late", "parts": [], "mode": "normal"}) + "\n")
    machine.type("after it")
    assert follower.sweep() == 1
    machine.client.now += 60_000
    machine.client.answer("s1")
    assert follower.sweep() == 0
    machine.client.part(message, {"type": "text", "text": "late"})
    assert follower.sweep() == 1


def test_a_skill_allowed_after_an_hour_is_seen(machine: Machine) -> None:
    follower = machine.start()
    machine.type("use the skill")
    part = machine.client.skill("s1", Path("/w/.claude/skills/notes"), ended=False)
    follower.sweep()
    machine.client.now += 1_800_000
    machine.client.session("s2", "/w")
    machine.client.answer("s2")
    follower = machine.start()
    follower.sweep()
    assert machine.store.transcripts.uses("opencode", "s1", 9) == []
    machine.client.end(part, skill_call(Path("/w/.claude/skills/notes"), "completed"))
    follower.sweep()
    assert [use.path for use in machine.store.transcripts.uses("opencode", "s1", 9)] == [
        "/w/.claude/skills/notes/SKILL.md"
    ]


def test_a_prompt_listed_a_moment_later_is_a_turn(machine: Machine) -> None:
    follower = machine.start()
    machine.client.prompt("s1", "quick")
    assert follower.sweep() == 0
    machine.list.write_text(json.dumps({"input": "quick", "parts": [], "mode": "normal"}) + "\n")
    machine.client.answer("s1")
    assert follower.sweep() == 1


def test_an_unlisted_prompt_is_no_turn(machine: Machine) -> None:
    follower = machine.start()
    machine.type("typed")
    machine.client.prompt("s1", '"put in by a program"')
    machine.client.prompt("s1", "word")
    assert follower.sweep() == 1


def test_a_database_locked_by_its_client_costs_no_turn_and_no_time(machine: Machine) -> None:
    follower = machine.start()
    machine.type("one")
    assert follower.sweep() == 1
    machine.client.db.execute("PRAGMA locking_mode = EXCLUSIVE")
    machine.client.db.execute("BEGIN EXCLUSIVE")
    machine.type("two")
    machine.client.db.execute("COMMIT")
    took = []
    for _ in range(3):  # on a busy machine one of them may take long all the same
        started = time.monotonic()
        assert follower.sweep() == 0
        took.append(time.monotonic() - started)
    assert min(took) < 3
    assert [*follower.unreadable.values()] == ["locked by its agent; skilld will try again"]
    machine.client.db.close()
    assert follower.sweep() == 1
    assert follower.unreadable == {}
    assert machine.waiting() == 2


@pytest.mark.parametrize(
    ("there", "back"),
    [
        ("ALTER TABLE part RENAME TO part_old", "ALTER TABLE part_old RENAME TO part"),
        ("ALTER TABLE session RENAME directory TO folder", "ALTER TABLE session RENAME folder TO directory"),
    ],
    ids=["half-migrated", "newer"],
)
def test_an_unknown_database_schema_loses_no_turn(machine: Machine, there: str, back: str) -> None:
    follower = machine.start()
    machine.type("one")
    assert follower.sweep() == 1
    machine.type("two")
    machine.client.db.execute(there)
    assert follower.sweep() == 0
    assert [*follower.unreadable.values()] == ["its tables do not match any version that skilld supports"]
    follower = machine.start()
    assert follower.sweep() == 0
    machine.client.db.execute(back)  # or a skilld that knows them
    assert follower.sweep() == 1
    assert follower.unreadable == {}
    assert machine.waiting() == 2


def test_a_newer_table_generation_is_reported_while_the_known_one_is_followed(machine: Machine) -> None:
    follower = machine.start()
    machine.client.db.execute("INSERT INTO session_message VALUES ('m', 's1', 'user', 1, '{}')")
    machine.type("one")
    assert follower.sweep() == 1
    (told,) = follower.unreadable.values()
    assert "newer version" in told
    machine.client.db.execute("DELETE FROM session_message")
    follower.sweep()
    assert follower.unreadable == {}


def test_a_database_created_later_counts_from_the_start_of_skilld(machine: Machine) -> None:
    follower = machine.start()
    machine.list.unlink()
    with OpenCodeDb(machine.folder / "opencode-beta.db", now=machine.client.now - 86_400_000) as restored:
        restored.session("s9", "/w")
        restored.prompt("s9", "said yesterday")
        restored.now = machine.client.now
        restored.prompt("s9", "said today")
        assert follower.sweep() == 1
    (turn,) = machine.store.transcripts.waiting("opencode", "s9")
    assert turn.at == "2026-11-18T11:06:41Z"


def test_a_session_can_be_idle_while_another_in_the_same_database_continues(machine: Machine) -> None:
    follower = machine.start()
    machine.type("said here")
    machine.client.message("s1", {"role": "assistant"})  # its client was killed
    said_at = machine.client.now
    follower.sweep()
    machine.client.now += 1_200_000
    machine.client.session("s2", "/w")
    machine.client.answer("s2")
    follower.sweep()
    assert machine.store.transcripts.activity("opencode", "s1") == ((said_at - 1000) / 1000, False)
    assert machine.store.transcripts.activity("opencode", "s2") == (machine.client.now / 1000, False)
