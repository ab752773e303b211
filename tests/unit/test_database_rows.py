"""Records of a database: new ones are read once, nothing is written, errors lose nothing."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld.agents import opencode
from skilld.ingest import rows
from skilld.ingest.rows import RowSource, open_database
from skilld.ingest.source import source_of
from skilld.ingest.tail import UnreadableError
from support.opencode_db import SECRET, OpenCodeDb
from support.waiting import LIMIT

QUERIES = opencode.INFO.queries
SOURCE = RowSource(QUERIES)


@pytest.fixture(autouse=True)
def long_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have one look take in all there is, however slow this machine is."""
    monkeypatch.setattr(rows, "_MAX_PART_SECONDS", LIMIT)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[OpenCodeDb]:
    with OpenCodeDb(tmp_path / "opencode.db") as made:
        made.session("s1", "/w")
        yield made


def row_texts(reading: rows.RowRead) -> list[str]:
    return [part["text"] for line in reading.lines for part in json.loads(line.data)["parts"]]


def read_rows(client: OpenCodeDb, cursor: rows.RowCursor | None = None, budget: int = 1 << 20) -> rows.RowRead:
    with SOURCE.read_new(client.path, cursor, budget=budget) as reading:
        return reading


def test_records_come_in_order_and_afterwards_only_new_ones(client: OpenCodeDb) -> None:
    client.prompt("s1", "one")
    client.prompt("s1", "two")
    first = read_rows(client)
    assert row_texts(first) == ["one", "two"]
    client.now += rows.OVERLAP_MS
    client.prompt("s1", "three")
    second = read_rows(client, first.cursor)
    assert row_texts(second)[-1] == "three"
    assert row_texts(read_rows(client, second.cursor)) == ["three"]


def test_a_record_with_an_older_time_is_read_too(client: OpenCodeDb) -> None:
    client.prompt("s1", "now")
    cursor = read_rows(client).cursor
    client.prompt("s1", "an hour ago, says its clock", at=client.now - 3_600_000)
    assert "an hour ago, says its clock" in row_texts(read_rows(client, cursor))


def test_a_row_replacing_a_deleted_one_is_read(client: OpenCodeDb) -> None:
    undone = client.prompt("s1", "undone")
    cursor = read_rows(client).cursor
    client.db.execute("DELETE FROM message WHERE id = ?", (undone,))
    client.prompt("s1", "instead")
    assert row_texts(read_rows(client, cursor)) == ["instead"]


def test_a_long_history_is_read_in_pieces_to_its_end(client: OpenCodeDb) -> None:
    for number in range(40):
        client.prompt("s1", f"prompt {number}", at=client.now - number % 2)
    readings = [read_rows(client, budget=500)]
    while readings[-1].more:
        readings.append(read_rows(client, readings[-1].cursor, budget=500))
    seen = [text for reading in readings for text in row_texts(reading)]
    assert sorted(seen) == sorted(f"prompt {number}" for number in range(40))
    assert len(readings) > 5
    assert readings[-1].cursor.row is not None


def test_any_number_of_rows_with_one_time_are_read(client: OpenCodeDb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_MAX_RECORDS", 4)
    for number in range(20):
        client.prompt("s1", f"prompt {number}", at=client.now - number % 2 if number < 10 else 1000)
    readings = [read_rows(client)]
    while readings[-1].more:
        readings.append(read_rows(client, readings[-1].cursor))
    assert sorted(text for reading in readings for text in row_texts(reading)) == sorted(
        f"prompt {n}" for n in range(20)
    )
    assert len(readings) > 2


def test_sub_agents_and_other_sessions_are_left_out(client: OpenCodeDb) -> None:
    client.session("child", "/w", parent="s1")
    client.session("s2", "/w")
    client.prompt("child", "you are a helper")
    client.prompt("s1", "one")
    client.prompt("s2", "two")
    assert row_texts(read_rows(client)) == ["one", "two"]
    (line,) = SOURCE.read_session(client.path, "s2", 0, 0)
    assert b"two" in getattr(line, "data", b"")


def test_no_other_query_and_no_write_is_made(client: OpenCodeDb, tmp_path: Path) -> None:
    client.prompt("s1", "one")
    client.skill("s1", tmp_path / "release-notes")
    assert SECRET.encode() not in b"".join(line.data for line in read_rows(client).lines)
    assert b"skill_content" not in b"".join(line.data for line in read_rows(client).lines)
    client.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    client.db.close()
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.iterdir()}
    assert row_texts(read_rows(client)) == ["one", None]
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in tmp_path.iterdir()} == before
    assert set(before) == {"opencode.db"}


