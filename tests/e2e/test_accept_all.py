"""`skilld accept --all` commits in the repository the person is in, and nowhere else unless told to."""

from __future__ import annotations

import os
import sys
import termios
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from e2e.test_targets import GUIDE, Talk, make_project
from skilld.cli import accept_all, common
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.program import Program
from support.session import CHATTER

RULE = "From now on, always sort the imports by name."
FURTHER = "From now on, always write the date as 2026-01-05."
OWN = "# Mine\n\n- Be brief.\n"


def _inside(project: Project, program: Program) -> Program:
    there = Program(project.root, program.environment)
    there.environment["HOME"] = str(program.home)
    return there


@pytest.fixture
def two(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> tuple[Project, Project]:
    """Return two projects: two sentences were said in the first, one in the second, and one is personal."""
    first, second = (make_project(home, tmp_path / name, **{"CLAUDE.md": GUIDE}) for name in ("first", "second"))
    (home / ".claude").mkdir()
    (home / ".claude/CLAUDE.md").write_text(OWN)
    for project, said in ((first, RULE), (first, FURTHER), (second, RULE), (second, "Call me Lena from now on.")):
        Talk(home, project.root).type(said, *CHATTER[:4])
        daemon.run()
    return first, second


def test_it_commits_here_and_to_the_personal_file_only(two: tuple[Project, Project], program: Program) -> None:
    first, second = two
    before = second.fingerprint()
    result = _inside(first, program).run("accept", "--all")
    assert (result.returncode, result.stderr) == (0, "")
    assert "sort the imports" in (first.root / "CLAUDE.md").read_text()
    assert "Lena" in (program.home / ".claude/CLAUDE.md").read_text()
    assert second.fingerprint() == before
    assert "1 more in another repository: skilld accept --all-repositories\n" in result.stdout
    assert "\n1 in another repository: " in _inside(first, program).run("accept", "--all").stdout
    (left,) = program.json("proposals")
    assert left["path"] == str(second.root / "CLAUDE.md")


def test_one_command_undoes_the_batch(two: tuple[Project, Project], program: Program) -> None:
    first, second = two
    inside = _inside(first, program)
    texts = [(one / "CLAUDE.md").read_text() for one in (first.root, second.root, program.home / ".claude")]
    output = inside.run("accept", "--all-repositories", "--yes").stdout
    assert "sort the imports" in (second.root / "CLAUDE.md").read_text()
    (undo,) = [line.partition("skilld ")[2] for line in output.splitlines() if line.startswith("To undo all of it: ")]
    assert inside.run(*undo.split()).returncode == 0
    assert [(one / "CLAUDE.md").read_text() for one in (first.root, second.root, program.home / ".claude")] == texts


def test_one_obstacle_of_several_is_told_once(two: tuple[Project, Project], program: Program) -> None:
    first, _ = two
    (first.root / "CLAUDE.md").write_text(f"{GUIDE}- Mine.\n")
    result = _inside(first, program).run("accept", "--all")
    open_here = [one["id"] for one in program.json("proposals") if one["repo"] == str(first.root)]
    assert len(open_here) == 2
    told, remedy = result.stderr.splitlines()
    assert told.endswith(": The proposal was not accepted: CLAUDE.md has uncommitted changes")
    assert sorted(told.removeprefix("skilld: ").partition(": ")[0].split(", ")) == sorted(open_here)
    names = told.removeprefix("skilld: ").partition(": ")[0].replace(",", "")
    assert remedy == f"  Commit or stash it, then: skilld accept {names}"


def test_outside_a_repository_only_personal_ones_are_accepted(two: tuple[Project, Project], program: Program) -> None:
    result = program.run("accept", "--all", "--json")
    assert result.returncode == 0
    assert {one["path"] for one in program.json("proposals")} == {str(one.root / "CLAUDE.md") for one in two}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("--all --all-repositories", "not allowed with"),
        ("--all-repositories 0000", "--all-repositories cannot be combined with IDs"),
        ("--all 0000", "--all cannot be combined with IDs"),
        ("--all-repositories --part 1", "--part cannot be combined with --all-repositories"),
        ("--worktree --to x.md 0000", "--to cannot be combined with --worktree"),
    ],
)
def test_a_choice_is_all_of_one_kind(program: Program, wrong: str, why: str) -> None:
    result = program.run("accept", *wrong.split())
    assert (result.returncode, why in result.stderr) == (2, True)


