"""T-33: nothing in a transcript makes the reader fall over, stand still or grow without bound."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from skilld.edit.operations import apply
from skilld.intake.agents import ADAPTERS
from skilld.intake.agents.base import Adapter
from skilld.intake.inspect import inspect
from skilld.types import Op, Operation
from support.claude_lines import typed
from support.truth import events_of_records

ROOT = Path(__file__).parents[2]
DEEP = 100_000
NESTED = {
    "lists": b"[" * DEEP + b"]" * DEEP,
    "objects": b'{"type":' * DEEP + b"1" + b"}" * DEEP,
    "open": b"[" * DEEP,
    "in a record": b'{"type":"user","uuid":"u","sessionId":"s","message":{"content":'
    + b"[" * DEEP
    + b"]" * DEEP
    + b"}}",
    "in a payload": b'{"type":"response_item","payload":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}",
    "in arguments": json.dumps(
        {
            "timestamp": "2026-11-02T09:00:00Z",
            "type": "response_item",
            "payload": {"type": "function_call", "name": "shell", "call_id": "c", "arguments": "[" * DEEP + "]" * DEEP},
        }
    ).encode(),
}
# Reads one file as the daemon does, in a process of its own, and prints turns and the most memory it ever held, in MB.
READER = """
import resource, sys, time
from pathlib import Path
from skilld.daemon.follow import Follower
from skilld.daemon.roots import Root
from skilld.store import Store
store = Store.open(Path(sys.argv[1]))
follower = Follower(store, [Root("claude-code", Path(sys.argv[2]))], 0.0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in Path(sys.argv[2]).rglob("*.waiting"):
    path.rename(path.with_suffix(".jsonl"))
turns = follower.sweep()
print(turns, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.parametrize("line", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
def test_t33_a_line_nested_100000_deep_is_one_bad_line(adapter: Adapter, line: bytes) -> None:
    name = "rollout-2026-11-02T09-00-00-0a000000-0000-7000-8000-000000000009.jsonl"
    assert len(events_of_records(adapter, line, name=name)) <= 1


def test_t33_what_comes_after_a_deep_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "projects/-p/s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(
        b"".join([typed("t1", "before"), *(line + b"\n" for line in NESTED.values()), typed("t2", "after")])
    )
    assert [turn.text for turn in inspect(path, ADAPTERS["claude-code"]).turns.values()] == ["before", "after"]


@pytest.mark.parametrize(
    ("line", "count"),
    [(b"\n", 1_000_000), (b"x\n", 1_000_000), (b"y" * (9 << 20) + b"\n", 10)],
    ids=["blank", "bad", "overlong"],
)
def test_t33_a_flood_of_lines_is_read_in_bounded_memory_and_time(tmp_path: Path, line: bytes, count: int) -> None:
    folder = tmp_path / "projects/-p"
    folder.mkdir(parents=True)
    with (folder / "s1.waiting").open("wb") as file:
        for _ in range(10):
            file.write(line * (count // 10))
        file.write(typed("t1"))
    done = subprocess.run(
        [sys.executable, "-c", READER, str(tmp_path / "skilld.db"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    turns, megabytes = map(int, done.stdout.split())
    assert turns == 1
    assert megabytes < 300


def test_t07_a_yaml_bomb_is_a_few_bytes_that_nobody_expands() -> None:
    levels = "".join(f"  {after}: &{after} [{', '.join([f'*{name}'] * 9)}]\n" for name, after in pairwise("abcdefghi"))
    skill = f"---\nname: x\nmetadata:\n  a: &a [lol]\n{levels}---\n\n- a\n".encode()
    start = time.process_time()
    edited = apply(skill, [Operation(Op.INSERT_AFTER, "- a", "- b")])
    assert time.process_time() - start < 0.05
    assert edited == skill + b"- b\n"