def test_a_replaced_database_is_read_from_its_start(client: OpenCodeDb, tmp_path: Path) -> None:
    client.prompt("s1", "one")
    cursor = read_rows(client).cursor
    with OpenCodeDb(tmp_path / "new" / "opencode.db") as other:
        other.session("s1", "/w")
        other.prompt("s1", "other")
        other.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        other.path.replace(client.path)
        reading = read_rows(client, cursor)
    assert reading.restarted


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("ALTER TABLE message RENAME COLUMN data TO body", "its tables do not match any version that skilld supports"),
        ("DROP TABLE part", "its tables do not match any version that skilld supports"),
        (
            "ALTER TABLE session RENAME TO old; CREATE VIEW session AS SELECT * FROM old",
            "its tables do not match any version that skilld supports",
        ),
    ],
)
def test_unknown_tables_are_reported_until_they_return(client: OpenCodeDb, change: str, why: str) -> None:
    client.prompt("s1", "one")
    cursor = read_rows(client).cursor
    client.db.execute("BEGIN IMMEDIATE")
    for statement in change.split("; "):
        client.db.execute(statement)
    assert row_texts(read_rows(client, cursor)) == ["one"]  # half-way: what was committed last
    client.db.execute("COMMIT")
    with pytest.raises(UnreadableError) as error:
        read_rows(client, cursor)
    assert error.value.strerror == why


def test_a_newer_table_in_use_is_reported_while_the_older_ones_are_read(client: OpenCodeDb) -> None:
    client.prompt("s1", "one")
    assert read_rows(client).note == ""
    client.db.execute("INSERT INTO session_message VALUES ('m', 's1', 'user', 1, '{}')")
    reading = read_rows(client)
    assert row_texts(reading) == ["one"]
    assert "session_message" in reading.note


@pytest.mark.parametrize("mode", ["journal_mode = DELETE", "locking_mode = EXCLUSIVE"])
def test_a_lock_held_by_the_client_is_reported_at_once(client: OpenCodeDb, mode: str) -> None:
    client.prompt("s1", "one")
    cursor = read_rows(client).cursor
    client.db.execute(f"PRAGMA {mode}")
    client.db.execute("BEGIN EXCLUSIVE")
    client.prompt("s1", "two")
    took = []
    for _ in range(3):  # on a busy machine one of them may take long all the same
        started = time.monotonic()
        with pytest.raises(UnreadableError) as error:
            read_rows(client, cursor)
        assert error.value.strerror == "locked by its agent; skilld will try again"
        took.append(time.monotonic() - started)
    assert min(took) < 3
    client.db.execute("COMMIT")
    client.db.close()
    assert "two" in row_texts(read_rows(client, cursor))


def test_rows_read_while_a_client_opened_it_do_not_count(client: OpenCodeDb) -> None:
    client.prompt("s1", "said")
    client.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with pytest.raises(UnreadableError) as error, open_database(client.path, QUERIES, 10.0):
        client.prompt("s1", "said meanwhile, into the log")
    assert error.value.strerror == "an agent has just opened it; skilld will try again"


def test_a_writer_in_mid_commit_blocks_nobody(client: OpenCodeDb) -> None:
    client.prompt("s1", "one")
    client.db.execute("BEGIN IMMEDIATE")
    client.prompt("s1", "two")
    assert row_texts(read_rows(client)) == ["one"]
    client.db.execute("COMMIT")
    assert row_texts(read_rows(client)) == ["one", "two"]


@pytest.mark.parametrize("data", [b"no database at all, but long enough to be looked at" * 40, b""])
def test_an_invalid_database_is_reported(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(data)
    with pytest.raises(UnreadableError), SOURCE.read_new(path, None):
        pass


def test_a_symlink_or_pipe_is_not_read(client: OpenCodeDb, tmp_path: Path) -> None:
    client.prompt("s1", "one")
    (tmp_path / "link.db").symlink_to(client.path)
    os.mkfifo(tmp_path / "pipe.db")
    for name in ("link.db", "pipe.db"):
        with pytest.raises(UnreadableError), SOURCE.read_new(tmp_path / name, None):
            pass


def test_unexpected_values_are_skipped(client: OpenCodeDb) -> None:
    client.prompt("s1", "one")
    for data in ("{", "[]", b"\x00\xff", json.dumps({"type": "text", "text": "x" * 9_000_000})):
        message = client.message("s1", {"role": "user"})
        client.part(message, {"type": "text", "text": "y"})
        client.db.execute("UPDATE part SET data = ? WHERE message_id = ?", (data, message))
    client.db.execute("UPDATE message SET time_created = 'soon' WHERE id = ?", (client.message("s1", {}),))
    client.prompt("s1", "last")
    assert row_texts(read_rows(client)) == ["one", "last"]


def test_a_change_of_the_wal_is_a_change_of_the_database(client: OpenCodeDb) -> None:
    source = source_of(opencode.INFO, client.path)
    assert isinstance(source, RowSource)
    assert source.transcript(Path("/x/opencode.db-wal")) == Path("/x/opencode.db")
    before = source.facts(client.path)
    client.prompt("s1", "one")
    assert source.facts(client.path) != before
    assert source.end(client.path, before) == client.now + 1


def test_if_the_end_cannot_be_read_the_file_time_is_used(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    sqlite3.connect(path).close()
    path.write_bytes(b"x" * 200)
    os.utime(path, (1_795_000_000, 1_795_000_000))
    source = source_of(opencode.INFO, path)
    assert source.end(path, source.facts(path)) == 1_795_000_000_001
