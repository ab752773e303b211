"""The status line: how long `skilld statusline` takes, with 100,000 turns in the store and a proposal waiting.

Whole processes, 95th percentile, started as an installed script starts them (`script`: as uv and newer pips write it;
`older_script`: as older pips do, which import `re` first), and a shell that reads the file itself (docs/statusline.md).
Before each, its file, the store and its code are dropped from the system's cache. Yardstick, in turn with them:
`sh -c true`. A separate figure is for Python alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.timing import percentile, seconds
from skilld.store import Store
from skilld.types import How, Span, Turn
from support.proposals import COMMIT_FIELDS, make_proposal

_AT = "2026-01-05T10:00:00.000Z"
_MAIN = "from skilld.__main__ import main; sys.exit(main())"
_COMMANDS = {
    "sh": ["/bin/sh", "-c", "true"],
    "python": [sys.executable, "-c", "pass"],
    "script": [sys.executable, "-c", f"import sys; {_MAIN}", "statusline"],
    "older_script": [sys.executable, "-c", f"import re, sys; {_MAIN}", "statusline"],
    "shell": ["/bin/sh", "-c", 'read -r line < "$HOME/.local/state/skilld/statusline" && printf %s "$line"'],
}
_SAYS = {"script": "skilld: 1 waiting", "older_script": "skilld: 1 waiting", "shell": "skilld: 1 waiting"}


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the 95th percentile of each command."""
    turns, rounds = scale.pick((100_000, 200), (10_000, 60))
    with children.scratch() as home:
        state = home / ".local/state/skilld"
        state.mkdir(parents=True, mode=0o700)
        _fill(state / "skilld.db", turns)
        variables = children.environment(home)

        def run(name: str) -> None:
            done = subprocess.run(
                _COMMANDS[name], env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
            )
            if done.returncode or done.stdout.decode().strip() != _SAYS.get(name, ""):
                raise RuntimeError(f"{name}: exit {done.returncode}, {done.stdout!r}")

        took: dict[str, list[float]] = {name: [] for name in _COMMANDS}
        for _ in range(rounds):
            for name, times in took.items():
                _drop(state)
                times.append(seconds(lambda name=name: run(name)))  # type: ignore[misc]
    p95 = {name: 1e3 * percentile(times[1:], 0.95) for name, times in took.items()}  # the first writes bytecode
    basis = f"{turns} turns, {rounds} times, nothing of it in the cache"
    aim = Target(Of.VALUE, most=20)
    return {
        "script": Figure(p95["script"], "ms", "sh -c true", p95["sh"], basis, aim),
        "script_beside_python": Figure(p95["script"], "ms", "python -c pass", p95["python"], basis),
        "older_script": Figure(p95["older_script"], "ms", "sh -c true", p95["sh"], basis, aim),
        "shell": Figure(p95["shell"], "ms", "sh -c true", p95["sh"], basis, aim),
    }


def _fill(database: Path, turns: int) -> None:
    store = Store.open(database)
    database.with_name("transcript").touch()
    file = store.transcripts.add_file("claude-code", "/t.jsonl", database.with_name("transcript").stat(), baseline=0)
    with store.transaction():
        store.transcripts.record_activity("claude-code", "s", cwd=None, activity=1.0)
        for number in range(turns):
            turn = Turn(f"t{number}", "claude-code", "s", "words", _AT, How.TYPED, Span(number, number + 1))
            store.transcripts.add_turn(turn, file.id, counts=True, lasting=False)
    store.proposals.add(make_proposal(**COMMIT_FIELDS))
    store.close()


def _drop(state: Path) -> None:
    """Have the system forget what is on the disk of the state and of the program's code."""
    os.sync()
    for path in [
        *state.iterdir(),
        *children.bytecode().rglob("skilld/*.pyc"),
        *(children.ROOT / "skilld").glob("*.py"),
    ]:
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)
