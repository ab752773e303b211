"""Where staging rests: what a merge brings, and what is said when it would bring more than the proposal."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.lessons import HOSTS, LINES, TICKETS, Lessons
from support.live_project import Project
from support.program import Program

SKILL = ".claude/skills/release-notes/SKILL.md"


@pytest.fixture
def lessons(home: Path, project: Project, program: Program) -> Lessons:
    return Lessons(home, project, program)


def start_feature(project: Project) -> None:
    """Check out a feature branch, commit on it, and leave more uncommitted."""
    project.git("switch", "--quiet", "-c", "feature")
    (project.root / "feature.py").write_text("print(1)\n")
    project.git("add", "feature.py")
    project.git("commit", "--quiet", "--message", "unfinished")
    (project.root / "README.md").write_text("half a sentence\n")
    project.git("add", "README.md")


def test_a_merge_into_main_brings_only_the_proposal(project: Project, lessons: Lessons) -> None:
    start_feature(project)
    before = project.fingerprint()
    (proposal,) = lessons.teach(TICKETS)
    assert project.fingerprint() == before
    assert proposal["rests_on"] == ""
    project.git("stash", "--quiet")
    project.git("switch", "--quiet", "main")
    main = project.git("rev-parse", "main")
    project.git("merge", "--quiet", "--no-edit", "skilld/staging")
    assert project.git("diff", "--name-only", main, "main") == SKILL
    assert project.git("diff", main, "main", "--", SKILL).splitlines()[-1] == f"+{LINES[TICKETS]}"
    assert lessons.states() == {proposal["id"]: "accepted"}


def test_after_a_pick_on_a_feature_branch_the_next_one_says_where_it_rests(
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
    shown = program.run("show", second["id"]).stdout
    assert f"note: {warning}" in shown
    assert f"git cherry-pick {second['commit'][:10]}" in shown
    assert "git merge" not in shown
    listed = program.run("proposals").stdout
    assert warning in listed
    assert "git merge" not in listed
    assert warning in program.run("status").stdout

    project.git("switch", "--quiet", "main")
    main = project.git("rev-parse", "main")
    done = program.run("accept", second["id"])
    assert (done.returncode, done.stderr) == (0, "")
    assert project.git("diff", "--name-only", main, "main") == SKILL
    text = project.skill_path.read_text()
    assert LINES[HOSTS] in text
    assert LINES[TICKETS] not in text
    assert lessons.states()[second["id"]] == "accepted"
    assert program.json("status")["rests_on"] == {}


def test_a_skill_changed_on_the_default_branch_takes_the_proposals_along(project: Project, lessons: Lessons) -> None:
    (proposal,) = lessons.teach(TICKETS)
    project.skill_path.write_text(project.skill_path.read_text().replace("Past tense", "Present tense"))
    project.git("commit", "--quiet", "--all", "--message", "mine")
    (moved,) = lessons.open()
    assert moved["commit"] != proposal["commit"]
    assert moved["base"] == project.git("rev-parse", "main") == project.git("rev-parse", "skilld/staging^")
    assert "Present tense" in project.git("show", f"skilld/staging:{SKILL}")


def test_a_proposal_whose_neighbours_were_edited_follows_them(project: Project, lessons: Lessons) -> None:
    (proposal,) = lessons.teach(TICKETS)
    text = project.skill_path.read_text()
    edited = text.replace("- No marketing words.\n", "").replace("- Past tense, ", "- ")
    project.skill_path.write_text(edited)
    project.git("commit", "--quiet", "--all", "--message", "mine")
    assert lessons.states() == {proposal["id"]: "open"}
    shown = project.git("show", f"skilld/staging:{SKILL}").splitlines()
    assert [line for line in shown if line != LINES[TICKETS]] == edited.rstrip().splitlines()
    assert LINES[TICKETS] in shown


def test_uncommitted_words_are_waited_for(project: Project, program: Program, lessons: Lessons) -> None:
    text = project.skill_path.read_text().replace("- No marketing words.", "- No slogans.")
    project.skill_path.write_text(text)
    before = project.fingerprint()
    (proposal,) = lessons.teach(TICKETS)
    assert project.fingerprint() == before
    assert (proposal["commit"], proposal["note"]) == ("", f"on hold until you commit your changes to {SKILL}")
    assert program.run("accept", proposal["id"]).returncode == 5
    project.git("commit", "--quiet", "--all", "--message", "mine")
    (committed,) = lessons.open()
    assert committed["commit"] == project.git("rev-parse", "skilld/staging")
    assert committed["note"] == ""
    assert program.run("accept", proposal["id"]).returncode == 0


def test_a_proposal_waits_while_the_person_is_at_work_on_staging(project: Project, lessons: Lessons) -> None:
    project.git("switch", "--quiet", "-c", "skilld/staging")
    before = project.git("for-each-ref")
    (proposal,) = lessons.teach(TICKETS)
    assert project.git("for-each-ref") == before
    assert (proposal["commit"], proposal["note"]) == ("", f"on hold: skilld/staging is checked out in {project.root}")
    project.git("switch", "--quiet", "main")
    (committed,) = lessons.open()
    assert committed["commit"] == project.git("rev-parse", "skilld/staging")


def test_three_learnings_come_and_go_one_by_one(project: Project, program: Program, lessons: Lessons) -> None:
    before = project.skill_path.read_text()
    proposals = lessons.teach(*LINES)
    assert len(proposals) == 3
    for proposal in (proposals[1], proposals[2], proposals[0]):
        done = program.run("accept", proposal["id"])
        assert (done.returncode, done.stderr) == (0, "")
    text = project.skill_path.read_text()
    assert [line for line in LINES.values() if line not in text] == []
    for proposal in (proposals[2], proposals[1], proposals[0]):
        done = program.run("revert", proposal["id"])
        assert (done.returncode, done.stderr) == (0, "")
    assert project.skill_path.read_text() == before
    assert set(lessons.states().values()) == {"reverted"}
    assert project.git("status", "--porcelain") == ""
    assert (
        project.git("log", "--format=%an/%cn", "-6").splitlines()
        == ["Ada Tester/Ada Tester"] * 3 + ["skilld/Ada Tester"] * 3
    )


def test_why_names_the_words_behind_a_line_also_after_it_moved(
    project: Project, program: Program, lessons: Lessons
) -> None:
    (proposal,) = lessons.teach(TICKETS)
    project.git("merge", "--quiet", "--no-edit", "skilld/staging")
    line = LINES[TICKETS]
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
    said = program.run("why", f"{project.skill_path}:{number}").stdout
    assert TICKETS in said
    assert program.json("why", f"{project.skill_path}:1")["proposals"] == []
    assert program.run("why", f"{project.skill_path}:999").returncode == 2
    listed = program.run("why", str(project.skill_path)).stdout
    assert listed.startswith(f"{project.skill_path}:{number}  ")
    assert f"skilld why {project.skill_path}:{number}\n" in listed
