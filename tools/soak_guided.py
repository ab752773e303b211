"""Bytes that find their own way into every branch: the coverage-guided fuzzer (tools/fuzz.py) as a part of the soak."""

from __future__ import annotations

import base64
from pathlib import Path

from tools import fuzz
from tools.fuzz_targets import TARGETS
from tools.soak_report import Part, must

_INPUT = " on base64 "  # what tools/fuzz.py writes before the input that failed


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Fuzz every target for its share of the time; the fuzzer draws its own seed."""
    del seed, folder
    part = Part("guided", seconds)
    if not fuzz.available():
        part.count("passed over: no fuzzer for this platform")
        return part
    for result in fuzz.run(seconds):
        part.count("inputs", result.reached.get("inputs", 0))
        part.count("branches", result.reached.get("edges", 0))
        for finding in result.findings:
            why, _, data = finding.partition(_INPUT)
            with part.finding(f"{result.target} {data}"):
                must(holds=False, what=why)
    return part


def again(case: str, folder: Path) -> Part:
    """Give a target one input again: its name and the input as base64."""
    del folder
    part = Part("guided")
    target, _, data = case.partition(" ")
    with part.finding(case):
        TARGETS[target].run(base64.b64decode(data))
    return part
