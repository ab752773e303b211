"""The journal beside the database: its contents, and what a damaged end leaves."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.protocol import BatchJob
from skilld.store import Store, corruption, journal, rebuild
from skilld.store.batches import Obstacle, StoredBatch
from skilld.store.connection import DamagedError, StoreError
from skilld.store.journal import journal_of
from skilld.store.learnings import Learning
from skilld.types import Cause, ClosedBy, Evidence, Kind, Proposal, State

LEARNING = Learning("l1", "t1", "a quote", "a change", "rule", "claude-code", "s1", None, None, "no skill", 0.9, "2026")
PROPOSAL = Proposal(
    id="p1",
    batch_id="b1",
    state=State.OPEN,
    skill="deploy",
    path="/p/deploy/SKILL.md",
    operations=(),
    summary="Do it",
    reason="",
    kind=Kind("preference"),
    evidence=(),
    confidence=0.9,
    agent="claude-code",
    session_id="s1",
    model="offline",
    created_at="2026-01-01T00:00:00Z",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "skilld.db"


def _reject(store: Store) -> None:
    store.proposals.add(PROPOSAL)
    store.proposals.decide(PROPOSAL, State.REJECTED, "2026-01-02T00:00:00Z", who="command")


def _reopen(path: Path) -> Store:
    """Have the database gone, and built of the rest."""
    for file in path.parent.glob("skilld.db*"):
        file.unlink()
    rebuild.put_in_place(path, "now", rebuild.build(path))
    return Store.open(path)


def test_everything_that_cannot_be_read_again_is_restored_from_it(path: Path) -> None:
    store = Store.open(path)
    _reject(store)
    store.learnings.add(LEARNING)
    store.meta.set("pinned_skills", ["/a"])
    store.records.add_feedback("deploy", "", "s1", "", "2026", helpful=True)
    store.close()
    store = _reopen(path)
    assert [proposal.state for proposal in store.proposals.in_states([*State])] == [State.REJECTED]
    assert store.learnings.all() == [LEARNING]
    assert store.meta.get("pinned_skills") == ["/a"]
    assert store.records.feedback() == {("deploy", ""): (1, 0)}
    store.close()


def test_what_was_said_is_found_after_a_rebuild_too(path: Path) -> None:
    store = Store.open(path)
    store.learnings.add(LEARNING)
    assert [hit.id for hit in store.search.find("a change")] == ["l1"]
    store.meta.set("pinned_skills", ["/a"])
    store.close()
    store = _reopen(path)
    assert [hit.id for hit in store.search.find("a change")] == ["l1"]
    store.close()


def test_every_table_is_listed_here_with_what_becomes_of_it(path: Path) -> None:
    store = Store.open(path)
    tables = {row[0] for row in store._db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    store.close()
    made_again = {name for name in tables if name.startswith("said")} | {"migrations"}
    read_again = {"files", "sessions", "skill_uses", "notices", "elsewhere"}  # the last from the remote
    assert set(corruption._TABLES) == tables - made_again
    assert {*journal._TABLES, "judged"} == tables - made_again - read_again


def test_the_obstacle_of_a_batch_is_restored_too(path: Path) -> None:
    store = Store.open(path)
    store.learnings.add(LEARNING)
    store.batches.add(
        StoredBatch("b1", "codex", "s1", ClosedBy.IDLE, "pending", BatchJob(), 0, "2026-01-01T00:00:00Z"), []
    )
    found = Obstacle(Cause.REPOSITORY, "/r", "git status", 7.0, (LEARNING.id,))
    store.batches.set_obstacle("b1", found)
    store.close()
    store = _reopen(path)
    assert [batch.obstacle for batch in store.batches.with_obstacle()] == [found]
    store.close()


def test_deleted_rows_stay_deleted_and_are_in_no_journal_line(path: Path) -> None:
    store = Store.open(path)
    store.learnings.add(LEARNING)
    store.save_copy()
    store.learnings.forget("l1")
    assert b"a quote" not in journal_of(path).read_bytes()
    store.close()
    path.unlink()
    rebuild.put_in_place(path, "now", rebuild.build(path))
    store = Store.open(path)
    assert store.learnings.all() == []
    store.close()


def test_a_rolled_back_transaction_leaves_nothing_in_it(path: Path) -> None:
    store = Store.open(path)
    store.meta.set("x", 1)
    before = journal_of(path).read_bytes()
    with suppress(ZeroDivisionError), store.transaction():
        store.learnings.add(LEARNING)
        raise ZeroDivisionError
    assert store.learnings.count() == 0
    store.meta.set("daemon", {"seen_at": "now"})  # passing: nobody misses it
    assert journal_of(path).read_bytes() == before
    store.close()


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_torn_last_line_loses_only_that_transaction(path: Path, cut: int) -> None:
    store = Store.open(path)
    _reject(store)
    before = journal.read(journal_of(path))
    store.learnings.add(LEARNING)
    store.close()
    whole = journal_of(path).read_bytes()
    journal_of(path).write_bytes(whole[:-cut])
    found = journal.read(journal_of(path))
    assert found is not None
    assert before is not None
    assert (found.rows, found.whole, found.tail.place) == (before.rows, True, before.tail.place)
    assert journal.tail(journal_of(path)) == found.tail
    store = Store.open(path)
    store.meta.set("x", 1)  # it lacks a line by now, so it is written anew
    store.close()
    store = _reopen(path)
    assert store.learnings.all() == [LEARNING]
    store.close()


def test_a_corrupt_line_is_skipped_and_reported(path: Path) -> None:
    store = Store.open(path)
    store.learnings.add(LEARNING)
    _reject(store)
    store.close()
    journal_of(path).write_bytes(journal_of(path).read_bytes().replace(b"a quote", b"a qu0te"))
    found = journal.read(journal_of(path))
    assert found is not None
    assert not found.whole
    assert "learnings" not in {table for table, _ in found.rows}
    store = _reopen(path)
    assert store.proposals.count(State.REJECTED) == 1
    assert [*path.parent.glob("skilld.journal.damaged-*")]
    store.close()


_KILLED = """
import os, sys
from pathlib import Path
from skilld.store import Store, journal
from skilld.store.connection import Connection
store = Store.open(Path(sys.argv[1]))
write = journal.Recorder.write
def killed(recorder):
    write(recorder)
    os.kill(os.getpid(), 9)
