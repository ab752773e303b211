"""Every turn counts once across restarts, kills, copies, truncation, renames and old files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld.errors import SkilldError
from skilld.ingest import follow, tail, turn_writer
from skilld.ingest.discover import Root
from skilld.ingest.follow import Follower
from skilld.store import Store
from support.claude_lines import (
    AFTER,
    BEFORE,
    OLD_VERSION,
    append_lines,
    dequeued_line,
    enqueued_line,
    prompt_line,
    session_end_line,
    write_transcript,
)
from support.new_store import new_store

INSTALLED = 1772442000.0  # 2026-03-02T09:00:00Z: between BEFORE and AFTER
LATER = 4_000_000_000.0  # everything has been idle for years


class Machine:
    """A store and a folder of transcripts, and followers of it that come and go."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "projects" / "-p"
        self.folder.mkdir(parents=True)
        self.database = root / "skilld.db"
        self.store = new_store(self.database)

    def start(self) -> Follower:
        """Start skilld, as after a kill: nothing is left but what is stored."""
        self.store.close()
        self.store = new_store(self.database)
        return Follower(self.store, [Root("claude-code", self.folder.parent)], INSTALLED)

    def waiting(self, session: str = "s1") -> list[str]:
        """Return the keys of the turns that wait for a batch."""
        return [
            turn.key.removeprefix("claude-code:") for turn in self.store.transcripts.waiting("claude-code", session)
        ]

    def path(self, name: str = "s1") -> Path:
        return self.folder / f"{name}.jsonl"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    made.store.close()


def test_turns_of_a_new_file_wait_in_order(machine: Machine) -> None:
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("t1"), prompt_line("t2"))
    assert follower.sweep() == 2
    append_lines(machine.path(), prompt_line("t3"))
    assert follower.sweep() == 1
    assert follower.sweep() == 0
    assert machine.waiting() == ["t1", "t2", "t3"]


def test_a_restart_at_any_point_loses_and_doubles_no_turn(machine: Machine) -> None:
    follower = machine.start()
    whole = b"".join(prompt_line(f"t{number}") for number in range(6))
    for cut in range(0, len(whole), 97):
        write_transcript(machine.path(), whole[:cut])
        follower.sweep()
        follower = machine.start()
    write_transcript(machine.path(), whole)
    follower.sweep()
    assert machine.waiting() == ["t0", "t1", "t2", "t3", "t4", "t5"]


def test_turns_before_the_first_start_do_not_count_and_later_ones_do(machine: Machine) -> None:
    write_transcript(machine.path(), prompt_line("old", at=BEFORE))
    follower = machine.start()
    assert follower.sweep() == 0
    append_lines(machine.path(), prompt_line("new"))
    assert follower.sweep() == 1
    assert machine.waiting() == ["new"]


def test_a_file_created_while_skilld_was_stopped_counts(machine: Machine) -> None:
    machine.start()
    write_transcript(machine.path(), prompt_line("t1"))
    assert machine.start().sweep() == 1


def test_a_file_noted_but_unread_before_a_kill_is_read_afterwards(machine: Machine) -> None:
    machine.start()
    path = write_transcript(machine.path(), prompt_line("t1"))
    machine.store.transcripts.add_file("claude-code", str(path), path.stat(), baseline=0)
    assert machine.start().sweep() == 1


def test_a_temporarily_unreadable_file_is_read_later(machine: Machine) -> None:
    follower = machine.start()
    target = write_transcript(machine.path("target").with_suffix(".txt"), prompt_line("t1"))
    machine.path().symlink_to(target)
    assert follower.read_all_new([("claude-code", machine.path())]) == 0
    assert str(machine.path()) in follower.unreadable
    machine.path().unlink()
    target.rename(machine.path())
    assert machine.start().sweep() == 1


@pytest.mark.parametrize("folder", ["-p", "-q"])
def test_a_fork_of_a_session_older_than_skilld_repeats_nothing_in_any_folder(machine: Machine, folder: str) -> None:
    write_transcript(
        machine.folder.parent / folder / "old.jsonl", prompt_line("t1", at=BEFORE), prompt_line("t2", at=BEFORE)
    )
    follower = machine.start()
    forked = [prompt_line(turn, session="fork", at=BEFORE) for turn in ("t1", "t2")]
    write_transcript(machine.path("fork"), *forked, prompt_line("t3", session="fork"))
    assert follower.sweep() == 1
    assert machine.waiting("fork") == ["t3"]


