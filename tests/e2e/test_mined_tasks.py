"""Past tasks as agents record them, in true transcripts: what becomes a skill, what does not, and whether it works."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.past_tasks import Task, commands_of, judged, lacks, load, project, record, shell, text_of

TASKS, NOTHING = load("tasks"), load("nothing")


def _recorded(task: Task, folder: Path) -> tuple[Path, Path]:
    home = folder / "home"
    root = project(task, home / "src" / task.name, versioned=False)
    record(task, home, root, folder / "work")
    return home, root


@pytest.mark.parametrize("task", TASKS, ids=[one.name for one in TASKS])
def test_a_task_that_came_again_becomes_a_skill_that_works_in_a_fresh_copy(task: Task, tmp_path: Path) -> None:
    home, _ = _recorded(task, tmp_path)
    (heard,) = judged(task, home, model=True).candidates
    assert lacks(task.expected, text_of(heard)) == []
    (offline,) = judged(task, home, model=False).candidates
    assert set(lacks(task.expected, text_of(offline))) <= {"the correction"}
    if any(line.startswith("~") for line in task.sessions[0]):
        return  # a plain runner changes no files
    fresh = project(task, tmp_path / "fresh")
    for command in commands_of(text_of(heard), task.expected["values"]):
        done = shell(fresh, command)
        assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.mark.parametrize("task", NOTHING, ids=[one.name for one in NOTHING])
def test_chatter_and_what_is_done_once_become_nothing(task: Task, tmp_path: Path) -> None:
    home, _ = _recorded(task, tmp_path)
    assert judged(task, home, model=False).candidates == ()
