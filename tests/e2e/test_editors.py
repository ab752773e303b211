"""The git commands of editors on the staging branch, from the table of docs/editors.md."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from support.taught_project import TaughtProject

PAGE = Path(__file__).parents[2] / "docs" / "editors.md"
ROWS = re.findall(
    r"^\| ([^|]+) \|[^|]*\|[^|]*\| `([^`]+)` \| (\w+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)


def test_the_table_is_read() -> None:
    assert len(ROWS) == 8
    assert {state for _, _, state in ROWS} == {"open", "accepted", "reverted", "rejected"}


@pytest.mark.parametrize(("what", "commands", "state"), ROWS, ids=[what for what, _, _ in ROWS])
def test_git_commands_of_editors_are_understood_as_decisions(
    world: TaughtProject, what: str, commands: str, state: str
) -> None:
    commit = world.show(world.two)["commit"]
    for command in commands.split(" && "):
        words = shlex.split(command.replace("COMMIT", commit).replace("ID", world.two))
        if words[0] == "git":
            world.project.git(*words[1:])
        else:
            assert world.program.run(*words[1:]).returncode == 0
    all_of_it = "all" in what.split() or state == "open"
    assert world.states() == {world.two: state, world.one: state if all_of_it else "open"}
