"""F-02 to F-07: torn, damaged, cut, replaced, renamed and copied transcripts. Every turn counts once.

The cases with a name stand in tests/unit/test_follow.py and test_tail.py, and two here; the last test takes random
steps against a model, `make soak` as many as there is time for.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.files import Files
from skilld.ingest.discover import Root
from skilld.ingest.follow import Follower
from skilld.store import Store
from support.claude_lines import append_lines, prompt_line, write_transcript


class Machine:
    """A store, a transcript and a follower."""

    def __init__(self, root: Path) -> None:
        self.path = root / "projects/-p/s1.jsonl"
        self.path.parent.mkdir(parents=True)
        self.store = Store.open(root / "skilld.db")
        self._follower = Follower(self.store, [Root("claude-code", self.path.parents[1])], 0.0)

    def turns(self) -> list[str]:
        """Look at the files, and return the keys of all turns so far."""
        self._follower.sweep()
        return [turn.key.removeprefix("claude-code:") for turn in self.store.transcripts.waiting("claude-code", "s1")]

    def malformed(self) -> int:
        return int(self.store.transcripts.summary()["claude-code"]["malformed"])


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    made.store.close()


def test_f03_a_truncated_tail_counts_once_and_what_follows_is_read(machine: Machine) -> None:
    write_transcript(machine.path, prompt_line("t1"), prompt_line("t2"))
    assert machine.turns() == ["t1", "t2"]
    os.truncate(machine.path, len(prompt_line("t1")) + 40)  # the power failed: half of t2 is gone
    append_lines(machine.path, b"\0" * 512 + b"\n", prompt_line("t3"), prompt_line("t4"))
    assert machine.turns() == ["t1", "t2", "t3", "t4"]
    assert machine.malformed() == 1
    append_lines(machine.path, prompt_line("t5"))
    assert machine.turns() == ["t1", "t2", "t3", "t4", "t5"]
    assert machine.malformed() == 1


@pytest.fixture
def on_a_disk() -> Iterator[Machine]:
    """Give one whose inodes are used again, as those of files in memory are not."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        made = Machine(Path(folder))
        yield made
        made.store.close()


def test_f06_a_new_file_reusing_a_deleted_inode_is_read_from_its_start(on_a_disk: Machine) -> None:
    machine = on_a_disk
    write_transcript(machine.path, prompt_line("t1"), prompt_line("t2"))
    assert machine.turns() == ["t1", "t2"]
    inode = machine.path.stat().st_ino
    machine.path.unlink()
    for number in range(1000):
        other = machine.path.with_name(f"{number}.jsonl")
        write_transcript(other, prompt_line("u1"), prompt_line("u2"), prompt_line("u3"))
        if other.stat().st_ino == inode:
            break
    else:
        pytest.skip("this file system does not use an inode again")
    assert machine.turns() == ["t1", "t2", "u1", "u2", "u3"]


@settings(max_examples=25)
@given(st.randoms(use_true_random=False), st.integers(5, 40))
def test_whatever_is_done_to_files_every_complete_line_counts_once(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random, steps: int
) -> None:
    files = Files(tmp_path_factory.mktemp("files"), dice)
    for _ in range(steps):
        files.step()
    files.check()