def test_old_words_in_a_new_file_that_is_no_fork_count(machine: Machine) -> None:
    write_transcript(machine.path("other"), prompt_line("x1", at=BEFORE))
    follower = machine.start()
    write_transcript(machine.path("copied-in"), prompt_line("t1", session="copied-in", at=BEFORE))
    follower.sweep()
    assert machine.waiting("copied-in") == ["t1"]


def test_a_fork_of_a_newer_session_repeats_nothing(machine: Machine) -> None:
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("t1"), prompt_line("t2"))
    follower.sweep()
    write_transcript(
        machine.path("fork"),
        prompt_line("t1", session="fork"),
        prompt_line("t2", session="fork"),
        prompt_line("t3", session="fork"),
    )
    assert follower.sweep() == 1
    assert machine.waiting() == ["t1", "t2"]
    assert machine.waiting("fork") == ["t3"]


def test_a_rewritten_file_yields_only_its_new_turns(machine: Machine) -> None:
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("t1"), prompt_line("t2"), prompt_line("t3"))
    follower.sweep()
    write_transcript(machine.path(), prompt_line("t3"), prompt_line("t4"))
    assert follower.sweep() == 1
    assert machine.waiting() == ["t1", "t2", "t3", "t4"]


def test_a_rewritten_session_older_than_skilld_yields_only_later_turns(machine: Machine) -> None:
    write_transcript(machine.path(), *(prompt_line(f"old{number}", at=BEFORE) for number in range(5)))
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("old4", at=BEFORE), prompt_line("new", at=AFTER))
    follower.sweep()
    assert machine.waiting() == ["new"]


def test_a_session_older_than_skilld_read_and_rewritten_revives_nothing(machine: Machine) -> None:
    write_transcript(machine.path(), prompt_line("old", at=BEFORE), prompt_line("old2", at=BEFORE))
    follower = machine.start()
    append_lines(machine.path(), prompt_line("new"))
    follower.sweep()
    write_transcript(machine.path(), prompt_line("old2", at=BEFORE), prompt_line("new2"))
    follower.sweep()
    assert machine.waiting() == ["new", "new2"]


def test_a_renamed_file_is_continued(machine: Machine) -> None:
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("t1"))
    follower.sweep()
    machine.path().rename(machine.path("moved"))
    append_lines(machine.path("moved"), prompt_line("t2"))
    assert follower.sweep() == 1
    assert machine.start().sweep() == 0
    (row,) = machine.store.transcripts.each()
    assert row.path == str(machine.path("moved"))


def test_a_project_older_than_skilld_may_be_moved(machine: Machine) -> None:
    write_transcript(machine.path(), prompt_line("old", at=BEFORE))
    follower = machine.start()
    machine.folder.rename(machine.folder.parent / "-moved")
    append_lines(machine.folder.parent / "-moved" / "s1.jsonl", prompt_line("new"))
    follower.sweep()
    assert machine.waiting() == ["new"]


def test_a_new_file_reusing_an_old_inode_counts_from_its_start(machine: Machine) -> None:
    old = write_transcript(machine.path("old"), prompt_line("old", at=BEFORE))
    follower = machine.start()
    # What a file system does when it uses an inode again: the same number under another name, with other content.
    old.rename(machine.path("reused"))
    write_transcript(machine.path("reused"), prompt_line("t1", session="reused"), prompt_line("t2", session="reused"))
    follower.sweep()
    assert machine.waiting("reused") == ["t1", "t2"]


def test_an_undelivered_queued_prompt_is_no_turn_however_long_it_is_idle(machine: Machine) -> None:
    """S6: an agent's schedule queues its prompt as a person does."""
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("t1"), enqueued_line("never push to main"))
    assert follower.sweep() == 1
    assert follower.flush_idle(0.0) == 0
    assert follower.flush_idle(LATER) == 0
    assert machine.start().flush_idle(LATER) == 0
    assert machine.waiting() == ["t1"]


