"""The store: real SQLite files, what is kept and what is not, and its errors."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.errors import SkilldError
from skilld.protocol import BatchJob, Plan
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.connection import Connection, DamagedError, StoreError
from skilld.store.learnings import Learning
from skilld.store.meta import FOREVER, PAUSED_UNTIL
from skilld.store.transcripts import BEFORE_SKILLD
from skilld.types import ClosedBy, Evidence, How, Kind, SkillUse, Span, State, Turn, Update, Usage
from support.proposals import COMMIT_FIELDS, make_proposal

AT = "2026-03-02T09:00:00Z"
BATCH = StoredBatch("b1", "claude-code", "s1", ClosedBy.FULL, "pending", BatchJob(turns=("t1",)), 0, AT)
PROPOSAL = make_proposal(
    batch_id="b1", reason="asked", confidence=0.5, model="offline", created_at=AT, flags=("look",), **COMMIT_FIELDS
)


def _file(store: Store, tmp_path: Path, name: str = "s1.jsonl") -> int:
    path = tmp_path / name
    path.touch()
    return store.transcripts.add_file("claude-code", str(path), path.stat(), baseline=0).id


def _turn(key: str, *, start: int = 0, session: str = "s1") -> Turn:
    return Turn(key, "claude-code", session, "words", AT, How.TYPED, Span(start, start + 10))


def _add_turns(store: Store, file_id: int, *keys: str, counts: bool = True) -> None:
    store.transcripts.record_activity("claude-code", "s1", cwd=None, activity=1.0)
    for number, key in enumerate(keys):
        store.transcripts.add_turn(_turn(key, start=number * 10), file_id, counts=counts, lasting=True)


def _set_many(store: Store, count: int, last: object = "x" * 200) -> None:
    """Set facts in one transaction; what is no JSON at the end of them fails it."""
    with store.transaction():
        for number in range(count):
            store.meta.set(f"key {number}", "x" * 200)
        store.meta.set("last", last)


# opening ------------------------------------------------------------------------------------------------------------


def test_the_database_and_its_files_are_private_under_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        opened = Store.open(tmp_path / "skilld.db")
        opened.meta.set("x", 1)
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        opened.close()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("skilld.db", "skilld.db-wal", "skilld.db-shm", "skilld.journal"), 0o600)


def test_it_survives_a_power_cut(store: Store) -> None:
    assert store._db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert store._db.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
    assert store._db.execute("PRAGMA foreign_keys").fetchone()[0] == 1


@pytest.mark.parametrize(
    "content", [b"this is no database, but long enough to be one" * 50, b"SQLite format 3\0" + b"x" * 2000]
)
def test_a_corrupt_file_is_reported_with_a_remedy(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "skilld.db").write_bytes(content)
    with pytest.raises(StoreError) as error:
        Store.open(tmp_path / "skilld.db")
    assert "move the file aside and recover everything it can" in error.value.remedy


def test_an_impossible_path_is_reported_without_a_wrong_remedy(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing/skilld.db"):
        with pytest.raises(StoreError) as error:
            Store.open(path)
        assert str(path) in error.value.cause
        assert error.value.remedy == ""


def test_a_full_disk_rolls_back_the_whole_transaction(store: Store) -> None:
    store._db.execute("PRAGMA max_page_count = 1")
    with pytest.raises(StoreError, match="full") as error:
        _set_many(store, 2000)
    assert error.value.remedy.startswith("Free some space")
    store._db.execute("PRAGMA max_page_count = 100000")
    assert store.meta.get("key 0") is None
    with store.transaction():
        store.meta.set("after", 1)
    assert store.meta.get("after") == 1


def test_a_database_locked_by_another_program_is_reported_with_a_remedy(store: Store) -> None:
    store._db.execute("PRAGMA busy_timeout = 0")
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked") as error:
            store.meta.set("key", 1)
    assert error.value.remedy.startswith("Another program is using the database")


def test_a_transaction_is_atomic(store: Store) -> None:
    with pytest.raises(TypeError):
        _set_many(store, 3, object())
    assert store.meta.get("key 0") is None


def test_another_process_sees_only_committed_data(store: Store) -> None:
    other = Store.open(store.path)
    with store.transaction():
        store.meta.set("a", 1)
        assert other.meta.get("a") is None
    assert other.meta.get("a") == 1
    other.close()


def test_opening_it_again_in_one_process_keeps_the_first_lock(tmp_path: Path) -> None:
    path = tmp_path / "skilld.db"
    first = Store.open(path)
    first.meta.set("fact", 1)
    second = Store.open(path)
    log = path.with_name("skilld.db-wal").stat().st_ino
    code = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); list(db.execute('SELECT * FROM meta')); db.close()"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert path.with_name("skilld.db-wal").stat().st_ino == log, "the other process thought that it was the last"
    second.close()
    first.close()


def test_invalid_sql_is_still_raised_as_a_bug(store: Store) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        store._db.execute("INSERT INTO decisions (proposal_id, before, after, who, at) VALUES ('none', '', '', '', '')")


def test_two_processes_can_create_it_at_once(tmp_path: Path) -> None:
    troubles: list[BaseException] = []
    ready = threading.Barrier(2)

    def open_it() -> None:
        ready.wait()
        try:
            Store.open(tmp_path / "skilld.db").close()
        except SkilldError as error:
            troubles.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []


def test_it_waits_for_a_process_that_is_creating_it(tmp_path: Path) -> None:
    path = tmp_path / "skilld.db"
    path.touch(0o600)
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.2, other.execute, ["ROLLBACK"])
        release.start()
        Store.open(path).close()
        release.join()


# single facts -------------------------------------------------------------------------------------------------------


def test_a_value_is_kept_until_deleted(store: Store) -> None:
    assert store.meta.get("x", "none") == "none"
    store.meta.set("x", {"a": [1, None, "é"]})
    assert store.meta.get("x") == {"a": [1, None, "é"]}
    store.meta.delete("x")
    assert store.meta.get("x") is None


def test_a_pause_ends_at_its_time_or_never(store: Store) -> None:
    assert not store.meta.paused(100.0)
    store.meta.set(PAUSED_UNTIL, 200.0)
    assert store.meta.paused(199.0)
    assert not store.meta.paused(200.0)
    store.meta.set(PAUSED_UNTIL, FOREVER)
    assert store.meta.paused(1e12)


# turns and skill uses -----------------------------------------------------------------------------------------------


def test_turns_wait_in_order_and_each_key_once(store: Store, tmp_path: Path) -> None:
    file_id = _file(store, tmp_path)
    _add_turns(store, file_id, "t1", "t2")
    assert not store.transcripts.add_turn(_turn("t1", start=90), file_id, counts=True, lasting=True)
    assert [(turn.key, turn.seq, turn.start) for turn in store.transcripts.waiting("claude-code", "s1")] == [
        ("t1", 1, 0),
        ("t2", 2, 10),
    ]


def test_an_old_turn_stays_old_unless_a_backfill_revives_it(store: Store, tmp_path: Path) -> None:
    file_id = _file(store, tmp_path)
    _add_turns(store, file_id, "t1", counts=False)
    assert store.transcripts.waiting("claude-code", "s1") == []
    assert not store.transcripts.add_turn(_turn("t1"), file_id, counts=True, lasting=True)
    assert store.transcripts.add_turn(_turn("t1"), file_id, counts=True, lasting=True, revives=True)
    assert [turn.key for turn in store.transcripts.waiting("claude-code", "s1")] == ["t1"]
    assert store.transcripts.turn_outcomes()["seen"] == 1


def test_a_turn_in_a_batch_is_never_revived(store: Store, tmp_path: Path) -> None:
    file_id = _file(store, tmp_path)
    _add_turns(store, file_id, "t1")
    store.batches.add(BATCH, ["t1"])
    assert not store.transcripts.add_turn(_turn("t1"), file_id, counts=True, lasting=True, revives=True)
    assert store.transcripts.waiting("claude-code", "s1") == []


def test_unknown_keys_are_told_apart(store: Store, tmp_path: Path) -> None:
    _add_turns(store, _file(store, tmp_path), "t1")
    assert store.transcripts.unknown(["t1", "t2"]) == {"t2"}


def test_a_skill_use_is_stored_once_with_the_turns_before_it(store: Store, tmp_path: Path) -> None:
    _add_turns(store, _file(store, tmp_path), "t1", "t2")
    for name, path in (("a", None), ("a", None), ("b", "/p/SKILL.md")):
        store.transcripts.add_use("claude-code", SkillUse("s1", name, path, AT, Span(0, 1), "/p"))
    found = [(use.name, use.path, use.after_seq) for use in store.transcripts.uses("claude-code", "s1", 2)]
    assert found == [("b", "/p/SKILL.md", 2), ("a", None, 2)]
    assert store.transcripts.uses("claude-code", "s1", 1) == []


def test_counts_leave_out_older_turns(store: Store, tmp_path: Path) -> None:
    file_id = _file(store, tmp_path)
    _add_turns(store, file_id, "old", counts=False)
    _add_turns(store, file_id, "t1", "t2")
    store.batches.add(BATCH, ["t1"])
    fates = {"judged": 0, "taught": 0, "pending": 1, "waiting": 1, "chatter": 0, "opted_out": 0}
    assert store.transcripts.turn_outcomes() == {"seen": 2, **fates}
    later = "2100-01-01T00:00:00Z"
    assert store.transcripts.turn_outcomes(later) == {"seen": 1, **fates, "waiting": 0}, (
        "only what is still to be judged"
    )
    assert store._db.execute("SELECT batch_id FROM turns WHERE key = 'old'").fetchone()[0] == BEFORE_SKILLD


def test_a_judged_turn_with_a_result_is_told_apart_from_one_without(store: Store, tmp_path: Path) -> None:
    _add_turns(store, _file(store, tmp_path), "t1", "t2", "t3")
    store.batches.add(BATCH, ["t1", "t2", "t3"])
    store.batches.next_due(0.0)
    store.batches.finish(BATCH.id, "proposed", "", AT)
    store.proposals.add(replace(PROPOSAL, evidence=(Evidence("t1", "always b"), Evidence("t1", "never c"))))
    fates = store.transcripts.turn_outcomes()
    assert (fates["judged"], fates["taught"]) == (3, 1)


def test_turns_of_a_project_that_opted_out_are_not_judged(store: Store, tmp_path: Path) -> None:
    _add_turns(store, _file(store, tmp_path), "t0", "t1")
    for number, why in enumerate(("/p/.skilld.toml opts out of skilld", "I read that /p opts out of skilld")):
        one = replace(BATCH, id=f"b{number}")
        store.batches.add(one, [f"t{number}"])
        store.batches.next_due(0.0)
        store.batches.finish(one.id, "nothing", why, "2026-03-02T09:00:09Z")
    fates = store.transcripts.turn_outcomes()
    assert (fates["opted_out"], fates["judged"]) == (1, 1)


def test_the_request_behind_a_mined_skill_counts_as_nothing_lasting(store: Store, tmp_path: Path) -> None:
    _add_turns(store, _file(store, tmp_path), "asked", "said")
    store.batches.add(BATCH, ["asked", "said"])
    store.batches.next_due(0.0)
    store.batches.finish(BATCH.id, "proposed", "", AT)
    words = (Evidence("asked", "release it"), Evidence("said", "always tag it"))
    said = Update(None, "", "Always tag it.", "", Kind.ADD_STEP, 1, "always tag it")
    observed = Update(None, "", "`make`", "observed in 1 session: s1", Kind.ADD_STEP, 0, "release it")
    store.proposals.add(replace(PROPOSAL, batch_id="mine-x", evidence=words, updates=(said, observed)))
    assert store.transcripts.turn_outcomes()["taught"] == 1


def test_a_turn_without_a_usable_answer_is_not_judged(store: Store, tmp_path: Path) -> None:
    _add_turns(store, _file(store, tmp_path), "t1")
    store.batches.add(BATCH, ["t1"])
    store.batches.next_due(0.0)
    store.batches.finish(BATCH.id, "failed", "", AT)
    fates = store.transcripts.turn_outcomes()
    assert (fates["judged"], fates["pending"]) == (0, 1)


def test_no_words_of_a_turn_are_in_the_database(store: Store, tmp_path: Path) -> None:
    file_id = _file(store, tmp_path)
    store.transcripts.record_activity("claude-code", "s1", cwd="/p", activity=1.0)
    turn = replace(_turn("t1"), text="the-secret-words")
    store.transcripts.add_turn(turn, file_id, counts=True, lasting=True)
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("skilld.*"))
    assert b"t1" in kept
    assert b"the-secret-words" not in kept


# batches ------------------------------------------------------------------------------------------------------------


def test_a_batch_goes_from_waiting_to_done(store: Store) -> None:
    store.batches.add(BATCH, ["t1"])
    due = store.batches.next_due(0.0)
    assert due == BATCH
    store.batches.start("b1")
    assert store.batches.next_due(1e12) is None
    assert store.batches.counts() == {"pending": 1, "done": 0, "parked": 0}
    store.batches.finish("b1", "proposed", "", AT)
    assert store.batches.counts() == {"pending": 0, "done": 1, "parked": 0}
    assert store.batches.outcomes() == {"proposed": 1}


def test_a_batch_in_progress_when_the_daemon_died_is_due_again(store: Store) -> None:
    store.batches.add(BATCH, ["t1"])
    store.batches.start("b1")
    assert store.batches.recover() == 1
    due = store.batches.next_due(0.0)
    assert due is not None
    assert due.attempts == 1


def test_a_delayed_batch_waits_for_its_time_and_a_parked_one_for_the_person(store: Store) -> None:
    store.batches.add(BATCH, ["t1"])
    store.batches.start("b1")
    store.batches.postpone("b1", 100.0, "no network")
    assert store.batches.next_due(99.0) is None
    assert store.batches.next_due(100.0) is not None
    assert store.batches.retry() == 1
    assert store.batches.next_due(0.0) is not None
    assert store.batches.retry() == 0
    store.batches.park("b1", "failed", "refused key")
    assert store.batches.next_due(1e12) is None
    assert [item["detail"] for item in store.batches.parked()] == ["refused key"]
    assert store.batches.retry() == 1
    due = store.batches.next_due(0.0)
    assert due is not None
    assert due.attempts == 0


def test_adding_the_same_batch_again_changes_nothing(store: Store) -> None:
    store.batches.add(BATCH, ["t1"])
    store.batches.finish("b1", "nothing", "", AT)
    store.batches.add(BATCH, ["t1"])
    assert store.batches.counts() == {"pending": 0, "done": 1, "parked": 0}


def test_a_plan_is_stored_with_its_job(store: Store) -> None:
    store.batches.add(BATCH, ["t1"])
    plan = Plan((replace(PROPOSAL, summary="é \u2028 '"),))
    store.batches.save_plan("b1", plan)
    due = store.batches.next_due(0.0)
    assert due is not None
    assert due.job == BatchJob(turns=("t1",), plan=plan)


# proposals, learnings, costs ----------------------------------------------------------------------------------------


def test_a_proposal_is_stored_once_and_read_back_unchanged(store: Store) -> None:
    assert store.proposals.add(PROPOSAL)
    assert not store.proposals.add(replace(PROPOSAL, summary="other"))
    assert store.proposals.get("0123abcd") == PROPOSAL
    assert store.proposals.get("0123") is None


@pytest.mark.parametrize(
    ("prefix", "found"), [("0123", 1), ("0123abcd", 1), ("2222", 1), ("9", 0), ("%", 0), ("_123", 0), ("0123ABCD", 0)]
)
def test_a_proposal_is_found_by_the_literal_start_of_its_id_or_commit(store: Store, prefix: str, found: int) -> None:
    store.proposals.add(PROPOSAL)
    assert len(store.proposals.find(prefix)) == found


def test_a_decision_is_recorded_once_with_who_and_why(store: Store) -> None:
    store.proposals.add(PROPOSAL)
    store.proposals.set_missing("0123abcd", AT)
    store.proposals.decide(PROPOSAL, State.REJECTED, AT, who="command", why="not here")
    decided = store.proposals.get("0123abcd")
    assert decided is not None
    assert (decided.state, decided.decided_at) == (State.REJECTED, AT)
    assert store.proposals.decision_reason("0123abcd") == "not here"
    assert store.proposals.missing_since("0123abcd") == ""
    store.proposals.decide(decided, State.REJECTED, "2026-03-03T09:00:00Z", who="git", note="seen again")
    again = store.proposals.get("0123abcd")
    assert again is not None
    assert (again.decided_at, again.note) == (AT, "seen again")
    assert store._db.execute("SELECT count(*) FROM decisions").fetchone()[0] == 1


def test_a_proposal_is_marked_as_taken_back_while_it_is_open_until_it_is_said_again(store: Store) -> None:
    def flags() -> tuple[str, ...]:
        found = store.proposals.get("0123abcd")
        assert found is not None
        return found.flags

    store.proposals.add(replace(PROPOSAL, flags=("new section",)))
    for _ in range(2):
        store.proposals.mark_taken_back("0123abcd", "forget that")
    assert flags() == ("new section", "you may have taken this back since: “forget that”")
    store.proposals.add_evidence("0123abcd", Evidence("claude-code:s9:9", "do it after all"))
    assert flags() == ("new section",)
    store.proposals.decide(PROPOSAL, State.ACCEPTED, AT, who="command")
    store.proposals.mark_taken_back("0123abcd", "forget that")
    assert flags() == ("new section",)


def test_proposals_are_listed_by_state_and_repository_oldest_first(store: Store) -> None:
    store.proposals.add(replace(PROPOSAL, id="b", created_at="2026-03-03T09:00:00Z"))
    store.proposals.add(replace(PROPOSAL, id="a"))
    store.proposals.add(replace(PROPOSAL, id="c", state=State.STALE))
    store.proposals.add(replace(PROPOSAL, id="d", repo="/q"))
    assert [p.id for p in store.proposals.in_states([State.OPEN], "/p")] == ["a", "b"]
    assert [p.id for p in store.proposals.in_states([State.OPEN, State.STALE])] == ["a", "c", "d", "b"]
    assert store.proposals.count(State.OPEN) == 3
    assert [*store.proposals.closed_ids()] == ["c"]


def test_a_learning_is_stored_once_and_can_be_deleted(store: Store) -> None:
    learning = Learning("l1", "t1", "q", "c", "fact", "claude-code", "s1", None, None, "no skill was in use", 0.5, AT)
    store.learnings.add(learning)
    store.learnings.add(replace(learning, quote="other"))
    assert store.learnings.all() == [learning]
    assert store.learnings.forget("l1")
    assert not store.learnings.forget("l1")
    assert store.learnings.count() == 0


def test_impossible_costs_are_capped(store: Store) -> None:
    for absurd in (10**30, 2**63 - 1, -(10**6)):  # an endpoint names its tokens as it likes
        store.usage.add("2026-03-02", "m", "notes", Usage(1, absurd, absurd, float("nan")))
    assert store.usage.on("2026-03-02") == Usage(3, 2 * 10**9, 2 * 10**9, 0.0)


def test_costs_are_summed_by_day_model_and_skill(store: Store) -> None:
    store.usage.add("2026-03-02", "m", "notes", Usage(1, 100, 10, 0.01))
    store.usage.add("2026-03-02", "m", "notes", Usage(2, 200, 20, 0.02))
    store.usage.add("2026-03-03", "m", "notes", Usage(1, 1, 1, 0.0))
    store.usage.add("2026-03-02", "m", "notes", Usage())
    assert store.usage.on("2026-03-02") == Usage(3, 300, 30, 0.03)
    assert store.usage.on("2026-03-01") == Usage()
    assert [row["day"] for row in store.usage.rows()] == ["2026-03-03", "2026-03-02"]


def test_damage_is_reported_whichever_row_it_is_in(tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE rows (text TEXT)")
        db.executemany("INSERT INTO rows VALUES (?)", [("x" * 500,)] * 500)
        db.commit()
    data = bytearray(path.read_bytes())
    data[20 * 4096 : 40 * 4096] = b"\xff" * (20 * 4096)
    path.write_bytes(data)
    with closing(sqlite3.connect(path, factory=Connection)) as db:
        assert db.execute("SELECT text FROM rows").fetchone() == ("x" * 500,)
        with pytest.raises(DamagedError):
            db.execute("SELECT text FROM rows").fetchall()
        with pytest.raises(DamagedError):
            list(db.execute("SELECT text FROM rows"))


def test_folders_are_told_newest_first_and_files_counted_in_theirs_only(store: Store, tmp_path: Path) -> None:
    for session, cwd, activity in (("s1", "/a", 1.0), ("s2", "/b", 3.0), ("s3", "/a", 2.0), ("s4", None, 9.0)):
        store.transcripts.record_activity("claude-code", session, cwd=cwd, activity=activity)
    assert store.transcripts.folders() == ["/b", "/a"]
    facts = tmp_path.stat()
    for path in ("/logs/one", "/logs/p/two", "/logs2/three", "/more/four"):
        store.transcripts.add_file("claude-code", path, facts, baseline=0)
    assert store.transcripts.count_below("claude-code", "/logs") == 2
    assert store.transcripts.count_below("codex", "/logs") == 0
