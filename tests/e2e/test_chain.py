"""From typed words to a commit, and from plain git back to a decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.live_project import Project
from support.program import Program
from support.session import CHATTER, LASTING, LASTING_TOO, Session
from support.waiting import wait_in_time


def _open(program: Program) -> list[dict[str, Any]]:
    return list(program.json("proposals"))


def _teach(home: Path, project: Project) -> Session:
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, "ok, looks good", LASTING_TOO, "thanks, go on")
    return session


def test_a_correction_becomes_a_quoted_commit_and_nothing_else_changes(
    home: Path, project: Project, program: Program
) -> None:
    before = project.fingerprint()
    with program.daemon():
        _teach(home, project)
        (proposal,) = wait_in_time("a proposal", lambda: _open(program), 5, every=0.2, context=program.output)

    assert proposal["state"] == "open"
    assert proposal["skill"] == "release-notes"
    assert [evidence["quote"] for evidence in proposal["evidence"]] == [LASTING, LASTING_TOO]
    assert proposal["commit"] == project.git("rev-parse", "skilld/staging")
    assert project.git("log", "-1", "--format=%P", "skilld/staging") == project.skill_commit
    assert project.git("log", "-1", "--format=%an <%ae>", "skilld/staging") == "skilld <skilld@localhost>"
    assert project.git("diff", "--name-only", "skilld/staging~1", "skilld/staging") == proposal["relpath"]
    assert "ticket number first" in project.git("show", f"skilld/staging:{proposal['relpath']}")
    assert project.fingerprint() == before
    assert project.git("fsck", "--strict") == ""


def test_merge_accepts_and_revert_reverts(home: Path, project: Project, program: Program) -> None:
    _first_look(program)
    _teach(home, project)
    assert "1 open proposal" in program.run("run", "--once").stdout
    project.git("merge", "--no-edit", "skilld/staging")
    assert [p["state"] for p in program.json("proposals", "--state", "all")] == ["accepted"]
    project.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert [p["state"] for p in program.json("proposals", "--state", "all")] == ["reverted"]


def test_accept_and_revert_by_command(home: Path, project: Project, program: Program) -> None:
    _first_look(program)
    _teach(home, project)
    program.run("run", "--once")
    (proposal,) = _open(program)
    done = program.run("accept", proposal["id"])
    assert (done.returncode, done.stderr) == (0, "")
    assert "ticket number first" in project.skill_path.read_text()
    assert project.git("status", "--porcelain") == ""
    assert project.git("log", "-1", "--format=%an/%cn") == "skilld/Ada Tester"
    assert program.run("revert", proposal["id"]).returncode == 0
    assert "ticket number first" not in project.skill_path.read_text()
    assert [p["state"] for p in program.json("proposals", "--state", "all")] == ["reverted"]


def test_accept_and_revert_say_which_commit_they_made_and_how_to_undo_it(
    home: Path, project: Project, program: Program
) -> None:
    _first_look(program)
    for said in (LASTING, LASTING_TOO, "From now on, always end the notes with the names of all contributors."):
        session = Session(home, project)
        session.use_skill()
        session.type("Write the release notes for 2.4.0", said, "ok, looks good", "thanks", "go on")
        program.run("run", "--once")
    first, second, third = (proposal["id"] for proposal in _open(program))
    told = program.run("accept", "--all").stdout
    commits = project.git("log", "-3", "--reverse", "--format=%h", "--abbrev=10").split()
    for name, commit in zip((first, second, third), commits, strict=True):
        branch = project.git("branch", "--show-current")
        assert f"Commit {commit} on {branch} in {project.root}. To undo it: skilld revert {name}\n" in told
    told = program.run("revert", second).stdout
    commit = project.git("log", "-1", "--format=%h", "--abbrev=10")
    assert f"Commit {commit} on " in told
    assert f". To undo it: skilld accept {second}\n" in told


def test_reject_drops_it_and_it_does_not_come_again(home: Path, project: Project, program: Program) -> None:
    _first_look(program)
    session = _teach(home, project)
    program.run("run", "--once")
    (proposal,) = _open(program)
    assert program.run("reject", proposal["id"], "--why", "not here").returncode == 0
    assert project.git("for-each-ref", "refs/heads/skilld", "refs/skilld") == ""
    session.type(LASTING, LASTING_TOO, "go on", "ok", "thanks")
    program.run("run", "--once")
    assert _open(program) == []


def test_chatter_costs_nothing(home: Path, project: Project, program: Program) -> None:
    _first_look(program)
    session = Session(home, project)
    session.use_skill()
    session.type(*CHATTER)
    assert "Judged 0 batches" in program.run("run", "--once").stdout
    status = program.json("status")
    assert status["batches"] == {"pending": 0, "done": 1, "parked": 0}
    assert status["agents"]["claude-code"]["turns"] == 5
    assert _open(program) == []


def test_what_was_said_before_the_first_start_is_left_alone_until_asked_for(
    home: Path, project: Project, program: Program
) -> None:
    _teach(home, project)
    assert "Judged 0 batches" in program.run("run", "--once").stdout
    assert program.json("status")["agents"]["claude-code"]["turns"] == 0
    assert "1 open proposal" in program.run("run", "--once", "--backfill", "7").stdout
    program.run("run", "--once", "--backfill", "7")
    assert len(_open(program)) == 1


def test_without_a_skill_a_lasting_word_is_kept_as_a_learning(home: Path, project: Project, program: Program) -> None:
    _first_look(program)
    session = Session(home, project)
    session.type("hello", LASTING, "ok", "thanks", "go on")
    program.run("run", "--once")
    assert _open(program) == []
    (learning,) = program.json("learnings")
    assert learning["quote"] == LASTING
    assert program.json("status")["learnings"] == 1


def test_paused_reads_and_queues_only(home: Path, project: Project, program: Program) -> None:
    _first_look(program)
    assert program.run("pause").returncode == 0
    _teach(home, project)
    program.run("run", "--once")
    status = program.json("status")
    assert status["paused"] is True
    assert status["batches"]["pending"] == 1
    assert program.run("resume").returncode == 0
    program.run("run", "--once")
    assert len(_open(program)) == 1


def test_a_fork_counts_its_copied_words_once(home: Path, project: Project, program: Program) -> None:
    _first_look(program)
    session = _teach(home, project)
    program.run("run", "--once")
    fork = session.path.with_name("fork.jsonl")
    fork.write_bytes(session.path.read_bytes().replace(session.path.stem.encode(), b"fork"))
    program.run("run", "--once")
    assert program.json("status")["agents"]["claude-code"]["turns"] == 5
    assert len(_open(program)) == 1


def _first_look(program: Program) -> None:
    """Start once before anything was said: later sessions are new then."""
    assert program.run("run", "--once").returncode == 0
