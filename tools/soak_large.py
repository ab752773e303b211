"""One transcript of 2 GB with half a million lines, thousands of them twice: caught up with in little memory."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from support.claude_lines import prompt_line
from support.program import Program
from tools.soak_report import Part, must

LINES = 500_000
SIZE = 2 << 30
# MB: the daemon takes 52, a piece that is read 5, 2,500 turns of one batch and their line in the journal 4; after half
# a million lines the allocator has 1 to 4 more that it cannot give back (62 to 65 in all).
_MEMORY = 70
_TURN_EVERY = 100  # lines; every turn stands there twice
_ROOM = 1 << 30  # bytes that are to be left on the disk
_LIMIT = 3600.0  # seconds
_ONCE = """
import sys
from skilld.__main__ import main
code = main(["run", "--once"])
from benchmarks.kit.children import peak_memory
sys.stderr.write(f"\\n{peak_memory()}")
sys.exit(code)
"""


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Write it and catch up with it, once: the time given and the seed change nothing."""
    del seconds, seed
    return again("the file", folder)


def again(case: str, folder: Path, *, lines: int = LINES, size: int = SIZE) -> Part:
    """Do it again, or a smaller one."""
    part = Part("large")
    if shutil.disk_usage(folder).free < size + _ROOM:
        part.count("passed over: no room for it")
        return part
    with part.finding(case):
        _catch_up(Program(folder, {"SKILLD_NOTIFY__ENABLED": "false"}), lines, size, part)
    return part


def _catch_up(program: Program, lines: int, size: int, part: Part) -> None:
    program.run("run", "--once")  # skilld is there before the file is
    program.run("pause")  # reading is what is measured: no batch is handed to a worker
    path = program.home / ".claude/projects/-p/s1.jsonl"
    turns = _write(path, lines, size)
    megabytes = path.stat().st_size / 1e6
    started = time.monotonic()
    memory = _run(program)
    passed = time.monotonic() - started
    path.unlink()
    read = program.json("status")["agents"]["claude-code"]["turns"]
    part.count("lines", lines)
    part.count("MB", round(megabytes))
    part.count("turns that are there twice", read)
    part.count("MB of memory at most", round(memory))
    part.count("MB a second", round(megabytes / passed))
    must(read == turns, f"{read} turns, not {turns}")
    must(memory < _MEMORY, f"{memory} MB of memory")


def _run(program: Program) -> float:
    """Run the daemon once; returns the most memory that it had, in MB."""
    done = subprocess.run(
        [sys.executable, "-c", _ONCE],
        cwd=program.home,
        env=program.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_LIMIT,
    )
    must(done.returncode == 0, done.stderr)
    return float(done.stderr.rsplit("\n", 1)[-1])


def _write(path: Path, lines: int, size: int) -> int:
    """Write the transcript; returns how many turns it holds, each of which stands there twice."""
    path.parent.mkdir(parents=True)
    filler = [_filler(kind, size // lines) for kind in ("assistant", "user")]
    block = b"".join(filler) * (_TURN_EVERY // 2 - 1) + filler[0]
    pairs = lines // _TURN_EVERY // 2
    with path.open("wb") as file:
        for number in range(pairs):
            file.write((prompt_line(f"t{number}") + block) * 2)
    return pairs


def _filler(kind: str, size: int) -> bytes:
    """Return the line of an answer ("assistant") or of what a tool printed ("user"), about so many bytes long."""
    text = "y" * (size - 180)
    part = {"type": "text", "text": text} if kind == "assistant" else {"type": "tool_result", "content": text}
    record = {"type": kind, "uuid": "x", "sessionId": "s1", "message": {"role": kind, "content": [part]}}
    if kind == "user":
        record["toolUseResult"] = {"stdout": ""}
    return json.dumps(record).encode() + b"\n"
