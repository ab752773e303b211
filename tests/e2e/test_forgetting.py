"""What was rejected can be forgotten: no file of skilld's keeps its words, and git's copy goes with one command."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from e2e.test_targets import make_project, teach
from support.program import Program

WORDS = b"zanzibar"
RULE = "From now on, always call the port Zanzibar in this project."


def _holders(home: Path) -> list[str]:
    files = [file for file in (home / ".local").rglob("*") if file.is_file()]
    return sorted(file.name for file in files if WORDS in file.read_bytes().lower())


def _keep_copy(home: Path) -> None:
    """Copy the database as an upgrade of the schema does."""
    [database] = (home / ".local").rglob("skilld.db")
    database.with_name("skilld.db.before-3").write_bytes(database.read_bytes())


def _objects_with_words(root: Path) -> int:
    listed = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=root, capture_output=True, check=True
    ).stdout
    return listed.lower().count(WORDS)


def test_the_words_of_a_rejected_proposal_can_be_forgotten(home: Path, tmp_path: Path, program: Program) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": "# Probe\n\n- Keep functions short.\n"})
    program.run("run", "--once")
    [made] = teach(home, project, program, RULE)
    refused = program.run("learnings", "--forget", made["id"])
    assert (refused.returncode, "open, so it is still needed" in refused.stderr) == (5, True)
    assert program.run("reject", made["id"], "--why", "zanzibar is a codename").returncode == 0
    program.json("learnings", "--search", "zanzibar")  # fills the index
    assert "skilld.db" in _holders(home)
    _keep_copy(home)
    assert _objects_with_words(project.root) > 0
    told = program.run("learnings", "--forget", made["id"])
    assert (told.returncode, told.stderr) == (0, "")
    assert _holders(home) == []
    command = next(line for line in told.stdout.splitlines() if "gc --prune=now" in line)
    subprocess.run(shlex.split(command), check=True, capture_output=True)
    assert _objects_with_words(project.root) == 0
    assert program.json("show", made["id"])["state"] == "rejected"
    again = program.run("restore", made["id"])
    assert (again.returncode, "its words were forgotten" in again.stderr) == (1, True)
    assert program.run("learnings", "--forget", made["id"]).returncode == 0, "it can be repeated, as after a kill"
    assert program.run("run", "--once").returncode == 0


def test_a_forgotten_learning_is_in_no_file(home: Path, tmp_path: Path, program: Program) -> None:
    project = make_project(home, tmp_path)
    program.run("run", "--once")
    assert teach(home, project, program, RULE) == []
    [kept] = program.json("learnings")
    assert "skilld.db" in _holders(home)
    _keep_copy(home)
    assert program.run("learnings", "--forget", kept["id"]).returncode == 0
    assert _holders(home) == []
