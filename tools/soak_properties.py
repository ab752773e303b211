"""The properties of the tests, with a hundred times the examples that `make test` gives them, and others every time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.soak_report import Part, must

# Those of `make test` that take HYPOTHESIS_EXAMPLES; what is guided by coverage there is a part of its own.
FILES = (
    "tests/unit/test_edit_properties.py",
    "tests/unit/test_merge_properties.py",
    "tests/security/test_fuzz.py",
    "tests/security/test_forged_wrappers.py",
    "tests/e2e/test_machines.py",
)
_FEW, _MANY = 500, 20_000
_SHORT = 300.0  # seconds; a soak that has less of them for this part takes few examples
_LINES = 12


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Try new examples of all properties, round by round."""
    part = Part("properties", seconds)
    examples = _FEW if seconds < _SHORT else _MANY
    number = 0
    while part.goes_on:
        _round(f"{seed + number}/{examples}", folder, part)
        number += 1
    return part


def again(case: str, folder: Path) -> Part:
    """Try the examples of one round again: its seed and how many."""
    part = Part("properties")
    _round(case, folder, part)
    return part


def _round(case: str, folder: Path, part: Part) -> None:
    seed, _, examples = case.partition("/")
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-k", "not guided", f"--hypothesis-seed={seed}"]
    environment = {**os.environ, "HYPOTHESIS_EXAMPLES": examples, "HYPOTHESIS_STORAGE_DIRECTORY": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *FILES],
        cwd=Path(__file__).parents[1],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    part.count("rounds")
    part.count("examples of each", int(examples))
    with part.finding(case):
        must(holds=done.returncode == 0, what=" ".join(done.stdout.splitlines()[-_LINES:]) + done.stderr)
