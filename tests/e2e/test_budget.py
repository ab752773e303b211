"""The day's budget: once a limit is reached no further call arrives at the model, whoever makes it."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from faults.model import CALLS, program_with, right_answer, teach
from support.live_project import Project
from support.mining_model import answer_request
from support.model_answers import NO_UPDATES
from support.program import Program
from support.session import Session
from support.stub_model import Reply, StubModel
from support.waiting import wait_for

TASK = "etwas für den Laden"  # shares no word with a skill


def _limited(home: Path, model: StubModel, calls: int) -> Program:
    return program_with(home, model, SKILLD_BUDGET__CALLS=str(calls))


def _booked(program: Program) -> int:
    return sum(day["calls"] for day in program.json("cost")["days"])


@pytest.mark.parametrize("limit", range(1, CALLS))
def test_a_batch_ends_in_the_middle_and_is_judged_once_the_limit_is_raised(
    home: Path, project: Project, limit: int
) -> None:
    with StubModel(right_answer) as model:
        program = _limited(home, model, limit)
        program.run("run", "--once")
        teach(home, project)
        program.run("run", "--once")
        program.run("run", "--once")
        assert len(model.bodies) == _booked(program) == limit
        status = program.json("status")
        assert (status["batches"]["pending"], status["batches"]["parked"]) == (1 - (limit == CALLS - 1), 0)
        program.environment["SKILLD_BUDGET__CALLS"] = "20"
        raised = program.json("status")
        assert (raised["budget"]["spent"], raised["delayed"]) == ("", [])
        assert "budget is spent" not in program.run("status").stdout + program.run("doctor").stdout
        program.run("run", "--once")
        (proposal,) = program.json("proposals")
        unchecked = "could not verify that it says what you said, because the day's budget was spent"
        assert proposal["flags"] == ([unchecked] if limit == CALLS - 1 else [])


def test_a_second_question_about_an_unreadable_answer_is_a_call_too(home: Path, project: Project) -> None:
    with StubModel(lambda _: "no JSON") as model:
        program = _limited(home, model, 1)
        program.run("run", "--once")
        teach(home, project)
        program.run("run", "--once")
        assert len(model.bodies) == _booked(program) == 1
        batches = program.json("status")["batches"]
        assert (batches["pending"], batches["parked"]) == (1, 0), "it waits, as nobody knows yet whether it is unusable"


@pytest.mark.parametrize("status", [400, 422])
def test_a_request_that_is_refused_and_repeated_is_two_calls(home: Path, project: Project, status: int) -> None:
    with StubModel(lambda _: Reply(status=status)) as model:
        for limit, calls in ((1, 1), (9, 3)):
            program = _limited(home, model, limit)
            program.run("recommend", TASK, "--project", str(project.root), "--ask")
            assert len(model.bodies) == _booked(program) == calls


def test_mining_stops_at_the_limit_and_goes_on_from_there(home: Path, project: Project) -> None:
    for name in "abcdefg":
        Session(home, project).type(f"add tests for {name}", f"Always test {name} with the flag --{name}.")
    with StubModel(answer_request) as model:
        program = _limited(home, model, 3)
        found = program.json("mine", "--yes", "--dry-run")
        assert len(model.bodies) == _booked(program) == found["calls"] == 3
        program.environment["SKILLD_BUDGET__CALLS"] = "5"
        program.json("mine", "--yes")
        assert len(model.bodies) == _booked(program) == 5


@pytest.mark.parametrize(
    "verb", [("recommend", TASK, "--ask"), ("trim", "--ask", "--dry-run"), ("chat", "hello"), ("doctor", "--ask")]
)
def test_nothing_is_asked_once_the_limit_is_reached(home: Path, project: Project, verb: tuple[str, ...]) -> None:
    (project.root / "CLAUDE.md").write_text("# Shop\n\n- Be brief.\n- See `docs/gone.md`.\n")
    at = () if verb[0] == "doctor" else ("--project", str(project.root))
    with StubModel(lambda _: Reply(text="{}")) as model:
        program = _limited(home, model, 1)
        program.run("chat", "first", "--project", str(project.root))
        assert len(model.bodies) == 1
        result = program.run(*verb, *at)
        assert len(model.bodies) == 1
        assert verb[0] == "trim" or "budget is spent" in result.stdout + result.stderr


def test_programs_at_the_same_time_share_one_limit(home: Path, project: Project) -> None:
    with StubModel(lambda _: Reply(text='{"skills": []}', delay=1.0)) as model:
        program = _limited(home, model, 2)
        verb = ("recommend", TASK, "--project", str(project.root), "--ask")
        running = [program.start(*verb) for _ in range(4)]
        for process in running:
            process.wait()
        assert len(model.bodies) == _booked(program) == 2


def test_a_call_is_paid_for_even_if_skilld_is_killed_in_it(home: Path, project: Project) -> None:
    with StubModel(lambda _: Reply(text=NO_UPDATES, delay=60.0)) as model:
        program = _limited(home, model, 1)
        running = program.start("recommend", TASK, "--project", str(project.root), "--ask")
        model.wait_for_requests(1)
        running.send_signal(signal.SIGKILL)
        running.wait()
        (day,) = program.json("cost")["days"]
        assert day["calls"] == 1
        assert day["tokens_in"] > 0, "at least the question"
        program.run("recommend", TASK, "--project", str(project.root), "--ask")
        assert len(model.bodies) == 1


def test_a_lowered_limit_holds_from_the_next_call_on(home: Path, project: Project) -> None:
    """Also within a batch, and before the daemon looks at its settings by itself."""
    settings = home / ".config/skilld/config.toml"

    def answer(body: dict[str, Any]) -> Reply | str:
        settings.write_text("[budget]\ncalls = 1\n")
        return right_answer(body)

    with StubModel(answer) as model:
        program = program_with(home, model)
        settings.parent.mkdir(parents=True)
        settings.write_text(f"[budget]\ncalls = {CALLS + 50}\n")
        program.run("run", "--once")
        with program.daemon():
            teach(home, project)
            wait_for("the batch to wait for another day", lambda: program.json("status")["delayed"])
        assert len(model.bodies) == _booked(program) == 1
        assert "1 of 1 model calls used" in str(program.json("status")["delayed"])


@pytest.mark.parametrize(
    "verb", [("setup", "openai/stub"), ("doctor", "--ask"), ("config", "set", "model", "openai/stub")]
)
def test_a_test_question_before_the_first_run_is_booked(home: Path, verb: tuple[str, ...]) -> None:
    with StubModel(lambda _: Reply(text=NO_UPDATES)) as model:
        program = program_with(home, model)
        if verb[0] != "doctor":
            del program.environment["SKILLD_MODEL"]
        program.run(*verb)
        assert len(model.bodies) == _booked(program) == 1
        assert "(test question)  1 call" in program.run("cost").stdout
        assert "skilld has not run here yet" in program.run("status").stdout, "no session was read"
