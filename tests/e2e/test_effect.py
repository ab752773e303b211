"""Whether rules are followed: repeats of a loaded rule are counted."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from e2e.test_targets import Talk, make_project, teach
from support.live_project import Project
from support.program import Program
from support.session import CHATTER, Session
from support.waiting import wait_for

PNPM = "You ran npm again. Use pnpm here, never npm!"
RULE = "- Use pnpm, never npm, in this repository.\n"


@pytest.fixture
def program(program: Program) -> Program:
    """Return skilld with runs of its own, which check the rules."""
    program.is_started = True
    return program


def test_repeating_a_rule_counts_for_the_line_that_has_it(home: Path, tmp_path: Path, program: Program) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": f"# Probe\n\n{RULE}- Keep functions short.\n"})
    program.run("run", "--once")
    teach(home, project, program, PNPM)
    document = program.json("effect")
    (rule,) = document["rules"]
    assert (rule["path"], rule["line"], rule["text"]) == (str(project.root / "CLAUDE.md"), 3, RULE[2:].strip())
    assert (rule["origin"], rule["state"]) == ("person", "unknown")
    assert (rule["before"]["sessions"], rule["after"]["sessions"], rule["after"]["repeats"]) == (0, 1, 1)
    assert [evidence["quote"] for evidence in rule["evidence"]] == [PNPM]
    assert program.json("effect", f"{project.root}/CLAUDE.md:3") == document
    assert program.json("effect", f"{project.root}/CLAUDE.md:4")["rules"] == []
    output = program.run("effect", str(project.root)).stdout
    assert f"{rule['id']}  repeated in 1 of 1 session where it applied" in output
    assert "A rule applies in a session that loads its file and involves the kind of work it is about" in output
    for which in ("none", "no/such/file.md", "no.md:3", ""):
        for form in ([], ["--json"]):
            unknown = program.run("effect", which, *form)
            assert (unknown.returncode, unknown.stdout) == (1, "")
            assert "No such rule, skill or file" in unknown.stderr
    (project.root / "empty.md").touch()
    assert program.json("effect", str(project.root / "empty.md"))["rules"] == [], "known, but without a rule"
    assert program.json("effect") == document
    (check,) = [check for check in program.json("doctor")["checks"] if check["name"] == "repeats"]
    assert check["detail"] == f"rules you had to repeat: {project.root}/CLAUDE.md:3 (in 1 session)"


def test_talk_about_a_rule_and_words_for_untouched_files_are_no_repeats(
    home: Path, tmp_path: Path, program: Program
) -> None:
    scoped = f'---\npaths: ["web/**"]\n---\n\n{RULE}'
    project = make_project(home, tmp_path, **{"CLAUDE.md": f"# Probe\n\n{RULE}", ".claude/rules/web.md": scoped})
    program.run("run", "--once")
    teach(home, project, program, "What does pnpm do that npm does not?", "Tom said that he never uses pnpm but npm.")
    assert program.json("effect")["rules"] == []
    teach(home, project, program, PNPM)
    assert [Path(rule["path"]).name for rule in program.json("effect")["rules"]] == ["CLAUDE.md"]


def test_statements_before_the_rule_are_counted_separately(home: Path, tmp_path: Path, program: Program) -> None:
    """The transcript was there before skilld: its own times hold, and they are older than the file."""
    project = make_project(home, tmp_path)
    Talk(home, project.root, at="2026-11-01T10:00:00.000Z").type(PNPM, *CHATTER)
    (project.root / "CLAUDE.md").write_text(RULE)
    program.run("run", "--once")
    (rule,) = program.json("effect")["rules"]
    assert (rule["before"]["repeats"], rule["after"]["sessions"], rule["evidence"]) == (1, 0, [])
    assert "repeats" not in {check["name"] for check in program.json("doctor")["checks"]}


def test_a_rule_added_to_a_skill_by_a_proposal_is_tracked(home: Path, project: Project, program: Program) -> None:
    """Y8: nothing is said to go well where it had to be said again."""
    program.run("run", "--once")
    lasting = "From now on, always put the ticket number first in each entry."
    for words in (lasting, "The ticket number is missing again! It comes first in each entry."):
        session = Session(home, project)
        session.use_skill()
        session.type(words, *CHATTER[:4])
        program.run("run", "--once")
        _wait_a_second()
        for proposal in program.json("proposals"):
            assert program.run("accept", proposal["id"]).returncode == 0
    (rule,) = program.json("effect", "release-notes")["rules"]
    assert (rule["origin"], rule["state"], rule["path"]) == ("proposal", "unknown", str(project.skill_path))
    assert (rule["before"]["repeats"], rule["after"]["repeats"]) == (1, 1)
    (row,) = program.json("skills", "list")
    assert row["success_rate"] == 0.0
    assert "went well 0 of 2 times" in program.run("skills", "list").stdout
    assert program.run("effect", "nothing-like-it").returncode == 1
    (proposal, *_) = program.json("proposals", "--state", "accepted")
    (of_proposal,) = program.json("effect", proposal["id"])["rules"]
    assert (of_proposal["id"], of_proposal["text"]) == (rule["id"], rule["text"])


def test_a_single_run_reads_old_transcripts_too(home: Path, tmp_path: Path, program: Program) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": RULE})
    talk = Talk(home, project.root)
    talk.type(PNPM, *CHATTER)
    os.utime(talk.path, (1_795_000_000, 1_795_000_000))
    program.run("run", "--once")
    assert _read_sessions(home) == [talk.path.stem]
    talk.path.unlink()  # as its agent does after a month
    (rule,) = program.json("effect")["rules"]
    assert (rule["text"], rule["before"]["sessions"] + rule["after"]["sessions"]) == (RULE[2:].strip(), 1)


def _wait_a_second() -> None:
    """Wait for a later second than all that was said has: git counts whole ones, and `Talk` is one ahead."""
    said = int(time.time()) + 1
    wait_for("a later second", lambda: int(time.time()) > said)


def _read_sessions(home: Path) -> list[str]:
    with closing(sqlite3.connect(home / ".local/state/skilld/skilld.db")) as db:
        return [row[0] for row in db.execute("SELECT session_id FROM past_sessions WHERE session_id != ''")]


def test_a_rule_broken_after_acceptance_is_proposed_in_clearer_words(
    home: Path, tmp_path: Path, program: Program
) -> None:
    """One repeat, one proposal, no second one in the month, and revert works."""
    project = make_project(home, tmp_path, **{"CLAUDE.md": "# Probe\n\n- Keep functions short.\n"})
    program.run("run", "--once")
    (brought,) = teach(home, project, program, "From now on, always use pnpm, never npm, in this repository.")
    _wait_a_second()
    assert program.run("accept", brought["id"]).returncode == 0
    accepted = (project.root / "CLAUDE.md").read_text()
    broken = "You ran npm again. Use pnpm for the scripts as well, never npm!"
    teach(home, project, program, broken)
    (rule,) = program.json("effect")["rules"]
    assert (rule["after"]["repeats"], rule["remedy"]["kind"], rule["remedy"]["proposal"]) == (1, "sharpen", None)
    assert "State the rule more clearly (skilld run will propose this)" in program.run("effect").stdout

    told = program.run("run", "--once").stdout
    (one,) = program.json("proposals")
    assert ("Set this in bold: " in told, f"  To review it: skilld review {one['id']}\n" in told) == (
        True,
        True,
    ), told
    assert program.run("run", "--once").stdout == ""
    assert ([evidence["quote"] for evidence in one["evidence"]], one["kind"]) == ([broken], "correction")
    (rule,) = program.json("effect", rule["id"])["rules"]
    assert (rule["remedy"]["kind"], rule["remedy"]["proposal"], rule["remedy"]["state"]) == (
        "sharpen",
        one["id"],
        "open",
    )
    assert f"proposed as {one['id']}, open" in program.run("effect").stdout
    teach(home, project, program, "npm again? I said pnpm!")
    program.run("effect")
    program.run("run", "--once")
    assert [proposal["id"] for proposal in program.json("proposals")] == [one["id"]]

    assert program.run("accept", one["id"]).returncode == 0
    line = "- Always use pnpm, never npm, in this repository."
    sharper = accepted.replace(line, "- **Always use pnpm, never npm, in this repository.**")
    assert (project.root / "CLAUDE.md").read_text() == sharper
    assert program.run("revert", one["id"]).returncode == 0
    assert (project.root / "CLAUDE.md").read_text() == accepted


@pytest.mark.parametrize("later", ["forget that", "Forget the pnpm rule.", ""])
def test_a_rule_that_was_taken_back_is_not_said_more_clearly(
    home: Path, tmp_path: Path, program: Program, later: str
) -> None:
    """Neither if the person lets go of it in the session in which they repeated it, nor while its removal is open."""
    project = make_project(home, tmp_path, **{"CLAUDE.md": "# Probe\n\n- Keep functions short.\n"})
    program.run("run", "--once")
    (brought,) = teach(home, project, program, "From now on, always use pnpm, never npm, in this repository.")
    _wait_a_second()
    program.run("accept", brought["id"])
    teach(
        home,
        project,
        program,
        "You ran npm again. Use pnpm for the scripts as well, never npm!",
        *filter(None, [later]),
    )
    if not later:
        _wait_a_second()
        Talk(home, project.root).type("Forget the pnpm rule.", *CHATTER[:4])
        program.run("run", "--once")
    (rule,) = program.json("effect")["rules"]
    assert rule["remedy"] is None
    assert "State the rule" not in program.run("effect").stdout
    program.run("run", "--once")
    assert [one["summary"] for one in program.json("proposals")] == (
        [] if later else ["Remove the rule: Always use pnpm, never npm, in this repository."]
    )
