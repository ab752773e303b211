"""Part 9, R6: a proposal that lost its place is made again by the model, and never by `accept`."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.model import program_with
from skilld.proposals.remake import remake_proposal
from skilld.types import Kind, Op, Operation, TargetKind, Update
from support.live_project import SKILL_TEXT, Project
from support.model_answers import CHANGE, NO_UPDATES, operations_answer, updates_answer
from support.program import Program
from support.proposals import make_proposal
from support.session import LASTING, Session
from support.stub_model import Reply, StubModel, request_text

STEP = "2. Write one entry per change, newest first."
ANEW = operations_answer(anchor=STEP, text=f"3. {CHANGE}"), NO_UPDATES


def _lose_place(home: Path, project: Project, model: StubModel) -> tuple[Program, str]:
    """Have something proposed by the model, and the section that it is in removed by the person."""
    program = program_with(home, model)
    assert program.run("run", "--once").returncode == 0
    model.queue(updates_answer(), operations_answer(), NO_UPDATES)
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, "ok go on", "looks good", "thanks")
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    project.skill_path.write_text(SKILL_TEXT.partition("\n## Style")[0])
    project.git("commit", "--quiet", "--all", "--message", "Drop the style")
    return program, proposal["id"]


def _state(program: Program) -> tuple[str, str]:
    (proposal,) = program.json("proposals", "--state", "all")
    return proposal["id"], proposal["state"]


def test_part9_accept_explains_the_problem_and_the_model_makes_it_again(home: Path, project: Project) -> None:
    with StubModel() as model:
        program, name = _lose_place(home, project, model)
        before = project.fingerprint()
        result = program.run("accept", name)
        assert result.returncode == 5
        assert "will be regenerated to match your current text" in result.stderr
        assert f"skilld show {name}" in result.stderr
        assert project.fingerprint() == before
        assert len(model.bodies) == 3, "accept asks no model"
        model.queue(*ANEW)
        program.run("run", "--once")
        assert project.fingerprint() == before
        edit, again = model.bodies[3:]
    assert "<current_skill_file>" in request_text(edit)
    assert LASTING in request_text(again)
    (proposal,) = program.json("proposals")
    assert (proposal["id"], proposal["evidence"][0]["quote"]) == (name, LASTING)
    assert f"{STEP}\n3. {CHANGE}\n" in project.git("show", f"skilld/staging:{proposal['relpath']}")
    assert program.json("status")["spend_today"]["calls"] == 5
    assert program.run("accept", name).returncode == 0
    assert CHANGE in project.skill_path.read_text()


@pytest.mark.parametrize(
    ("setting", "calls", "told"),
    [
        ("SKILLD_WORKER__ATTEMPTS=1", 4, "try again: skilld retry"),
        ("SKILLD_BUDGET__CALLS=3", 3, "delayed: the budget is spent: 3 of 3 model calls"),
    ],
    ids=["given up", "budget"],
)
def test_part9_an_obstacle_is_reported_and_it_is_made_later(
    home: Path, project: Project, setting: str, calls: int, told: str
) -> None:
    with StubModel() as model:
        program, name = _lose_place(home, project, model)
        variable, value = setting.split("=")
        program.environment[variable] = value
        if calls > 3:
            model.queue(Reply(status=500))
        program.run("run", "--once")
        assert len(model.bodies) == calls
        assert _state(program) == (name, "stale")
        assert told in program.run("show", name).stdout
        assert told in " ".join(program.run("proposals").stdout.split())
        (check,) = (check for check in program.json("doctor")["checks"] if check["name"] == "proposals")
        assert told in check["detail"]
        assert program.run("accept", name).returncode == 5
        del program.environment[variable]
        model.queue(*ANEW)
        assert (
            program.run("retry").stdout
            == "1 batch will be retried once skilld runs: skilld run, or skilld run --once\n"
        )
        program.run("run", "--once")
        assert _state(program) == (name, "open")
        assert len(model.bodies) == calls + 2


def test_a_quote_that_looks_like_a_work_order_without_the_rest_of_its_turn_is_made_again(home: Path) -> None:
    """ "Wait, check ...: CMD" was typed, and only the quote is stored."""
    (home / ".local/state/skilld").mkdir(parents=True)
    said = "check who else deploys first: kubectl get pods must show them all Running"
    change = "Check who else deploys first: `kubectl get pods` must show them all Running."
    made = make_proposal(
        operations=(Operation(Op.INSERT_AFTER, "- Gone.", f"- {change}"),),
        updates=(Update(1, "", change, "", Kind.ADD_STEP, 1, said),),
        path=str(home / "CLAUDE.md"),
        target=TargetKind.INSTRUCTIONS,
    )
    again = remake_proposal(made, None, b"# Guide\n\n- Be brief.\n")
    assert [one.text for one in again.operations] == [f"- {change}"]
