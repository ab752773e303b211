"""A rule that the person writes into the file themselves closes the open proposal that says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.test_contradictions import propose_rule
from e2e.test_targets import GUIDE, make_project
from support.in_process_daemon import InProcessDaemon
from support.program import Program

RULE = "From now on, always sort the imports by name."


@pytest.mark.parametrize("line", ["Sort imports by name.", "Always sort the imports by name, also in tests."])
@pytest.mark.parametrize("file", ["CLAUDE.md"])
def test_it_is_closed_and_comes_back_if_the_person_wants_it(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, line: str, file: str
) -> None:
    project = make_project(home, tmp_path, **{file: GUIDE})
    (one,) = propose_rule(home, project, daemon, RULE)
    project.commit("Sort imports", {file: f"{GUIDE}* {line}\n"})
    skilld = Program(home)
    assert skilld.run("proposals").stdout.startswith("No open proposals.")
    refused = skilld.run("accept", one.id)
    assert refused.returncode == 1
    assert f"it is superseded: {file}:9, added since without skilld, says this" in refused.stderr
    assert f"To propose it anyway: skilld restore {one.id}" in refused.stderr
    assert f"skilld restore {one.id}" in skilld.run("show", one.id).stdout
    assert project.git("for-each-ref", "refs/heads/skilld/staging") == ""
    assert skilld.run("restore", one.id).returncode == 0
    for _ in range(2):
        assert [shown["id"] for shown in skilld.json("proposals")] == [one.id], "the person said that it is not said"
    assert skilld.run("accept", one.id).returncode == 0
    assert (project.root / file).read_text().count("imports") == 2


@pytest.mark.parametrize(
    "line", ["Sort the tests by name.", "Never sort the imports by name.", "Imports of three packages are in `lib`."]
)
def test_another_rule_leaves_it_open(home: Path, tmp_path: Path, daemon: InProcessDaemon, line: str) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    (one,) = propose_rule(home, project, daemon, RULE)
    project.commit("Say more", {"CLAUDE.md": f"{GUIDE}* {line}\n"})
    assert [shown["id"] for shown in Program(home).json("proposals")] == [one.id]


def test_another_accepted_proposal_closes_none(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    propose_rule(home, project, daemon, RULE)
    propose_rule(home, project, daemon, "From now on, always write the date as 2026-01-05.")
    skilld = Program(home)
    first, second = (shown["id"] for shown in skilld.json("proposals"))
    assert skilld.run("accept", second).returncode == 0
    assert [shown["id"] for shown in skilld.json("proposals")] == [first]


def test_it_is_closed_although_the_branch_was_rebuilt_meanwhile(
    home: Path, tmp_path: Path, daemon: InProcessDaemon
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    (one,) = propose_rule(home, project, daemon, RULE)
    project.commit("Sort imports", {"CLAUDE.md": f"{GUIDE}* Sort imports by name.\n"})
    both = propose_rule(home, project, daemon, "From now on, always write the date as 2026-01-05.")
    assert len(both) == 2, "the daemon has not read git yet"
    left = [shown["id"] for shown in Program(home).json("proposals")]
    assert left == [two.id for two in both if two.id != one.id]


def test_a_part_of_it_is_named_and_left_to_the_person(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    (one,) = propose_rule(home, project, daemon, "From now on, always hide the address of a customer.", RULE)
    assert len(one.updates) == 2
    project.commit("Sort imports", {"CLAUDE.md": f"{GUIDE}* Sort imports by name.\n"})
    skilld = Program(home)
    note = "CLAUDE.md:9, added since without skilld, says a part of this"
    assert note in skilld.run("show", one.id).stdout
    assert f"{one.id} accepted: Always hide the address" in skilld.run("accept", "--all-repositories", "--yes").stdout
    (accepted,) = skilld.json("proposals", "--state", "accepted")
    assert (accepted["id"], accepted["note"]) == (one.id, "")
    assert skilld.json("proposals") == [], "what is left of it is in the file"
    text = (project.root / "CLAUDE.md").read_text()
    assert (text.count("address"), text.count("imports")) == (1, 1)


def test_of_the_persons_own_file_in_no_repository(home: Path, tmp_path: Path, daemon: InProcessDaemon) -> None:
    own = home / ".claude/CLAUDE.md"
    own.parent.mkdir(exist_ok=True)
    own.write_text("# Me\n\n- Be brief.\n")
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    (one,) = propose_rule(home, project, daemon, "in all my projects: always sort the imports by name")
    assert one.path == str(own)
    own.write_text("# Me\n\n- Be brief.\n- Sort imports by name.\n")
    skilld = Program(home)
    assert skilld.json("proposals") == []
    (closed,) = skilld.json("proposals", "--state", "superseded")
    assert closed["note"] == "CLAUDE.md:4, added since without skilld, says this"


@pytest.mark.parametrize("committed", [True, False])
def test_why_knows_an_accepted_line_with_a_typo_mended(
    home: Path, tmp_path: Path, daemon: InProcessDaemon, *, committed: bool
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    (one,) = propose_rule(home, project, daemon, "From now on, always hide the adress of a customer.")
    skilld = Program(home)
    assert skilld.run("accept", one.id).returncode == 0
    file = project.root / "CLAUDE.md"
    right = f"{file.read_text().replace('adress', 'address')}* Use tabs.\n"
    if committed:
        project.commit("Mend a typo", {"CLAUDE.md": right})
    else:
        file.write_text(right)
    lines = right.splitlines()
    at = next(number for number, line in enumerate(lines, 1) if "address" in line)
    told = skilld.run("why", f"{file}:{at}").stdout
    assert "\n  originally accepted as: * Always hide the adress of a customer.\n" in told
    assert f"\n{one.id}  CLAUDE.md  accepted\n" in told
    assert told.startswith("  * Always hide the address of a customer.\n")
    assert [row["accepted_as"] for row in skilld.json("why", f"{file}:{at}")["proposals"]] == [
        "* Always hide the adress of a customer."
    ]
    for other in ("* Use tabs.", "* Write tests first."):
        assert "No proposal added this line." in skilld.run("why", f"{file}:{lines.index(other) + 1}").stdout
