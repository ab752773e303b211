"""T-33: nothing in a transcript or repository makes the reader fall over, stand still or grow without bound."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.agents.base import Adapter
from skilld.context.disk import Disk
from skilld.context.resolution import files_below
from skilld.edit.operations import apply
from skilld.ingest.inspect import inspect
from skilld.types import Op, Operation
from support.claude_lines import prompt_line
from support.ground_truth import events_of_records
from support.rows import for_each

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
# Lines of a flood: a tenth of a million by default, ten million bytes where they are overlong; more for a long run.
FLOOD = int(os.environ.get("HYPOTHESIS_EXAMPLES", "250")) * 400
# Reads files as the daemon does, one after the other, in a process of its own. Prints for each the turns, the CPU
# seconds (which other programs of the machine take nothing of) and the most memory ever held, in MB.
READER = """
import resource, sys, time
from pathlib import Path
from skilld.ingest.follow import Follower
from skilld.ingest.discover import Root
from skilld.store import Store
store = Store.open(Path(sys.argv[1]))
follower = Follower(store, [Root("claude-code", Path(sys.argv[2]))], 0.0)
for path in sorted(Path(sys.argv[2]).rglob("*.waiting")):
    path.rename(path.with_suffix(".jsonl"))
    start = time.process_time()
    turns = follower.sweep()
    print(turns, time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@for_each("adapter", ADAPTERS.values())
def test_t33_a_line_nested_100000_deep_is_one_bad_line(adapter: Adapter) -> None:
    name = "rollout-2026-11-02T09-00-00-0a000000-0000-7000-8000-000000000009.jsonl"
    events = {kind: len(events_of_records(adapter, line, name=name)) for kind, line in NESTED.items()}
    assert max(events.values()) <= 1, events


def test_t33_lines_after_a_deep_line_are_read(tmp_path: Path) -> None:
    path = tmp_path / "projects/-p/s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(
        b"".join([prompt_line("t1", "before"), *(line + b"\n" for line in NESTED.values()), prompt_line("t2", "after")])
    )
    assert [turn.text for turn in inspect(path, ADAPTERS["claude-code"]).turns.values()] == ["before", "after"]


def test_t33_a_flood_of_lines_is_read_in_bounded_memory_and_time(tmp_path: Path) -> None:
    folder = tmp_path / "projects/-p"
    folder.mkdir(parents=True)
    floods = {"bad": (b"x\n", FLOOD), "blank": (b"\n", FLOOD), "overlong": (b"y" * (9 << 20) + b"\n", 10)}
    for kind, (line, count) in floods.items():
        for number, lines in enumerate((0, count // 10, count)):  # the first shows what reading costs at all
            with (folder / f"{kind}{number}.waiting").open("wb") as file:
                for _ in range(lines // (count // 10)):
                    file.write(line * (count // 10))
                file.write(prompt_line(f"{kind}{number}"))
    result = subprocess.run(
        [sys.executable, "-c", READER, str(tmp_path / "skilld.db"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    told = [[*map(float, line.split())] for line in result.stdout.splitlines()]
    assert [turns for turns, _, _ in told] == [1] * 3 * len(floods)
    for (_, _, least), (_, short, _), (_, long, most) in zip(told[::3], told[1::3], told[2::3], strict=True):
        assert most - least < 100
        assert long < 30 * short + 1, "ten times as many lines take about ten times as long"


def test_t07_a_yaml_bomb_is_not_expanded() -> None:
    levels = "".join(f"  {after}: &{after} [{', '.join([f'*{name}'] * 9)}]\n" for name, after in pairwise("abcdefghi"))
    skill = f"---\nname: x\nmetadata:\n  a: &a [lol]\n{levels}---\n\n- a\n".encode()
    spent = []
    for _ in range(3):
        start = time.process_time()
        edited = apply(skill, [Operation(Op.INSERT_AFTER, "- a", "- b")])
        spent.append(time.process_time() - start)
    assert min(spent) < 0.05
    assert edited == skill + b"- b\n"


def test_links_do_not_make_the_search_for_rules_endless(tmp_path: Path) -> None:
    rules, many = tmp_path / "rules", tmp_path / "many"
    rules.mkdir()
    (rules / "a.md").touch()
    for name in ("x", "y", "z"):
        (rules / name).symlink_to(".")
    assert [*files_below(Disk(), str(rules), ".md")] == [str(rules / "a.md")]
    for number in range(1100):
        (many / f"{number}").mkdir(parents=True)
    (rules / "many").symlink_to(many)
    listed = _CountingDisk({}, {}, {})
    assert [*files_below(listed, str(rules), ".md")] == [str(rules / "a.md")]
    assert listed.count == 1000


class _CountingDisk(Disk):
    """Counts the folders that are listed."""

    count = 0

    def names(self, folder: str) -> Mapping[str, bool]:
        self.count += 1
        return super().names(folder)