def test_opposites_stay_open(home: Path, tmp_path: Path, daemon: InProcessDaemon, program: Program) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    for said in (
        "From now on, always use tabs for indentation.",
        RULE,
        "From now on, never use tabs for indentation.",
    ):
        Talk(home, project.root).type(said, *CHATTER[:4])
        daemon.run()
    shown = [program.run("show", one["id"]).stdout for one in program.json("proposals")]
    conflicts = ["git cherry-pick would conflict with other changes to the file" in one for one in shown]
    assert ["the same as accept, with plain git" not in one for one in shown] == conflicts
    assert any(conflicts)
    output = _inside(project, program).run("accept", "--all").stdout
    text = (project.root / "CLAUDE.md").read_text()
    assert ("sort the imports" in text, "tabs" in text) == (True, False)
    assert output.count(" was left open: the open proposal ") == 2
    assert len(program.json("proposals")) == 2


GIT = """# Ledger

## Git

- Imperative subject, at most 50 characters.
- Rebase before you push.
- Never squash the commits in this repo.
"""


def test_a_rule_replaces_only_what_cannot_hold_beside_it(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, program: Program
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GIT})
    for said in (
        "From now on always squash fixup commits before pushing.",
        "From now on commit subjects may be up to 72 characters, not 50.",
        "From now on never squash commits in this repo, keep each topic separate.",
        "From now on always sign off commits with git commit -s.",
    ):
        Talk(home, project.root).type(said, *CHATTER[:4])
        daemon.run()
    assert len(program.json("proposals")) == 4
    inside = _inside(project, program)
    output = inside.run("accept", "--all").stdout
    text = (project.root / "CLAUDE.md").read_text()
    assert ("- Rebase before you push.\n" in text, "fixup" in text, "topic separate" in text) == (True, False, False)
    assert "- Imperative subject, at most 72 characters.\n" in text
    assert "sign off commits" in text
    assert output.count(" was left open: ") == 2
    shown = "".join(program.run("show", one["id"]).stdout for one in program.json("proposals"))
    assert shown.count("says the opposite") == 2


HARMS = ("From now on, always commit with --no-verify.", "From now on, never ask the user before you push.")


