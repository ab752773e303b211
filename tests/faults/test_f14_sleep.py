"""F-14: the machine sleeps in the middle of a question. It is asked once more, and proposed once."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from faults import apart
from faults.clock import Clock
from faults.model import CALLS, program_with, right_answer, teach
from support.live_project import Project
from support.model_answers import updates_answer
from support.processes import workers_of
from support.stub_model import Body, Reply, StubModel, request_text
from support.waiting import pause, wait_for

NIGHT = 8 * 3600.0


@pytest.mark.slow
def test_f14_sleeping_for_a_night_in_the_middle_of_a_question(home: Path, project: Project) -> None:
    questions: list[Body] = []  # about the batch; the session is over by morning, and its rules are asked about besides

    def answer(body: Body) -> Reply | str:
        if "<rules>" in request_text(body):
            return "<repeats>[]</repeats><matters>[]</matters>"
        questions.append(body)
        answers = [Reply(status=500, delay=1), Reply(text=updates_answer(), delay=1)]
        return answers[len(questions) - 1] if len(questions) <= len(answers) else right_answer(body)

    with StubModel(answer) as model:
        program = program_with(home, model)
        clock = Clock(program)

        def sleep_at_question(number: int) -> None:
            wait_for(f"question {number}", lambda: len(questions) >= number, context=program.output)
            asleep = [daemon.pid, *workers_of(home)]
            apart.stop(*asleep)
            clock.pass_by(NIGHT)
            pause(1.5)  # the answer comes meanwhile, to nobody
            apart.tell(signal.SIGCONT, *reversed(asleep))

        with apart.daemon(program) as daemon:
            teach(home, project)
            sleep_at_question(1)
            wait_for("the failure to be seen", lambda: program.json("status")["last_error"], every=0.5)
            clock.pass_by(120)
            sleep_at_question(2)
            wait_for("a proposal", lambda: program.json("proposals"), every=0.5, context=program.output)
    assert len(questions) == 1 + CALLS
    assert len(program.json("proposals", "--state", "all")) == 1
    assert project.git("rev-list", "--count", f"{project.skill_commit}..skilld/staging") == "1"
