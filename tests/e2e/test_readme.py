"""The sample in README.md is what `skilld demo` prints, shortened."""

from __future__ import annotations

import re
from pathlib import Path

from support.program import Program

_ID = re.compile(r"\b[0-9a-f]{8}\b")


def test_the_sample_is_what_the_demo_prints(home: Path) -> None:
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    command, *sample = page.split("```\n")[1].splitlines()
    assert command == "$ skilld demo"
    printed = [_ID.sub("ID", line) for line in Program(home).run("demo").stdout.splitlines()]
    places = [printed.index(_ID.sub("ID", line)) for line in sample if line]
    assert len(places) > 10
    assert places == sorted(places)
