"""A project that opts out is not judged, and one with an invalid opt-out is left alone and says so."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from skilld.cli.doctor import _check_project
from support.live_project import Project
from support.program import Program
from support.session import LASTING, Session
from support.waiting import wait_for


@pytest.mark.parametrize(
    ("text", "learnings", "told"),
    [
        ("enabled = false\n", 0, None),
        ("never = ['release-notes']\n", 1, None),
        ("enabled = maybe\n", 0, "it is not valid TOML"),
    ],
)
def test_a_project_can_opt_out(
    home: Path, project: Project, program: Program, *, text: str, learnings: int, told: str | None
) -> None:
    program.run("run", "--once")
    (project.root / ".skilld.toml").write_text(text)
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, "ok, looks good", "thanks", "go on")
    assert program.run("run", "--once").returncode == 0
    assert program.json("proposals", "--state", "all") == []
    assert len(program.json("learnings")) == learnings
    assert project.git("for-each-ref", "refs/heads/skilld", "refs/skilld") == ""
    status = program.json("status")
    is_whole = text == "enabled = false\n"
    judged = 0 if is_whole or told else 5
    assert (status["turns"]["opted_out"], status["turns"]["judged"]) == (5 * is_whole, judged)
    said = program.run("doctor").stdout
    assert ("5 skipped (their project opted out)" in said) is is_whole
    assert "nothing sounded like a lasting instruction" not in said
    assert ("5 skipped because their project opted out" in program.run("status").stdout) is is_whole
    if told:
        remedy = "orrect that file; skilld then tries again on its own"
        failed = [line for line in program.run("status").stdout.splitlines() if "failed " in line and told in line]
        assert [line.endswith(remedy) for line in failed] == [True]
        checks = {check["name"]: check["remedy"] for check in program.json("doctor")["checks"]}
        assert (checks["batches"], checks["repositories"]) == (f"C{remedy}", f"C{remedy}")
    error = status["last_error"]
    assert (told in error["message"]) if told else error is None


@pytest.mark.parametrize(("folder", "used"), [(".", True), (".claude", True), (".claude", False)])
def test_a_repaired_opt_out_file_releases_its_turns_without_retry(
    home: Path, project: Project, program: Program, folder: str, *, used: bool
) -> None:
    """Also one between the session's folder and the skill that is used, or only spoken of."""
    program.run("run", "--once")
    config = project.root / folder / ".skilld.toml"
    config.write_text("enabled = maybe\n")
    session = Session(home, project)
    if used:
        session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, "ok, looks good", "thanks", "go on")
    program.run("run", "--once")
    assert (program.json("proposals", "--state", "all"), program.json("learnings")) == ([], [])
    config.write_text("enabled = true\n")
    program.run("run", "--once")  # there is no CLAUDE.md yet, so that words for it wait
    assert (len(program.json("proposals")), len(program.json("learnings"))) == (used, not used)


def test_a_session_on_a_branch_that_lacks_it_is_left_alone_too(home: Path, project: Project, program: Program) -> None:
    program.run("run", "--once")
    for command in (
        ("branch", "feature"),
        ("add", "--force", "--", ".skilld.toml"),
        ("commit", "--quiet", "--message", "leave this alone"),
        ("checkout", "--quiet", "feature"),
    ):
        (project.root / ".skilld.toml").write_text("enabled = false\n")
        project.git(*command)
    assert not (project.root / ".skilld.toml").exists()
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, "ok, looks good", "thanks", "go on")
    with program.daemon():
        wait_for("the batch to be judged", lambda: program.json("status")["batches"]["done"] == 1)
        assert LASTING.encode() not in b"".join(file.read_bytes() for file in (home / ".local").rglob("*.db*"))
    assert (program.json("proposals", "--state", "all"), program.json("learnings")) == ([], [])
    assert project.git("for-each-ref", "refs/heads/skilld", "refs/skilld") == ""


def test_the_skills_of_a_project_that_opts_out_are_not_offered_and_their_uses_not_kept(
    home: Path, project: Project, program: Program
) -> None:
    program.run("run", "--once")
    (project.root / ".skilld.toml").write_text("enabled = false\n")
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, "ok, looks good", "thanks", "go on")
    program.run("run", "--once")
    asked = [("skills", "list"), ("suggest", "--project", str(project.root)), ("recommend", "write the release notes")]
    for words in asked:
        assert "release-notes" not in program.run(*words).stdout
    with sqlite3.connect(home / ".local/state/skilld/skilld.db") as store:
        assert store.execute("SELECT count(*) FROM skill_uses").fetchone() == (0,)
    (project.root / ".skilld.toml").unlink()
    for words in asked[:2]:
        assert "release-notes" in program.run(*words).stdout


@pytest.mark.parametrize(
    ("text", "verdict", "told"),
    [
        ("never = deploy\n", "warn", "it is not valid TOML"),
        ("nevr = ['deploy']\n", "warn", "nevr"),
        ("enabled = false\n", "ok", "opts out of skilld"),
        ("never = ['deploy']\nignore = ['docs/*']\n", "ok", "sets never: deploy; ignore: docs/*"),
        ("targets = ['skill']\n", "ok", "sets targets: skill"),
    ],
)
def test_doctor_says_what_a_project_restricts_before_anything_was_skipped(
    home: Path, project: Project, monkeypatch: pytest.MonkeyPatch, *, text: str, verdict: str, told: str
) -> None:
    del home
    (project.root / ".skilld.toml").write_text(text)
    monkeypatch.chdir(project.root)
    (check,) = _check_project()
    assert (check.verdict.value, told in check.detail) == (verdict, True)
    (project.root / ".skilld.toml").unlink()
    assert _check_project() == []
