"""From typed words to a commit, and from plain git back to a decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.live_project import Project
from support.program import Program
from support.session import LASTING, LASTING_2, Session
from support.waiting import wait_in_time


def _open_proposals(program: Program) -> list[dict[str, Any]]:
    return list(program.json("proposals"))


def _teach(home: Path, project: Project) -> Session:
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, "ok, looks good", LASTING_2, "thanks, go on")
    return session


def test_a_correction_becomes_a_quoted_commit_and_nothing_else_changes(
    home: Path, project: Project, program: Program
) -> None:
    before = project.fingerprint()
    with program.daemon():
        _teach(home, project)
        (proposal,) = wait_in_time("a proposal", lambda: _open_proposals(program), 5, every=0.2, context=program.output)

    assert proposal["state"] == "open"
    assert proposal["skill"] == "release-notes"
    assert [evidence["quote"] for evidence in proposal["evidence"]] == [LASTING, LASTING_2]
    assert proposal["commit"] == project.git("rev-parse", "skilld/staging")
    assert project.git("log", "-1", "--format=%P", "skilld/staging") == project.skill_commit
    assert project.git("log", "-1", "--format=%an <%ae>", "skilld/staging") == "skilld <skilld@localhost>"
    assert project.git("diff", "--name-only", "skilld/staging~1", "skilld/staging") == proposal["relpath"]
    assert "ticket number first" in project.git("show", f"skilld/staging:{proposal['relpath']}")
    assert project.fingerprint() == before
    assert project.git("fsck", "--strict") == ""


def test_accept_and_revert_say_which_commit_they_made_and_how_to_undo_it(
    home: Path, project: Project, program: Program
) -> None:
    _run_once(program)
    for said in (LASTING, LASTING_2, "From now on, always end the notes with the names of all contributors."):
        session = Session(home, project)
        session.use_skill()
        session.type("Write the release notes for 2.4.0", said, "ok, looks good", "thanks", "go on")
        program.run("run", "--once")
    first, second, third = (proposal["id"] for proposal in _open_proposals(program))
    output = program.run("accept", "--all-repositories", "--yes").stdout
    commits = project.git("log", "-3", "--reverse", "--format=%h", "--abbrev=10").split()
    for name, commit in zip((first, second, third), commits, strict=True):
        branch = project.git("branch", "--show-current")
        assert f"Commit {commit} on {branch} in {project.root}. To undo it: skilld revert {name}\n" in output
    output = program.run("revert", second).stdout
    commit = project.git("log", "-1", "--format=%h", "--abbrev=10")
    assert f"Commit {commit} on " in output
    assert f". To undo it: skilld accept {second}\n" in output


def test_statements_before_the_first_start_wait_for_a_backfill(home: Path, project: Project, program: Program) -> None:
    _teach(home, project)
    assert "Judged 0 batches" in program.run("run", "--once").stdout
    assert program.json("status")["agents"]["claude-code"]["turns"] == 0
    assert "1 open proposal" in (first := program.run("run", "--once", "--backfill", "7").stdout)
    hint = "Sessions already judged are not judged again; to search them: skilld mine"
    assert hint not in first
    assert hint in program.run("run", "--once", "--backfill", "7").stdout
    assert len(_open_proposals(program)) == 1


def test_run_once_from_cron_prints_only_what_is_new(home: Path, project: Project, program: Program) -> None:
    assert "Judge        offline" in program.run("run", "--once").stdout, "the first time"
    assert program.run("run", "--once").stdout == ""
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING)
    said = program.run("run", "--once").stdout
    assert "Judged 0 batches." in said
    waits = "1 possible instruction is waiting: a session is judged once it has 5 messages, ends, or is idle for 10"
    assert waits in said
    assert "Judge        offline" not in said
    assert program.run("run", "--once").stdout == "", "still waiting"
    assert waits in program.run("run", "--once", "--backfill", "7").stdout
    session.type("ok", "thanks", "go on")
    assert "1 open proposal" in program.run("run", "--once").stdout
    assert program.run("run", "--once").stdout == ""
    daemon = next(one for one in program.json("doctor")["checks"] if one["name"] == "daemon")
    assert (daemon["verdict"], "`skilld run --once` last ran" in daemon["detail"]) == ("warn", True)


def _run_once(program: Program) -> None:
    """Start once before anything was said: later sessions are new then."""
    assert program.run("run", "--once").returncode == 0
