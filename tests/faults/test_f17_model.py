"""F-17 and F-18: models that fail in every way, and a worker that dies between answer and commit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faults.clock import Clock
from faults.model import CALLS, judging, program_with, right_answer, teach
from support.live_project import Project
from support.model_answers import updates_answer
from support.stub_model import Reply, StubModel

HUGE = Reply(text="x" * 10_000_000)
HALF = Reply(raw=b'{"id":"x","object":"chat.completion","choices":[{"index":0,"mess')
SLOW = Reply(text=updates_answer(), delay=30)


@pytest.mark.slow
def test_f17_every_failure_is_retried_later_and_then_works(home: Path, project: Project) -> None:
    # 429, 500 and garbage: tests/e2e/test_model.py
    with StubModel(right_answer) as model:
        program = program_with(home, model, SKILLD_WORKER__ATTEMPTS="20")
        clock = Clock(program)
        program.run("run", "--once")
        teach(home, project)
        for number, (failure, seconds) in enumerate(((HALF, "60"), (SLOW, "16")), start=1):
            program.environment["SKILLD_WORKER__SECONDS"] = seconds
            model.queue(failure)
            while len(model.bodies) < number:  # on a busy machine its time may be up before it has asked
                program.run("run", "--once")
                assert program.json("status")["batches"] == {"pending": 1, "done": 0, "parked": 0}
                clock.pass_by(7200)
        program.environment["SKILLD_WORKER__SECONDS"] = "60"
        program.run("run", "--once")
        assert len(judging(model.bodies)) <= 2 + CALLS, "one question a try"
    assert len(program.json("proposals", "--state", "all")) == 1


@pytest.mark.slow
def test_f17_a_batch_that_fails_too_often_is_visibly_parked(home: Path, project: Project) -> None:
    with StubModel(right_answer) as model:
        program = program_with(home, model, SKILLD_WORKER__ATTEMPTS="2")
        clock = Clock(program)
        program.run("run", "--once")
        teach(home, project)
        for _ in range(3):
            model.queue(Reply(status=500))
            program.run("run", "--once")
            clock.pass_by(7200)
        assert len(judging(model.bodies)) == 2
        assert program.json("status")["batches"]["parked"] == 1
        assert "again: skilld retry" in program.run("status").stdout


def test_f17_a_model_that_does_not_exist_is_asked_again_once_the_settings_are_mended(
    home: Path, project: Project
) -> None:
    with StubModel(right_answer) as model:
        program = program_with(home, model)
        program.run("run", "--once")
        teach(home, project)
        model.queue(Reply(status=404))
        for _ in range(2):
            program.run("run", "--once")
            assert program.json("status")["batches"] == {"pending": 0, "done": 0, "parked": 1}
        asked = len(model.bodies)
        program.environment["SKILLD_MODEL"] += "-mini"
        program.run("run", "--once")
        assert len(model.bodies) > asked == 1
        assert program.json("status")["batches"] == {"pending": 0, "done": 1, "parked": 0}
    assert len(program.json("proposals", "--state", "all")) == 1


@pytest.mark.slow
def test_f17_a_ten_megabyte_answer_is_invalid(home: Path, project: Project) -> None:
    with StubModel(right_answer) as model:
        program = program_with(home, model)
        program.run("run", "--once")
        teach(home, project)
        model.queue(HUGE)
        assert program.run("run", "--once").returncode == 0
        assert len(model.bodies) == 1
    assert program.json("proposals", "--state", "all") == []
    assert program.json("status")["last_error"]["message"]


@pytest.mark.slow
def test_f17_absurd_costs_are_booked_and_stop_the_day(home: Path, project: Project) -> None:
    with StubModel(lambda body: Reply(text=str(right_answer(body)), tokens_in=10**30, tokens_out=-1)) as model:
        program = program_with(home, model)
        program.run("run", "--once")
        teach(home, project)
        assert program.run("run", "--once").returncode == 0
        assert len(model.bodies) == 1, "the limit is reached in the middle of a batch"
        teach(home, project)
        assert program.run("run", "--once").returncode == 0
        assert len(model.bodies) == 1
    assert program.json("status")["batches"] == {"pending": 2, "done": 0, "parked": 0}
    assert program.json("status")["spend_today"]["tokens"] == 10**9


@pytest.mark.slow  # in a process whose clock is set, where nothing else needs litellm
def test_f18_a_stored_answer_is_staged_without_asking_again(home: Path, project: Project) -> None:
    with StubModel(right_answer) as model:
        program = program_with(home, model)
        clock = Clock(program)
        program.run("run", "--once")
        teach(home, project)
        (clock.folder / "kill").write_text("worker 3")  # the first git command
        program.run("run", "--once")
        (clock.folder / "kill").unlink()
        assert len(judging(model.bodies)) == len(model.bodies) == CALLS
        assert program.json("proposals", "--state", "all") == []
        clock.pass_by(3600)
        program.run("run", "--once")
        assert len(judging(model.bodies)) == CALLS
    clock.set(0)  # the hour that passed may have begun another day
    (proposal,) = program.json("proposals")
    assert json.dumps(proposal["evidence"]).count("ticket number") == 1
    assert program.json("status")["spend_today"]["calls"] == len(model.bodies)
