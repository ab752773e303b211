"""From the README to the first accepted proposal: the obstacles new users met."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.test_targets import Talk, make_project, teach
from skilld.cli.permissions import READ_ONLY
from support.live_project import Project
from support.program import Program
from support.session import LASTING, LASTING_2, Session

TWO = (LASTING, "Write the notes for 2.4.0", LASTING_2, "thanks", "ok go on")


@pytest.fixture
def two_parts(home: Path, project: Project, program: Program) -> str:
    """Return the id of an open proposal of two parts."""
    program.run("run", "--once")
    session = Session(home, project)
    session.use_skill()
    session.type(*TWO)
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    return str(proposal["id"])


def test_show_numbers_the_parts_and_one_can_be_accepted(program: Program, project: Project, two_parts: str) -> None:
    output = program.run("show", two_parts).stdout
    assert "  part 1  + Always put the ticket number first in each entry.\n" in output
    assert "  part 2  + Never mention internal hostnames in the release notes.\n" in output
    assert f"To accept only some parts: skilld accept {two_parts} --part 2\n" in output
    assert [part["added"] for part in program.json("show", two_parts)["parts"]] == [
        ["- Always put the ticket number first in each entry."],
        ["- Never mention internal hostnames in the release notes."],
    ]
    for wrong in (["--part", "3"], ["--part", "0"], ["--part", "x"], ["--part", "1", "--all"]):
        assert program.run("accept", two_parts, *wrong).returncode == 2
    result = program.run("accept", two_parts, "--part", "2")
    assert (result.returncode, result.stderr) == (0, "")
    text = project.skill_path.read_text()
    assert ("internal hostnames" in text, "ticket number" in text) == (True, False)
    (rest,) = program.json("proposals")
    assert rest["summary"] == "Always put the ticket number first in each entry."
    again = program.run("accept", two_parts, "--part", "1")
    assert again.returncode == 1
    open_as = f"the rest of it is still open as {rest['id']}"
    assert f"it is accepted; {open_as}\n  skilld show {rest['id']}\n" in again.stderr
    to_reject = f"\n  To reject the rest: skilld reject {rest['id']}\n"
    assert f"it is accepted; {open_as}{to_reject}" in program.run("reject", two_parts).stderr
    assert f"note: {open_as}\n" in program.run("show", two_parts).stdout
    assert f"{rest['id']}, skill release-notes" in program.run("review", "--plain", two_parts).stdout
    assert program.run("accept", rest["id"], "--part", "1").returncode == 0
    none_left = program.run("review", "--plain", two_parts)
    assert (none_left.returncode, "Nothing to review" in none_left.stderr) == (1, True)
    assert "ticket number" in project.skill_path.read_text()


def test_outside_the_repository_it_is_named_and_inside_it_is_not(
    program: Program, project: Project, two_parts: str
) -> None:
    assert f" on main in {project.root}. To undo it: " in program.run("accept", two_parts).stdout
    inside = Program(project.root, program.environment)
    inside.environment["HOME"] = str(program.home)
    result = inside.run("revert", two_parts)
    assert (result.returncode, str(project.root) in result.stdout, " on main. To undo it: " in result.stdout) == (
        0,
        False,
        True,
    )


def test_a_command_without_an_id_lists_the_choices(program: Program, two_parts: str) -> None:
    for verb in ("show", "reject", "accept"):
        result = program.run(verb)
        assert result.returncode == 2
        assert result.stderr.startswith(f"{two_parts}  release-notes  Always put the ticket number first")
        assert result.stderr.endswith(f"skilld: Which proposal? no ID was given\n  skilld {verb} {two_parts}\n")
    assert program.run("revert").stderr == "skilld: Nothing to revert: no proposals are accepted\n"
    assert program.run("restore").stderr == "skilld: Nothing to restore: no proposals are dropped or rejected\n"
    program.run("accept", two_parts)
    assert f"{two_parts}  release-notes [accepted]  " in program.run("revert").stderr
    assert "[accepted]" in program.run("show").stderr, "what was decided is all there is"


def _read_only_commands() -> list[list[str]]:
    """Return each verb that only reads, with what it must be given."""
    given = {
        "consolidate": ["--dry-run"],
        "eval": ["turns", "--data", "cases.jsonl"],
        "git": ["log"],
        "inspect": ["s.jsonl"],
        "recommend": ["write the notes"],
        "record": ["--stats"],
        "service install": ["--dry-run"],
        "show": ["3f2a"],
        "skills diff": ["x"],
        "skills export": ["x"],
        "skills history": ["x"],
        "skills share": ["x", "--to", "origin", "--dry-run"],
        "skills show": ["x"],
        "skills use": ["x"],
        "sync": ["--dry-run"],
        "team pr": ["--dry-run"],
        "trim": ["--dry-run"],
        "uninstall": ["--dry-run"],
        "unsync": ["--dry-run"],
        "why": ["a.md:1"],
    }
    left_out = {"demo", "mcp"}  # one works in a home of its own, the other waits for a client
    left_out |= {"mine", "skills eval", "skills test"}  # may ask a model: what that costs is kept
    return [[*verb.split(), *given.get(verb, [])] for verb in READ_ONLY if verb not in left_out]


def test_read_only_commands_create_nothing_on_a_fresh_machine(home: Path) -> None:
    program = Program(home)
    (home / "a.md").write_text("a\n")
    begin = "skilld has not run here yet. To begin: skilld run\n"
    assert program.run("proposals").stdout == f"No open proposals.\n{begin}"
    assert program.run("status").stdout.startswith(begin)
    before = sorted(home.rglob("*"))
    made = {}
    for verb in [*_read_only_commands(), ["accept", "--all"], ["revert", "3f2a"]]:
        result = program.run(*verb)
        assert "Traceback" not in result.stderr
        assert result.returncode != 3, result.stderr
        now = sorted(home.rglob("*"))
        if now != before:
            made[" ".join(verb)] = [path.name for path in now if path not in before]
            before = now
    assert made == {}


def test_context_takes_the_version_from_the_newest_transcript(home: Path, tmp_path: Path, program: Program) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": "- Be brief.\n"})
    Talk(home, project.root, version="2.1.277").type("hello")
    (context,) = program.json("context", "--project", str(project.root))["agents"].values()
    assert (context["version"], context["assumed"]) == ("2.1.277", False)
    assert "claude-code 2.1.277: " in program.run("context", "--project", str(project.root)).stdout


def test_two_contradicting_open_proposals_name_each_other(home: Path, tmp_path: Path, program: Program) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": "# Probe\n\n- Keep functions short.\n"})
    program.run("run", "--once")
    teach(home, project, program, "From now on, always use pnpm in this project.")
    second, first = teach(home, project, program, "Don't use pnpm any more.")
    for one, other in ((first, second), (second, first)):
        remark = f"the open proposal {other['id']} says the opposite: \u201c{other['summary']}\u201d"
        assert remark in program.run("show", one["id"]).stdout
        assert remark in program.run("proposals").stdout
    program.run("reject", first["id"])
    assert "says the opposite" not in program.run("show", second["id"]).stdout
