"""What is told about an AGENTS.md beside a CLAUDE.md that a proposal creates."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.test_targets import Talk, make_project
from support.in_process_daemon import InProcessDaemon
from support.program import Program
from support.session import CHATTER

AGENTS = {"AGENTS.md": "# Agents\n\n- Be brief.\n"}
SAID = "Put this into CLAUDE.md: always sort the imports by name."


VERSIONS = pytest.mark.parametrize("version", ["2.1.197", "2.1.330"])  # the first loads no AGENTS.md at all


@VERSIONS
def test_a_later_proposal_is_named(home: Path, tmp_path: Path, daemon: InProcessDaemon, version: str) -> None:
    project = make_project(home, tmp_path, **{"README.md": "A program.\n"})
    Talk(home, project.root, version).type(SAID, *CHATTER[:4])
    (one,) = daemon.run()
    skilld = Program(home)
    assert "AGENTS.md" not in skilld.run("show", one.id).stdout
    project.commit("Tell other agents", AGENTS)
    told = "Claude Code does not load AGENTS.md beside CLAUDE.md, unless CLAUDE.md has the line @AGENTS.md"
    assert f"  note: {told}\n" in skilld.run("show", one.id).stdout
    assert skilld.run("accept", one.id).stdout.startswith(f"Note: {told}.\n{one.id} accepted: ")


def test_an_imported_proposal_is_named(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    project = make_project(home, tmp_path, **AGENTS)
    Talk(home, project.root, "2.1.197").type(SAID, *CHATTER[:4])
    (one,) = daemon.run()
    skilld = Program(home)
    told = "it imports AGENTS.md, which Claude Code would not load beside CLAUDE.md otherwise"
    assert f"  note: {told}\n" in skilld.run("show", one.id).stdout
    done = Program(home).run("accept", "--all-repositories", "--yes").stdout
    assert done.startswith(f"Note: {told}.\n{one.id} accepted: ")


@VERSIONS
def test_moved_to_one_that_the_used_version_does_not_load(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, version: str
) -> None:
    project = make_project(home, tmp_path, **{"README.md": "A program.\n"})
    Talk(home, project.root, version).type(SAID, *CHATTER[:4])
    (one,) = daemon.run()
    project.commit("Tell other agents", AGENTS)
    result = Program(home).run("accept", one.id, "--to", str(project.root / "AGENTS.md"))
    assert result.returncode == 0
    warned = "skilld: None of the agents you use in this project loads AGENTS.md on its own\n"
    assert result.stderr == (warned if version == "2.1.197" else "")
