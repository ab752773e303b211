"""Recorded past tasks: what becomes a skill, what does not, and whether it works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilld.store.machine_records import MachineRecord
from support.live_project import Project
from support.new_store import new_store
from support.past_tasks import (
    Task,
    draft_commands,
    judge_sessions,
    load,
    make_project,
    missing_parts,
    record_sessions,
    recorded_sessions,
    run_shell,
    skill_text,
)
from support.program import Program
from support.session import SQUASHING, Session

TASKS, NOTHING = [*load("tasks"), *load("fresh")], load("nothing")


def _record(task: Task, folder: Path) -> tuple[Path, Path]:
    home = folder / "home"
    root = make_project(task, home / "src" / task.name, versioned=False)
    record_sessions(task, home, root, folder / "work")
    return home, root


@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_a_repeated_task_becomes_a_skill_that_works_in_a_fresh_copy(task: Task, tmp_path: Path) -> None:
    home, _ = _record(task, tmp_path)
    (candidate,) = judge_sessions(task, home, model=True).candidates
    assert missing_parts(task.expected, skill_text(candidate)) == []
    (offline,) = judge_sessions(task, home, model=False).candidates
    assert set(missing_parts(task.expected, skill_text(offline))) <= {"the correction"}
    if any(line.startswith("~") for line in task.sessions[0]):
        return  # a plain runner changes no files: it runs 12 of the 18 drafts, their checks last
    failed = [any(done.failed for done, _ in session.actions) for session in recorded_sessions(home).sessions]
    assert all(failed) or (task.name == "close-month" and any(failed))
    fresh = make_project(task, tmp_path / "fresh")
    for command in draft_commands(skill_text(candidate), task.expected["values"]):
        done = run_shell(fresh, command)
        assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.mark.parametrize("task", NOTHING, ids=[one.name for one in NOTHING])
def test_chatter_and_one_time_tasks_become_nothing(task: Task, tmp_path: Path) -> None:
    home, _ = _record(task, tmp_path)
    assert judge_sessions(task, home, model=False).candidates == ()


def _propose_squashing(home: Path, project: Project) -> tuple[Program, Session, dict[str, Any]]:
    """Return what runs verbs, the second of two sessions with one task and a correction, and the skill made of them."""
    Session(home, project).work("rebase onto main and squash the fixup commits", *SQUASHING)
    second = Session(home, project)
    second.work("please rebase onto main, then squash the fixup commits", *SQUASHING)
    second.type("Always keep the first commit's message.")
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    (candidate,) = program.json("mine")["candidates"]
    return program, second, candidate


def test_why_names_the_sources_of_each_line(home: Path, project: Project) -> None:
    program, _, made = _propose_squashing(home, project)
    assert made["path"] == str(project.root / ".claude/skills" / made["name"] / "SKILL.md")
    assert program.run("accept", made["proposal"]).returncode == 0
    lines = Path(made["path"]).read_text(encoding="utf-8").splitlines()

    def run_why(text: str) -> str:
        return program.run("why", f"{made['path']}:{next(n for n, line in enumerate(lines, 1) if text in line)}").stdout

    step, rule = run_why("Run `make squash"), run_why("first commit's message")
    assert "observed in 2 sessions" in step
    assert "the agent ran: make squash ONTO=main\n" in step
    assert "you: " not in step
    assert "you: \u201cAlways keep the first commit's message.\u201d" in rule
    assert "the agent ran" not in rule
    again = program.json("mine")
    assert (
        again["candidates"],
        [candidate for candidate in again["rejected"] if "already" not in candidate["missed"]],
    ) == ([], [])


@pytest.mark.parametrize("way", ["review", "mine"])
def test_why_tells_what_the_person_added_in_the_editor(home: Path, project: Project, way: str) -> None:
    Session(home, project).work("rebase onto main and squash the fixup commits", *SQUASHING)
    second = Session(home, project)
    second.work("please rebase onto main, then squash the fixup commits", *SQUASHING)
    second.type("Always keep the first commit's message.", "thanks", "From now on, never squash a merge commit.")
    editor = home / "editor.sh"
    editor.write_text(
        "#!/bin/sh\n"
        "sed -i -e '/never squash a merge commit/Id' -e '$ a 9. Squash the fixup commits with `git fixup`.' \"$1\"\n"
    )
    editor.chmod(0o755)
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    program.environment["EDITOR"] = str(editor)
    (made,) = program.json("mine", *(["--edit"] if way == "mine" else []))["candidates"]
    if way == "mine":
        assert program.run("accept", made["proposal"]).returncode == 0
    else:
        assert "Accept this text?" in program.run_dialog(["review", made["proposal"]], "e", "y")
    lines = Path(made["path"]).read_text(encoding="utf-8").splitlines()

    def run_why(text: str) -> str:
        return program.run("why", f"{made['path']}:{next(n for n, line in enumerate(lines, 1) if text in line)}").stdout

    assert "never squash" not in "\n".join(lines).lower()
    own, step, rule = run_why("9. Squash"), run_why("Run `make squash"), run_why("first commit's message")
    assert "  you added this line yourself when you edited the proposal\n" in own
    assert "you: " not in own
    assert "the agent ran: make squash ONTO=main\n" in step
    assert "you: \u201cAlways keep the first commit's message.\u201d" in rule
    assert "never squash" not in (own + step + rule).lower()
    blank = program.run("why", f"{made['path']}:{lines.index('', 3) + 1}").stdout
    assert "  a blank line, which came with the lines around it\n" in blank
    assert "observed in" not in program.json("show", made["proposal"])["reason"]


def test_a_new_skill_repeats_nothing_that_the_projects_instructions_say(home: Path, project: Project) -> None:
    (project.root / "CLAUDE.md").write_text("# Shop\n\n- Keep the first commit's message, always.\n", encoding="utf-8")
    program, _, candidate = _propose_squashing(home, project)
    assert "Run `make squash ONTO=main`." in candidate["text"]
    assert "first commit" not in candidate["text"]
    assert [(one["topic"], one["missed"]) for one in program.json("mine", "--dry-run")["rejected"]][:1] == [
        (
            "Always keep the first commit's message.",
            "CLAUDE.md already says this: Keep the first commit's message, always.",
        )
    ]


def test_a_title_that_the_description_repeats_is_flagged_once(home: Path, project: Project) -> None:
    Session(home, project).work("squash the plots and replace all data labels", *SQUASHING)
    Session(home, project).work("table and axes: squash the plots, replace all data labels", *SQUASHING)
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    assert len(program.json("mine")["candidates"]) == 1
    (proposal,) = program.json("proposals")
    assert [flag for flag in proposal["flags"] if flag.startswith("It deletes")] == [
        "It deletes or undoes something: replace all data\u2026"
    ]


@pytest.mark.parametrize(("said", "found"), [("rejected", 0), ("accepted", 1)])
def test_what_was_rejected_on_another_machine_is_not_mined_here(
    home: Path, project: Project, said: str, found: int
) -> None:
    Session(home, project).work("rebase onto main and squash the fixup commits", *SQUASHING)
    Session(home, project).work("please rebase onto main, then squash the fixup commits", *SQUASHING)
    request = "could you rebase onto main and squash my fixup commits"
    record = json.dumps({"said": said, "rule": request, "at": "2099-01-01T00:00:00Z"})
    state = home / ".local/state/skilld"
    state.mkdir(mode=0o700, parents=True)
    store = new_store(state / "skilld.db")
    store.machine_records.replace([MachineRecord("key", "decided", record, str(project.root / "other/SKILL.md"))])
    store.close()
    answer = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"}).json("mine")
    assert len(answer["candidates"]) == found
    reasons = [one["missed"] for one in answer["rejected"]]
    assert ("you rejected it (on another machine)" in reasons) is not bool(found)


def test_the_sources_of_a_new_skill_are_shown_in_the_original_words(home: Path, project: Project) -> None:
    program, second, made = _propose_squashing(home, project)
    assert program.run("accept", made["proposal"]).returncode == 0
    assert [one["name"] for one in program.json("skills", "list", "--tag", "make")] == [made["name"]]
    row = program.json("mine", "--dry-run", "--from", second.path.stem)["rows"][0]
    assert (row["n_user_turns"], row["main_dir"], row["env_feedback"], row["user_feedback"]) == (
        2, str(project.root), ["make squash"], ["Always keep the first commit's message."],
    )  # fmt: skip
    (found,) = program.json("recommend", "squash the fixup commits", "--project", str(project.root))
    assert "rebase onto main" in found["because"][0]["text"]
    assert "new skill" not in found["because"][0]["text"]
    document = program.json("skills", "profile")
    assert [one["text"] for one in document["top"]] == ["Always keep the first commit's message."]
    assert document["total"] == 1


def test_a_use_not_yet_read_by_the_daemon_is_not_reported_as_never_used(home: Path, project: Project) -> None:
    session = Session(home, project)
    session.type("Write the release notes of 2.4.0")
    session.use_skill()
    session.type("Always put the ticket number first in each entry.")
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    assert len(program.json("mine")["candidates"]) == 1
    (line,) = program.run("skills", "list").stdout.splitlines()
    assert [*filter(None, line.split("  "))][2:4] == ["no session seen", "1 edit proposed from what you said"]