journal.Recorder.write = killed
store.meta.set("x", "written down")
"""


def test_a_kill_between_journal_and_database_is_repaired_at_the_next_open(path: Path) -> None:
    Store.open(path).close()
    for value in (1, 2):
        store = Store.open(path)
        store.meta.set("x", value)
        store.close()
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False)
    assert killed.returncode == -9
    store = Store.open(path)
    assert store.meta.get("x") == "written down"
    there = journal.tail(journal_of(path))
    assert there is not None
    assert there.place == store.place
    store.close()


def test_a_database_older_than_the_journal_is_not_opened(path: Path) -> None:
    store = Store.open(path)
    store.meta.set("x", 1)
    store.save_copy()
    for value in (2, 3):
        store.meta.set("x", value)
    store.close()
    corruption.copy_path(path).replace(path)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    with pytest.raises(DamagedError, match="older"):
        Store.open(path)


@pytest.mark.parametrize("remove", [True, False], ids=["missing", "empty"])
def test_a_missing_database_is_not_recreated(path: Path, remove: bool) -> None:  # noqa: FBT001
    store = Store.open(path)
    store.meta.set("x", 1)
    store.close()
    if remove:
        path.unlink()
    else:
        path.write_bytes(b"")
    with pytest.raises(DamagedError, match="is gone"):
        Store.open(path)
    assert path.exists() is not remove


def test_another_programs_database_is_left_alone(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE places (url TEXT)")
    db.close()
    path.chmod(0o600)
    with pytest.raises(DamagedError):
        Store.open(path)
    db = sqlite3.connect(path)
    assert [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE name != 'migrations'")] != []
    assert not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").fetchone()
    db.close()


def test_nothing_is_committed_without_room_for_a_journal_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(path)
    store.meta.set("x", 1)
    before = journal_of(path).read_bytes()
    pwrite = os.pwrite

    def full(descriptor: int, data: bytes, at: int) -> int:
        if len(data) > 10:  # half of it fits
            return pwrite(descriptor, data[:10], at)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(StoreError, match="No space left"):
        store.learnings.add(LEARNING)
    assert journal_of(path).read_bytes() == before
    assert store.learnings.count() == 0
    monkeypatch.undo()
    store.learnings.add(LEARNING)
    assert store.learnings.count() == 1
    store.close()


def test_it_holds_every_proposal_and_the_newest_batches(path: Path, add_many: Callable[[Store, str], None]) -> None:
    store = Store.open(path)
    _reject(store)
    add_many(store, "2025-01-01T00:00:00Z")
    add_many(store, "2026-01-01T00:00:00Z")
    store.save_copy()
    found = journal.read(journal_of(path))
    assert found is not None
    assert found.whole
    batches = {row["created_at"] for table, row in found.rows if table == "batches"}
    assert batches == {"2026-01-01T00:00:00Z"}
    assert [row["id"] for table, row in found.rows if table == "proposals"] == ["p1"]
    store.close()


@pytest.fixture
def add_many() -> Callable[[Store, str], None]:
    def add(store: Store, at: str) -> None:
        from skilld.store.batches import StoredBatch
        from skilld.types import ClosedBy

        for number in range(5):
            batch = StoredBatch(f"{at}-{number}", "claude-code", "s1", ClosedBy.FULL, "pending", BatchJob(), 0, at)
            store.batches.add(batch, [], outcome="nothing")

    return add


def test_copies_expire_one_by_one(path: Path) -> None:
    store = Store.open(path)
    for number in range(5):
        store.proposals.add(replace(PROPOSAL, id=f"p{number}"))
        store.save_copy()
    store.close()
    counts = [found.proposals for copy in corruption.existing_copies(path) if (found := corruption.summary(copy))]
    assert counts == [5, 4, 3]


def test_a_proposal_recovered_from_git_gains_its_turn_when_said_again(path: Path) -> None:
    store = Store.open(path)
    store.proposals.add(replace(PROPOSAL, evidence=(Evidence("", "Always"), Evidence("", "Never"))))
    store.proposals.add_evidence("p1", Evidence("t1", "Never"))
    proposal = store.proposals.get("p1")
    assert proposal is not None
    assert proposal.evidence == (Evidence("", "Always"), Evidence("t1", "Never"))
    store.close()


def test_our_own_unreadable_database_is_made_readable_again(path: Path) -> None:
    Store.open(path).close()
    path.chmod(0)
    corruption.restore_access(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_chatter_is_not_in_it_and_a_batch_for_a_worker_is(path: Path) -> None:
    store = Store.open(path)
    pending = StoredBatch("judged", "claude-code", "s1", ClosedBy.FULL, "pending", BatchJob(), 0, "2026")
    store.batches.add(replace(pending, id="chatter"), ("t1",), outcome="nothing")
    assert not journal_of(path).exists()
    store.batches.add(pending, ("t2",))
    assert b'"judged"' in journal_of(path).read_bytes()
    store.close()
