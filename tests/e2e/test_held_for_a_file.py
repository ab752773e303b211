"""Proposals that wait for the one that creates their file are free once it is decided on, wherever it went."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.test_contradictions import propose_rule
from e2e.test_targets import make_project
from support.in_process_daemon import InProcessDaemon
from support.program import Program

RULES = ("always sort the imports by name", "always write dates as 2026-01-05", "never use print for debugging")


@pytest.mark.parametrize("verb", [["accept", "--to"], ["reject"]])
def test_they_wait_for_the_next_proposal_that_creates_it_and_no_longer_for_the_first(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, verb: list[str]
) -> None:
    project = make_project(home, tmp_path, **{"README.md": "A program.\n"})
    for rule in RULES:
        propose_rule(home, project, daemon, f"Put this into CLAUDE.md: {rule}.")
    project.commit("Tell other agents", {"AGENTS.md": "# Agents\n\n- Be brief.\n"})
    skilld = Program(home)
    first, second, third = (one["id"] for one in skilld.json("proposals"))
    held = "on hold: the open proposal {} creates this file; decide on it first"
    assert [one["note"] for one in skilld.json("proposals")] == ["", held.format(first), held.format(first)]
    to = [str(project.root / "AGENTS.md")] if "--to" in verb else []
    assert skilld.run(*verb, *to, first).returncode == 0
    assert held.format(second) in skilld.run("accept", third).stderr
    assert [one["note"] for one in skilld.json("proposals")] == ["", held.format(second)]
    assert [skilld.run("accept", one).returncode for one in (second, third)] == [0, 0]
    text = (project.root / "CLAUDE.md").read_text()
    assert text.index("dates") < text.index("print")
