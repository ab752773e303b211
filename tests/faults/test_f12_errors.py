"""F-12: file systems that refuse. What fails is tried again later, and everything else goes on."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from faults import apart
from faults.clock import Clock
from support.claude_lines import typed, write
from support.live_project import Project
from support.program import Program
from support.session import LASTING, LASTING_TOO, Session
from support.waiting import wait_for

READ_ONLY = "mount --bind {folder} {folder}; mount -o remount,bind,ro {folder}"


def _teach(home: Path, project: Project, lasting: str) -> None:
    session = Session(home, project)
    session.use_skill()
    session.type("Let us begin", lasting, "ok", "thanks", "go on")


@pytest.mark.slow
def test_f12_a_repository_that_became_read_only(home: Path, project: Project, program: Program, tmp_path: Path) -> None:
    other = Project(tmp_path / "other", home, ".claude/skills")
    read_only = READ_ONLY.format(folder=project.root / ".git")
    apart.needs(READ_ONLY.format(folder="/tmp"))  # noqa: S108 - a mount nobody else sees
    before = project.fingerprint()
    clock = Clock(program)
    with apart.daemon(program, read_only):
        _teach(home, project, LASTING)
        status = wait_for("a failed try", lambda: program.json("status")["last_error"], every=0.5)
        assert "Read-only file system" in status["message"]
        _teach(home, other, LASTING_TOO)
        (proposal,) = wait_for("the other", lambda: program.json("proposals"), every=0.5, context=program.output)
    assert proposal["repo"] == str(other.root)
    assert program.json("status")["batches"] == {"pending": 1, "done": 1, "parked": 0}
    clock.pass_by(3600)
    program.run("run", "--once")
    assert sorted(p["repo"] for p in program.json("proposals")) == sorted([str(project.root), str(other.root)])
    assert project.fingerprint() == before


def _can_inject() -> bool:
    if shutil.which("strace") is None:
        return False
    probe = ["strace", "-o", "/dev/null", "-P", "/dev/null", "-e", "inject=pread64:error=EIO", "true"]
    return subprocess.run(probe, check=False, capture_output=True).returncode == 0


@pytest.mark.slow
def test_f12_a_transcript_on_a_failing_disk_is_read_when_it_can_be(home: Path, program: Program) -> None:
    if not _can_inject():
        pytest.skip("strace is not here or may not trace: nothing makes reading fail")
    program.run("run", "--once")
    bad, good = (home / f".claude/projects/-p/{name}.jsonl" for name in ("bad", "good"))
    bad.parent.mkdir(parents=True)
    bad.write_bytes(typed("t1", session="bad"))
    good.write_bytes(typed("u1", session="good"))
    trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", str(bad), "-e", "inject=pread64:error=EIO"]
    done = subprocess.run(
        [*trace, *apart.SKILLD, "run", "--once"], cwd=home, env=program.environment, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert program.json("status")["agents"]["claude-code"]["turns"] == 1
    bad.write_bytes(bad.read_bytes() + typed("t2", session="bad"))
    program.run("run", "--once")
    assert program.json("status")["agents"]["claude-code"]["turns"] == 3


def test_f12_a_folder_that_may_not_be_entered_stops_nothing(home: Path, program: Program) -> None:
    as_nobody_special = ["unshare", "--user", "--map-user=1000"]  # root may enter every folder
    if subprocess.run([*as_nobody_special, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this system has no user namespaces to give up root's rights in")

    def look() -> int:
        command = [*as_nobody_special, *apart.SKILLD, "run", "--once"]
        done = subprocess.run(command, cwd=home, env=program.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return int(program.json("status")["agents"]["claude-code"]["turns"])

    assert program.run("run", "--once").returncode == 0
    for name in ("shut", "open"):
        write(home / f".claude/projects/{name}/s.jsonl", typed(name, session=name))
    (home / ".claude/projects/shut").chmod(0)
    assert look() == 1
    (home / ".claude/projects/shut").chmod(0o700)
    assert look() == 2