def test_an_idle_file_is_not_flushed_before_what_was_appended_is_read(tmp_path: Path, store: Store) -> None:
    """The mirror of a Codex prompt gives the turn its key: a later reader finds the turn under no other."""
    follower = Follower(store, [Root("codex", tmp_path / "sessions")], INSTALLED)
    path = tmp_path / "sessions/rollout-s1.jsonl"
    said = {"type": "message", "id": "msg", "role": "user", "content": [{"type": "input_text", "text": "use tabs"}]}
    item = {"type": "UserMessage", "id": "item", "content": [{"type": "text", "text": "use tabs"}]}
    prompt, mirror = (
        json.dumps({"type": kind, "timestamp": AFTER, "payload": payload}).encode() + b"\n"
        for kind, payload in (("response_item", said), ("event_msg", {"type": "item_completed", "item": item}))
    )
    write_transcript(path, prompt)
    assert follower.sweep() == 0
    append_lines(path, mirror)
    assert follower.flush_idle(LATER) == 0
    assert follower.sweep() == 1
    assert not store.transcripts.unknown(["codex:item"])


def test_an_undecided_queued_prompt_survives_a_kill(machine: Machine) -> None:
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("t1", version=OLD_VERSION), enqueued_line("never push to main"))
    follower.sweep()
    follower = machine.start()
    append_lines(machine.path(), dequeued_line())
    assert follower.sweep() == 1
    assert machine.start().sweep() == 0
    assert len(machine.waiting()) == 2


def test_queued_prompts_are_decided_however_many_files_are_open(machine: Machine) -> None:
    follower = machine.start()
    sessions = [f"n{number}" for number in range(80)]
    for name in sessions:
        write_transcript(
            machine.path(name),
            prompt_line(f"t{name}", session=name, version=OLD_VERSION),
            enqueued_line("x", session=name),
        )
    assert follower.sweep() == 80
    assert follower.flush_idle(LATER) == 0
    for name in sessions:
        append_lines(machine.path(name), dequeued_line(session=name))
    assert follower.sweep() == 80


def test_a_fork_stays_open_while_many_others_are_searched_for_its_turns(machine: Machine) -> None:
    for number in range(80):
        write_transcript(machine.path(f"n{number}"), prompt_line(f"old{number}", at=BEFORE))
    follower = machine.start()
    start = prompt_line("t1", session="new", at=BEFORE, version=OLD_VERSION)
    write_transcript(machine.path("new"), start, enqueued_line("never push", session="new"))
    assert follower.sweep() == 1
    append_lines(machine.path("new"), dequeued_line(session="new"))
    assert follower.sweep() == 1


def test_backfill_counts_the_last_days_once(machine: Machine) -> None:
    write_transcript(
        machine.path(),
        prompt_line("ancient", at="2026-01-01T10:00:00Z"),
        prompt_line("old", at=BEFORE),
        mtime=INSTALLED - 60,
    )
    follower = machine.start()
    append_lines(machine.path(), prompt_line("new"))
    follower.sweep()
    assert follower.backfill(7, INSTALLED) == 1
    assert follower.sweep() == 1
    assert follower.backfill(7, INSTALLED) == 1
    assert follower.sweep() == 0
    assert sorted(machine.waiting()) == ["new", "old"]
    assert machine.store.transcripts.summary()["claude-code"]["turns"] == 2


def test_a_backfill_killed_before_reading_continues_at_the_next_start(machine: Machine) -> None:
    write_transcript(machine.path(), prompt_line("old", at=BEFORE))
    machine.start().backfill(10_000, INSTALLED)
    assert machine.start().sweep() == 1


def test_a_session_ends_when_its_log_says_so_until_it_continues(machine: Machine) -> None:
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("t1"), session_end_line())
    follower.sweep()
    assert machine.store.transcripts.activity("claude-code", "s1")[1]
    append_lines(machine.path(), prompt_line("t2"))
    follower.sweep()
    assert not machine.store.transcripts.activity("claude-code", "s1")[1]


def test_an_undecodable_file_name_is_reported_and_stops_nothing(machine: Machine) -> None:
    strange = os.fsencode(machine.folder) + b"/\xff\xfe.jsonl"
    with open(strange, "wb") as file:  # noqa: PTH123 - a path of bytes
        file.write(prompt_line("t0"))
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("t1"))
    assert follower.sweep() == 1
    assert follower.read_all_new([("claude-code", Path(os.fsdecode(strange)))]) == 0
    assert follower.unreadable == {os.fsdecode(strange): "its name is not UTF-8"}


