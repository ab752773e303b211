"""`skilld chat`: a skill as instructions, streamed answers, the cost booked, no secret sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.model import program_with
from support.program import Program
from support.stub_model import Reply, StubModel, request_text

KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    skill = tmp_path / "shop/.claude/skills/notes"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: notes\n---\n# Notes\n\n- Be brief.\n")
    return tmp_path / "shop"


def test_a_conversation_continues_with_earlier_messages(home: Path, folder: Path) -> None:
    with StubModel() as model:
        model.queue("One\nline \x1b[31mred.", "Two.")
        program = program_with(home, model)
        result = program.run("chat", "--skill", "notes", "--project", str(folder), typed=f"Hello, {KEY}\n\nAgain\n")
        assert (result.returncode, result.stdout) == (0, "One\nline \\x1b[31mred.\nTwo.\n")
        first, second = model.bodies
        assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]
        assert "- Be brief." in request_text(first)
        assert KEY not in request_text(second)
        assert first["stream"] is True
        (booked,) = program.json("cost")["days"]
        assert (booked["skill"], booked["calls"], booked["tokens"]) == ("notes", 2, 30)
        assert "30 tokens  price unknown\n" in program.run("cost").stdout
        assert "today     2 model calls, 30 tokens\n" in program.run("status").stdout


def test_an_error_ends_it_with_a_message(home: Path, folder: Path) -> None:
    with StubModel() as model:
        model.queue(Reply(status=401))
        program = program_with(home, model)
        result = program.run("chat", "hi", "--project", str(folder))
        assert (result.returncode, result.stdout) == (1, "")
        assert "rejected the key" in result.stderr
        result = program.run("chat", "--skill", "nosuch", "hi", "--project", str(folder))
        assert (result.returncode, len(model.bodies)) == (2, 1)
        assert "available: notes" in result.stderr
        assert "--project FOLDER" in result.stderr


def test_without_a_model_it_says_how_to_choose_one(program: Program) -> None:
    result = program.run("chat", "hi")
    assert result.returncode == 2
    assert "skilld config set model" in result.stderr
