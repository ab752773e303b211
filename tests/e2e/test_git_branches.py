"""The base of the staging branch: what a merge brings, and the warning if it brings more."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.lessons import HOSTS, RULE_LINES, TICKETS, Lessons
from support.live_project import Project
from support.program import Program

SKILL = ".claude/skills/release-notes/SKILL.md"


@pytest.fixture
def lessons(home: Path, project: Project, program: Program) -> Lessons:
    return Lessons(home, project, program)


def test_after_a_pick_on_a_feature_branch_the_next_proposal_names_its_base(
    project: Project, program: Program, lessons: Lessons
) -> None:
    project.git("switch", "--quiet", "-c", "feature")
    (project.root / "feature.py").write_text("print(1)\n")
    project.git("add", "feature.py")
    project.git("commit", "--quiet", "--message", "unfinished")
    (first,) = lessons.teach(TICKETS)
    project.git("cherry-pick", first["commit"])
    (second,) = lessons.teach(HOSTS)
    warning = "is based on feature, which has 2 commits not on main"
    assert second["rests_on"] == warning
    assert program.json("show", second["id"])["rests_on"] == warning
    assert program.json("status")["rests_on"] == {str(project.root): warning}
    output = program.run("show", second["id"]).stdout
    assert f"note: skilld/staging {warning}" in output
    assert f"git cherry-pick {second['commit'][:10]}" in output
    assert "git merge" not in output
    listed = program.run("proposals").stdout
    assert f"skilld/staging {warning}" in listed
    assert "git merge" not in listed
    assert warning in program.run("status").stdout

    project.git("switch", "--quiet", "main")
    main = project.git("rev-parse", "main")
    result = program.run("accept", second["id"])
    assert (result.returncode, result.stderr) == (0, "")
    assert project.git("diff", "--name-only", main, "main") == SKILL
    text = project.skill_path.read_text()
    assert RULE_LINES[HOSTS] in text
    assert RULE_LINES[TICKETS] not in text
    assert lessons.states()[second["id"]] == "accepted"
    assert program.json("status")["rests_on"] == {}


def test_why_names_the_quote_behind_a_line_even_after_it_moved(
    project: Project, program: Program, lessons: Lessons
) -> None:
    (proposal,) = lessons.teach(TICKETS)
    project.git("merge", "--quiet", "--no-edit", "skilld/staging")
    line = RULE_LINES[TICKETS]
    text = project.skill_path.read_text().replace(f"{line}\n", "")
    project.skill_path.write_text(text.replace("## Style\n", f"{line}\n\n## Style\n"))
    project.git("commit", "--quiet", "--all", "--message", "moved")
    number = project.skill_path.read_text().splitlines().index(line) + 1
    why = program.json("why", f"{project.skill_path}:{number}")
    assert (why["text"], why["line"]) == (line, number)
    (found,) = why["proposals"]
    assert (found["id"], found["state"], found["evidence"][0]["quote"]) == (proposal["id"], "accepted", TICKETS)
    assert found["session_id"] == proposal["session_id"]
    assert found["accepted_at"]
    output = program.run("why", f"{project.skill_path}:{number}").stdout
    assert TICKETS in output
    assert program.json("why", f"{project.skill_path}:1")["proposals"] == []
    assert program.run("why", f"{project.skill_path}:999").returncode == 2
    listed = program.run("why", str(project.skill_path)).stdout
    assert listed.startswith(f"{project.skill_path}:{number}  ")
    assert f"skilld why {project.skill_path}:{number}\n" in listed
