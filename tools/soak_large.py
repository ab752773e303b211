"""One transcript of 2 GB with half a million lines, thousands of them twice: caught up with in little memory."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from support.claude_lines import typed
from tools.soak_report import Part, must

_LINES = 500_000
_BYTES = 2 << 30
_MEMORY = 60_000_000
_TURN_EVERY = 500  # lines
_SCRIPT = """
import json, sys, time
from pathlib import Path
from skilld.daemon.follow import Follower
from skilld.daemon.roots import Root
from skilld.store import Store
folder = Path(sys.argv[1])
store = Store.open(folder / "skilld.db")
follower = Follower(store, [Root("claude-code", folder / "projects")], 0.0)
Path(folder / "projects/-p/big.part").rename(folder / "projects/-p/big.jsonl")
started = time.monotonic()
turns = follower.sweep()
seconds = time.monotonic() - started
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(json.dumps({"turns": turns, "seconds": seconds, "bytes": int(status["VmHWM"].split()[0]) * 1024}))
"""


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Write it and catch up with it, once: the time given and the seed change nothing."""
    del seed
    part = Part(seconds)
    if not Path("/proc/self/status").exists() or shutil.disk_usage(folder).free < 2 * _BYTES:
        part.reached["passed over: not Linux, or no room"] = 1
        return part
    turns = _write(folder / "projects/-p/big.part")
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(folder)], capture_output=True, text=True, check=False, timeout=3600
    )
    try:
        must(done.returncode == 0, done.stderr)
        found = json.loads(done.stdout)
        part.reached.update({"lines": _LINES, "turns": found["turns"], "MB of memory": found["bytes"] // 10**6})
        part.reached["MB a second"] = int(_BYTES / 10**6 / found["seconds"])
        must(found["turns"] == turns, f"{found['turns']} turns, not {turns}")
        must(found["bytes"] < _MEMORY, f"{found['bytes']} bytes of memory")
    except AssertionError as error:
        part.find("a transcript of 2 GB", error)
    return part


def _write(path: Path) -> int:
    """Write the transcript; returns how many turns it holds, each of which stands there twice."""
    path.parent.mkdir(parents=True)
    filler = json.dumps({"type": "assistant", "uuid": "x", "message": {"content": "y" * (_BYTES // _LINES - 80)}})
    block = filler.encode() + b"\n"
    turns = 0
    with path.open("wb") as file:
        for number in range(_LINES):
            if number % _TURN_EVERY:
                file.write(block)
            else:
                file.write(typed(f"t{number // _TURN_EVERY // 2}"))
                turns = number // _TURN_EVERY // 2 + 1
    return turns
