"""Coverage-guided fuzzing of everything that reads bytes from outside.

    python -m tools.fuzz --seconds 60 [--target NAME ...] [--json] [--keep FOLDER]

Splits the time over the targets, prints what was reached, and exits 1 where an input made one fail; such inputs are
kept in `--keep` or shown. Where atheris is missing (it has wheels for Linux on x86_64 only) it says so and exits 0.
"""

from __future__ import annotations

import argparse
import base64
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
MISSING = "atheris is not installed: it has wheels for Linux on x86_64 only"
_ASKED_FOR = ("antigravity", "goose", "kiro", "openhands")
_TABLES = ("cline", "droid", "continue", "kilo", "kimi-code", "grok-build", "mistral-vibe", "letta-code", *_ASKED_FOR)
_AGENTS = ("claude-code", "codex", "opencode", "gemini-cli", "copilot-cli", "pi", "qwen-code", "cursor", *_TABLES)
TARGETS = (*(f"adapter-{agent}" for agent in _AGENTS), "replies", "front-matter", "edits", "redactor")
_START = 600.0  # seconds that a child may need besides, to start and to read its seeds, on a busy machine
_SHOWN = 2000  # bytes of a failing input that are shown
_COVERED = re.compile(rb"\bcov: (\d+)")
_TRACE = re.compile(rb"=== Uncaught Python exception: ===\n(.*)")


@dataclass(frozen=True)
class Fuzzed:
    """What was reached in one target: counts, and a line for each thing that went wrong."""

    target: str
    reached: dict[str, int] = field(default_factory=dict)
    findings: tuple[str, ...] = ()


def available() -> bool:
    """Whether there is a fuzzer to run."""
    return importlib.util.find_spec("atheris") is not None


def fuzz(target: str, seconds: float, keep: Path | None = None) -> Fuzzed:
    """Fuzz one target for so long. Inputs on which it fails are copied to `keep`."""
    with tempfile.TemporaryDirectory(prefix="skilld-fuzz-") as name:
        folder = Path(name)
        command = [sys.executable, "-m", "tools.fuzz_child", target, str(seconds), name]
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=seconds + _START, check=False)
        except subprocess.TimeoutExpired:
            return Fuzzed(target, {}, (f"{target}: it did not end",))
        covered = _COVERED.findall(done.stderr)
        if done.returncode == 0:
            return Fuzzed(target, {**json.loads(done.stdout), "edges": int(covered[-1]) if covered else 0})
        inputs = [path for path in sorted(folder.iterdir()) if path.is_file()]
        for path in inputs:
            if keep:
                (keep / f"{target}-{path.name}").write_bytes(path.read_bytes())
        return Fuzzed(target, {}, tuple(_finding(target, path, done.stdout) for path in inputs) or (_ended(done),))


def run(seconds: float, targets: tuple[str, ...] = TARGETS, keep: Path | None = None) -> list[Fuzzed]:
    """Fuzz the targets one after the other, each for its share of the time."""
    return [fuzz(target, seconds / len(targets), keep) for target in targets]


def _finding(target: str, path: Path, told: bytes) -> str:
    trace = _TRACE.search(told)
    why = trace[1].decode("utf-8", "replace")[:300] if trace else "it took too long or too much memory"
    data = base64.b64encode(path.read_bytes()[:_SHOWN]).decode("ascii")
    return f"{target}: {path.name.partition('-')[0]} {why} on base64 {data}"


def _ended(done: subprocess.CompletedProcess[bytes]) -> str:
    return f"ended with {done.returncode}: {done.stderr[-500:].decode('utf-8', 'replace')}"


def main() -> int:
    """Fuzz and report."""
    parser = argparse.ArgumentParser(description="coverage-guided fuzzing of everything that reads bytes from outside")
    parser.add_argument("--seconds", type=float, default=60, help="how long, all in all")
    parser.add_argument("--target", choices=TARGETS, action="append", help="only this; may be given more than once")
    parser.add_argument("--keep", type=Path, help="a folder for the inputs on which something fails")
    parser.add_argument("--json", action="store_true", help="one JSON document in place of lines")
    arguments = parser.parse_args()
    if not available():
        sys.stderr.write(f"{MISSING}\n")
        return 0
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    results = run(arguments.seconds, tuple(arguments.target or TARGETS), arguments.keep)
    if arguments.json:
        print(json.dumps({one.target: {**one.reached, "findings": list(one.findings)} for one in results}))
    for one in () if arguments.json else results:
        print(f"{one.target:20} {', '.join(f'{value} {what}' for what, value in one.reached.items())}")
        for finding in one.findings:
            print(f"    {finding}")
    return 1 if any(one.findings for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())
