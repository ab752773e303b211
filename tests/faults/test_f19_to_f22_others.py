"""F-19 to F-22: transcripts that go, ten thousand that are there already, and people who change what we rest on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from faults import apart
from faults.model import teach
from support.claude_lines import BEFORE, prompt_line
from support.live_project import Project
from support.program import Program
from support.session import LASTING, LASTING_2

GIB = 1 << 30
MEMORY = 60_000_000  # bytes


@pytest.mark.slow
def test_f19_a_transcript_moved_before_its_batch_was_judged(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    program.run("pause")
    session = teach(home, project)
    program.run("run", "--once")
    folder = session.path.parent
    folder.rename(folder.with_name("-renamed"))
    program.run("resume")
    program.run("run", "--once")
    assert [p["evidence"][0]["quote"] for p in program.json("proposals")] == [LASTING]


@pytest.mark.parametrize(("files", "huge"), [(1000, 1), pytest.param(10_000, 5, marks=pytest.mark.slow)])
def test_f20_a_backlog_is_left_alone_at_the_first_start(home: Path, program: Program, files: int, huge: int) -> None:
    for number in range(files):
        folder = home / f".claude/projects/p{number % 50}"
        if number < 50:
            folder.mkdir(parents=True)
        (folder / f"{number}.jsonl").write_bytes(prompt_line(f"t{number}", session=str(number), at=BEFORE))
    for number in range(huge):  # a hole in a file takes no room on disk, and is there to be read
        path = home / f".claude/projects/p0/huge{number}.jsonl"
        path.write_bytes(prompt_line(f"h{number}", at=BEFORE))
        os.truncate(path, GIB)
    with apart.daemon(program) as daemon:
        facts = Path(f"/proc/{daemon.pid}/status")
        if facts.exists():  # on Linux
            (highest,) = (line.split()[1] for line in facts.read_text().splitlines() if line.startswith("VmHWM"))
            assert int(highest) * 1024 < MEMORY
    status = program.json("status")
    assert status["agents"]["claude-code"]["files"] == files + huge
    assert status["agents"]["claude-code"]["turns"] == 0
    assert status["batches"] == {"pending": 0, "done": 0, "parked": 0}


def test_f21_a_concurrent_edit_by_the_person_is_never_lost(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    teach(home, project)
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    mine = project.skill_path.read_text().replace("- No marketing words.", "- Marketing words, by all means!")
    project.skill_path.write_text(mine)
    result = program.run("accept", proposal["id"])
    assert result.returncode == 5
    assert project.skill_path.read_text() == mine
    project.git("commit", "--quiet", "--all", "--message", "My own words")
    assert program.run("accept", proposal["id"]).returncode == 0
    now = project.skill_path.read_text().splitlines()
    assert [line for line in now if "ticket number" not in line] == mine.splitlines()
    assert len(now) == len(mine.splitlines()) + 1
    assert project.git("status", "--porcelain") == ""
    assert not (project.root / ".git/CHERRY_PICK_HEAD").exists()


@pytest.mark.slow
def test_f22_a_branch_the_person_deletes_or_moves(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    teach(home, project)
    program.run("run", "--once")
    (first,) = program.json("proposals")
    project.git("update-ref", "-d", "refs/heads/skilld/staging")
    teach(home, project, LASTING_2)
    program.run("run", "--once")
    (second,) = [p for p in program.json("proposals", "--state", "all") if p["id"] != first["id"]]
    assert project.git("rev-parse", "skilld/staging") == second["commit"]
    assert project.git("rev-list", "--count", f"{project.skill_commit}..skilld/staging") == "1"
    project.git("branch", "--force", "skilld/staging", first["commit"])
    teach(home, project, "Always sign the release notes with the name of the editor.")
    program.run("run", "--once")
    third = project.git("log", "--format=%(trailers:key=Skilld-Proposal,valueonly)", "skilld/staging").split()
    assert len(third) == len(set(third))
    assert first["id"] in third
    assert project.git("fsck", "--strict", "--no-dangling") == ""


@pytest.mark.slow
def test_f22_lost_refs_are_restored_only_once(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    teach(home, project)
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    shutil.rmtree(project.root / ".git/refs/skilld")
    program.run("run", "--once")
    assert [p["id"] for p in program.json("proposals")] == [proposal["id"]]
    assert project.git("rev-list", "--count", f"{project.skill_commit}..skilld/staging") == "1"