def test_unencodable_text_is_kept(machine: Machine) -> None:
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("t\ud800", "half \ud83d an emoji", session="s\udc00", cwd="/a\ud800"))
    assert follower.sweep() == 1


def test_an_impossible_working_folder_is_ignored_and_its_turns_count(machine: Machine) -> None:
    follower = machine.start()
    longest = "/a" * 2000
    others = prompt_line("t2", session="s2", cwd="/a" * 30_000), prompt_line("t3", session="s3", cwd="/a\0b")
    write_transcript(machine.path(), prompt_line("t1", cwd=longest), *others)
    assert follower.sweep() == 3
    assert machine.store.transcripts.cwd("claude-code", "s1") == longest
    assert machine.store.transcripts.cwd("claude-code", "s2") is None
    assert machine.store.transcripts.cwd("claude-code", "s3") is None


def test_a_deleted_file_leaves_no_error(machine: Machine) -> None:
    follower = machine.start()
    machine.path().symlink_to("/dev/zero")
    follower.read_all_new([("claude-code", machine.path())])
    assert list(follower.unreadable.values()) == ["Too many levels of symbolic links"]
    machine.path().unlink()
    follower.read_all_new([("claude-code", machine.path())])
    assert follower.unreadable == {}


def test_a_large_file_is_read_completely_in_bounded_steps(machine: Machine) -> None:
    follower = machine.start()
    filler = b'{"type":"file-history-snapshot","x":"' + b"x" * 1_000_000 + b'"}\n'
    write_transcript(machine.path(), prompt_line("t1"), filler * 6, prompt_line("t2"), filler * 6, prompt_line("t3"))
    assert follower.sweep() == 3


def test_a_failed_write_is_repeated_without_loss(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    follower = machine.start()
    write_transcript(machine.path(), prompt_line("t1"))
    follower.sweep()
    append_lines(machine.path(), prompt_line("t2"))
    # The disk is full: SQLite itself refuses to grow the file.
    machine.store._db.execute("PRAGMA max_page_count = 1")
    monkeypatch.setattr(tail, "CHUNK_BYTES", 1 << 16)
    append_lines(machine.path(), *(prompt_line(f"u{number}", "word " * 50) for number in range(2000)))
    with pytest.raises(SkilldError, match="database"):
        follower.sweep()
    machine.store._db.execute("PRAGMA max_page_count = 1000000")
    assert follower.sweep() == 2001


def test_unwritten_reads_are_discarded_by_a_stop(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_TRANSACTION_SECONDS", 600)
    follower = machine.start()
    write_transcript(machine.path("s1"), prompt_line("t1"))
    write_transcript(machine.path("s2"), prompt_line("t2", session="s2"))
    steps = iter(range(2))

    def stop() -> None:
        if next(steps, None) is None:  # the first file was read
            raise KeyboardInterrupt

    follower.progress = stop
    with pytest.raises(KeyboardInterrupt):
        follower.sweep()
    follower.progress = lambda: None
    machine.path("s1").unlink()
    machine.path("s2").unlink()
    write_transcript(machine.path("s3"), prompt_line("t3", session="s3"))
    assert follower.sweep() == 1
    assert machine.store.transcripts.sessions_waiting() == [("claude-code", "s3")]


@pytest.mark.parametrize("limit", ["_MAX_READINGS", "_MAX_QUEUED_TEXT"])
def test_reads_are_written_before_they_pile_up(machine: Machine, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(follow, "_TRANSACTION_SECONDS", 600)
    monkeypatch.setattr(turn_writer, limit, 2)
    follower = machine.start()
    for number in range(4):
        write_transcript(machine.path(f"n{number}"), prompt_line(f"t{number}", session=f"n{number}"))
    written = []
    follower.progress = lambda: written.append(len(machine.store.transcripts.sessions_waiting()))
    assert follower.sweep() == 4
    assert max(written) >= 2


def test_following_many_files_leaks_no_descriptor(machine: Machine) -> None:
    follower = machine.start()
    for number in range(100):
        write_transcript(machine.path(f"n{number}"), prompt_line(f"t{number}", session=f"n{number}"))
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    assert follower.sweep() == 100
    for number in range(100):
        append_lines(machine.path(f"n{number}"), prompt_line(f"u{number}", session=f"n{number}"))
    assert follower.sweep() == 100
    after = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    assert after <= before + 2