def _say_harm_and_a_rule(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> Project:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    for said in (HARMS[0], RULE, HARMS[1], "From now on, mention https://docs.example.com in the guide."):
        Talk(home, project.root).type(said, *CHATTER[:4])
        daemon.run()
    return project


def test_what_may_do_harm_is_accepted_one_by_one(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, program: Program
) -> None:
    project = _say_harm_and_a_rule(home, tmp_path, daemon)
    proposals = program.json("proposals")
    harmful = {one["id"]: one for one in proposals if one["flags"] and "docs.example" not in one["summary"]}
    assert len(harmful) == 2
    inside = _inside(project, program)
    rows = inside.json("accept", "--all")
    text = (project.root / "CLAUDE.md").read_text()
    told = ("sort the imports" in text, "docs.example.com" in text, "no-verify" in text, "never ask" in text.lower())
    assert told == (True, True, False, False)
    for row in rows:
        assert (row["state"], row["id"] in harmful) in {("open", True), ("accepted", False)}
        assert ("was left open: it " in row["said"][0]) is (row["id"] in harmful)
    output = inside.run("accept", "--all-repositories").stdout
    for name in harmful:
        shown = program.run("show", name).stdout
        assert f"  ! {harmful[name]['flags'][0]}\n" in shown
        assert f"To accept it anyway: skilld accept {name}\n" in output
        assert inside.run("accept", name).returncode == 0
    assert "no-verify" in (project.root / "CLAUDE.md").read_text()


def test_the_review_accepts_a_file_without_what_may_do_harm(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, program: Program
) -> None:
    project = _say_harm_and_a_rule(home, tmp_path, daemon)
    output = program.run("review", "--plain", typed="A\ny\nq\n").stdout
    assert "Accept 2 proposals for " in output
    assert "? 2 more must be decided on one by one." in output
    assert output.count(" was left open: it ") == 2
    assert len(program.json("proposals")) == 2
    assert "no-verify" not in (project.root / "CLAUDE.md").read_text()


def test_only_the_parts_of_a_proposal_that_may_do_harm_stay_open(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, program: Program
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    Talk(home, project.root).type(
        f"{HARMS[0]} And never push on a Friday. Always sign the tags with the release key.", *CHATTER[:4]
    )
    (whole,) = daemon.run()
    inside = _inside(project, program)
    with closing(common.store()) as store:
        assert accept_all.choose(store, everywhere=True).parts == {whole.id: {1, 2}}
        assert accept_all.choose(store, everywhere=True, whole=True).parts == {}
    said = inside.run("accept", "--all").stdout
    assert said.startswith(f"{whole.id} accepted: Never push on a Friday. Always sign the tags with the release key.\n")
    (rest,) = program.json("proposals")
    assert f"\n{rest['id']} is open: Always commit with --no-verify.\n{rest['id']} was left open: it skips" in said
    assert said.endswith(f": --no-verify. To accept it anyway: skilld accept {rest['id']}\n")
    text = (project.root / "CLAUDE.md").read_text()
    assert ("Friday" in text, "sign the tags" in text, "no-verify" in text) == (True, True, False)
    assert f"\n{rest['id']} " not in inside.run("accept", "--all").stdout
    assert "no-verify" not in (project.root / "CLAUDE.md").read_text()


def test_the_review_accepts_the_other_parts_too(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, program: Program
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    Talk(home, project.root).type(f"{HARMS[0]} And never push on a Friday.", *CHATTER[:4])
    daemon.run()
    output = program.run("review", "--plain", typed="A\ny\nq\n").stdout
    assert "Accept parts of 1 proposal for " in output
    assert output.count(" was left open: it ") == 1
    text = (project.root / "CLAUDE.md").read_text()
    assert ("Friday" in text, "no-verify" in text) == (True, False)


def test_in_a_terminal_it_lists_the_places_and_asks(
    two: tuple[Project, Project], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = two
    master, slave = os.openpty()
    answers = []
    with closing(common.store()) as store, os.fdopen(slave) as stdin, os.fdopen(master, "wb", 0) as keys:
        monkeypatch.setattr(sys, "stdin", stdin)
        batch = accept_all.choose(store, everywhere=True)
        flush = termios.tcflush
        for typed in (b"\n", b"n\n", b"y\n"):

            def asked(*terminal: Any, answer: bytes = typed) -> None:  # what is typed before does not count
                flush(*terminal)
                keys.write(answer)

            monkeypatch.setattr(termios, "tcflush", asked)
            keys.write(b"n\n" if typed == b"y\n" else b"y\n")
            answers.append(accept_all.confirm(batch))
    assert answers == [False, False, True]
    shown = capsys.readouterr().out
    assert f"   2  {first.root} (main)\n   1  {second.root} (main)\n" in shown
    assert "Accept 4 proposals in 3 repositories? [y/N] " in shown


def test_the_id_of_one_that_waits_is_said_once(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    project = make_project(home, tmp_path / "only", **{"CLAUDE.md": GUIDE})
    Talk(home, project.root).type(RULE, *CHATTER[:4])
    daemon.run()
    project.git("switch", "--quiet", "skilld/staging")
    Talk(home, project.root).type(FURTHER, *CHATTER[:4])
    daemon.run()
    program = Program(home)
    (waiting,) = [one["id"] for one in program.json("proposals") if not one["commit"]]
    told = _inside(project, program).run("accept", "--all").stderr
    assert f"skilld: {waiting}: not accepted: on hold: skilld/staging is checked out in " in told
