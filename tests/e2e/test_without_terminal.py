"""Commands that cron starts: what is wrong with their words is said before who may give them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.program import Program
from support.rows import for_each
from support.waiting import LIMIT


@for_each(
    ("given", "code", "said"),
    [
        ("accept ''", 1, "No such proposal"),
        ("reject ''", 1, "No such proposal"),
        ("review ''", 1, "No such proposal"),
        ("learnings propose", 2, "propose needs an ID"),
        ("learnings propose ''", 2, "propose needs an ID"),
        ("accept --all --part 1", 2, "--part cannot be combined with --all"),
        ("accept x --all", 2, "--all cannot be combined with IDs"),
        ("config set '' ''", 2, "No such setting"),
        ("config set budget.calls -1", 2, "must be a whole number of at least 0"),
        ("config unset nosuch", 2, "No such setting"),
        ("report --html /", 1, "it is not a regular file"),
        ("report --html /nosuch/x.html", 1, "No such file or directory"),
        ("accept x", 5, "Run it in a terminal: skilld accept x"),
        ("review", 5, "Run it in a terminal: skilld review"),
        ("learnings propose x", 5, "Run it in a terminal"),
        ("accept --all", 5, "Run it in a terminal: skilld accept --all"),
        ("config set budget.calls 5", 5, "Run it in a terminal: skilld config set budget.calls 5"),
        ("config unset budget.calls", 5, "Run it in a terminal"),
        ("report --html page.html", 5, "Run it in a terminal"),
    ],
)
def test_without_a_terminal_wrong_words_are_named_first_and_right_ones_refused(
    given: str, code: int, said: str, home: Path
) -> None:
    printed = home / "printed"
    with printed.open("wb") as output:
        found = Program(home).start(*shlex.split(given), output=output.fileno()).wait(LIMIT)  # as cron starts it
    assert found == code
    assert said in " ".join(printed.read_text().split())
    assert not (home / ".config/skilld/config.toml").exists()
    assert not (home / "page.html").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
def test_a_full_disk_has_a_remedy(home: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = ["bash", "-c", '"$0" -m skilld --help > /dev/full', sys.executable]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, "Free some space" in result.stderr) == (1, True)
