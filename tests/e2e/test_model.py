"""A configured model: what it is sent, and what its answers may and may not do."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from faults.model import program_with, teach
from support.live_project import SKILL_TEXT, Project
from support.model_answers import CHANGE, NO_UPDATES, operations_answer, updates_answer
from support.program import Program
from support.session import CHATTER, LASTING, Session
from support.stub_model import GARBAGE, Body, Reply, StubModel, request_text


def _program(home: Path, model: StubModel) -> Program:
    program = program_with(home, model)
    assert program.run("run", "--once").returncode == 0
    return program


def _session(home: Path, project: Project) -> Session:
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0")
    session.tool_output("TOOL-OUTPUT-NOBODY-TYPED always use tabs")
    session.reply("A long answer. " + "word " * 400)
    session.type(LASTING, "ok go on", "looks good", "thanks " + "and so on " * 90)
    return session


def _judge(home: Path, project: Project, *answers: Reply | str) -> tuple[Program, list[Body]]:
    """Have the session judged by a model that answers so; return skilld, and what the model was asked."""
    with StubModel() as model:
        model.queue(*answers)
        program = _program(home, model)
        _session(home, project)
        program.run("run", "--once")
        return program, model.bodies


def test_one_proposal_takes_these_requests(home: Path, project: Project) -> None:
    program, (detection, edit, again) = _judge(home, project, updates_answer(), operations_answer(), NO_UPDATES)
    assert [m["role"] for m in detection["messages"]] == ["system", "user"]
    assert detection["temperature"] == 0
    assert "tools" not in detection
    assert detection.get("stream") is not True
    asked = request_text(detection)
    block = re.search(r"<recent_messages mark=.*?>\n(.*)\n</recent_messages mark=", asked, re.DOTALL)
    assert block is not None
    messages = [json.loads(line) for line in block[1].splitlines()]
    assert [m["turn"] for m in messages if m["role"] == "user"] == [1, 2, 3, 4, 5]
    assert max(len(m["text"]) for m in messages) <= 500
    assert "<skill_definition" in asked
    assert "No marketing words" in asked
    assert "TOOL-OUTPUT-NOBODY-TYPED" not in asked
    assert "<current_skill_file>" in request_text(edit)
    assert CHANGE in request_text(again)
    unmarked = [
        re.sub(r'mark="\w{12}"', "mark", text) for text in (request_text(again).replace(f"- {CHANGE}\n", ""), asked)
    ]
    assert unmarked[0] == unmarked[1]
    (proposal,) = program.json("proposals")
    assert proposal["model"] == "openai/stub"
    assert proposal["evidence"][0]["quote"] == LASTING
    assert f"- No marketing words.\n- {CHANGE}\n" in project.git("show", f"skilld/staging:{proposal['relpath']}") + "\n"
    assert proposal["flags"] == []
    assert program.json("status")["spend_today"]["calls"] == 3


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("this is no JSON at all", "not valid JSON"),
        (updates_answer(change="Always run rm -rf build/ before you publish."), "you did not say"),
        (NO_UPDATES, ""),
    ],
)
def test_an_invalid_answer_proposes_nothing_and_shows_in_status(
    home: Path, project: Project, answer: str, told: str
) -> None:
    program, asked = _judge(home, project, answer, '<changes>["ok go on"]</changes>')
    assert len(asked) == (2 if told else 1), "whatever is wrong with an answer is asked about once more"
    assert program.json("proposals", "--state", "all") == []
    assert project.git("for-each-ref", "refs/heads/skilld", "refs/skilld") == ""
    error = program.json("status")["last_error"]
    assert told in (error or {"message": ""})["message"]
    assert bool(error) == bool(told)


def test_an_edit_that_does_not_fit_is_requested_once_more(home: Path, project: Project) -> None:
    """What only adds is placed by code instead; code cannot know which line is to give way."""
    answers = (
        updates_answer(kind="change_step"),
        operations_answer(anchor="- A line nobody wrote."),
        operations_answer(),
        NO_UPDATES,
    )
    program, (_, first, second, _) = _judge(home, project, *answers)
    assert request_text(second).startswith(request_text(first))
    assert "its anchor is not in the file" in request_text(second)
    (proposal,) = program.json("proposals")
    assert f"- No marketing words.\n- {CHANGE}\n" in project.git("show", f"skilld/staging:{proposal['relpath']}") + "\n"


def test_an_error_at_the_last_question_adds_a_flag_but_keeps_the_proposal(home: Path, project: Project) -> None:
    program, _ = _judge(home, project, updates_answer(), operations_answer(), Reply(status=500))
    (proposal,) = program.json("proposals")
    assert proposal["flags"] == ["could not verify that it says what you said"]


def test_chatter_is_not_sent_to_a_model(home: Path, project: Project) -> None:
    with StubModel() as model:
        program = _program(home, model)
        session = Session(home, project)
        session.use_skill()
        session.type(*CHATTER)
        program.run("run", "--once")
        assert model.bodies == []
    assert program.json("status")["batches"]["done"] == 1
    told = program.run("status").stdout
    assert "batches   0 waiting to be judged, 0 judged, 1 skipped, 0 failed" in told


def test_without_a_skill_a_model_chooses_among_the_loaded_files(home: Path, project: Project) -> None:
    """Y1, Y6: the places are numbered as skills are, one that does not exist yet too."""
    (project.root / "CLAUDE.md").write_text(SKILL_TEXT.partition("## Steps")[2])
    project.git("add", "CLAUDE.md")
    project.git("commit", "--quiet", "--message", "Add CLAUDE.md")
    with StubModel() as model:
        model.queue(updates_answer(), operations_answer(), NO_UPDATES)
        program = _program(home, model)
        Session(home, project).type("hello", LASTING, "ok", "thanks", "go on")
        program.run("run", "--once")
        asked = request_text(model.bodies[0])
    assert '<skill_definition number="1" name="CLAUDE.md, of this project">' in asked
    assert (
        '<skill_definition number="2" name="~/.claude/CLAUDE.md, personal, for all projects, not there yet">' in asked
    )
    (proposal,) = program.json("proposals")
    assert (proposal["relpath"], proposal["model"]) == ("CLAUDE.md", "openai/stub")


@pytest.mark.parametrize("reply", [Reply(status=429, retry_after=30), GARBAGE])
def test_a_temporary_error_is_retried_later(home: Path, project: Project, reply: Reply) -> None:
    program, asked = _judge(home, project, reply)
    assert len(asked) == 1, "no retry inside the worker"
    status = program.json("status")
    assert status["batches"] == {"pending": 1, "done": 0, "parked": 0}
    assert "Could not ask" in status["last_error"]["message"]
    (batches,) = (check for check in program.json("doctor")["checks"] if check["name"] == "batches")
    assert (batches["verdict"], "1 batch waits: Could not ask" in batches["detail"]) == ("warn", True)


def test_one_run_names_what_waits_for_a_server_that_is_down_and_counts_no_call(home: Path, project: Project) -> None:
    with StubModel() as gone:
        program = _program(home, gone)
    teach(home, project)
    host = gone.base_url.removeprefix("http://").partition("/")[0]
    waits = f"1 batch waits: Could not ask the model: no usable answer from {host}; could not connect"
    said = " ".join(program.run("run", "--once").stdout.split())
    assert ("Judged 0 batches." in said, waits in said) == (True, True), said
    assert program.json("status")["spend_today"]["calls"] == 0
    assert program.run("cost").stdout.startswith("No model calls yet.")


def test_a_rejected_key_parks_the_batch_until_retry(home: Path, project: Project) -> None:
    with StubModel() as model:
        model.queue(Reply(status=401), updates_answer(), operations_answer(), NO_UPDATES)
        program = _program(home, model)
        _session(home, project)
        program.run("run", "--once")
        assert program.json("status")["batches"]["parked"] == 1
        assert "rejected the key" in program.run("status").stdout
        assert (
            program.run("retry").stdout
            == "1 batch will be retried once skilld runs: skilld run, or skilld run --once\n"
        )
        program.run("run", "--once")
    assert len(program.json("proposals")) == 1


def test_a_secret_never_reaches_the_network_disk_or_git(home: Path, project: Project) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    with StubModel() as model:
        model.queue(updates_answer(quote=LASTING), operations_answer(), NO_UPDATES)
        program = _program(home, model)
        session = Session(home, project)
        session.use_skill()
        session.type("hello", f"{LASTING} My token is {secret}", "ok", "thanks", "go on")
        program.run("run", "--once")
        assert secret not in "".join(request_text(body) for body in model.bodies)
        assert len(model.bodies) == 3
    kept = b"".join(path.read_bytes() for path in (home / ".local").rglob("*") if path.is_file())
    assert secret.encode() not in kept
    assert secret not in project.git("log", "--all", "-p")


def test_a_spent_budget_stops_the_calls_until_raised(home: Path, project: Project) -> None:
    with StubModel() as model:
        model.queue(NO_UPDATES)
        program = _program(home, model)
        program.environment["SKILLD_BUDGET__CALLS"] = "1"
        _session(home, project)
        program.run("run", "--once")
        _session(home, project)
        said = " ".join(program.run("run", "--once").stdout.split())
        assert "Today's budget is spent (1 of 1 model calls used), so 1 batch must wait until tomorrow." in said
        assert len(model.bodies) == 1
        report = " ".join(program.run("report").stdout.split())
        assert "5 messages are not judged yet (why: skilld doctor)." in report
        why = program.json("doctor")["why_nothing"]
        assert why[-1] == "today's budget is spent (1 of 1 model calls used); the rest is judged tomorrow"
        status = program.json("status")
        assert status["batches"]["pending"] == 1
        assert status["budget"]["spent"] == "1 of 1 model calls used"
        (cost,) = program.json("cost")["days"]
        assert (cost["model"], cost["skill"], cost["calls"]) == ("openai/stub", "release-notes", 1)
        assert "1 batch waiting to be judged." in program.run("cost").stdout
        program.environment["SKILLD_BUDGET__CALLS"] = "2"
        model.queue(NO_UPDATES)
        assert (
            program.run("retry").stdout
            == "1 batch will be retried once skilld runs: skilld run, or skilld run --once\n"
        )
        program.run("run", "--once")
        assert program.json("status")["batches"]["pending"] == 0


def test_a_models_answer_is_applied_later_without_asking_again(home: Path, project: Project) -> None:
    lock = project.root / ".git/refs/heads/skilld/staging.lock"
    with StubModel() as model:
        model.queue(updates_answer(), operations_answer(), NO_UPDATES)
        program = _program(home, model)
        program.environment["SKILLD_WORKER__ATTEMPTS"] = "1"
        lock.parent.mkdir(parents=True)
        lock.touch()
        later = time.time() + 3600
        os.utime(lock, (later, later))  # ten seconds old it would be taken for abandoned, on a busy machine too
        _session(home, project)
        program.run("run", "--once")
        assert program.json("status")["batches"]["parked"] == 1
        assert program.json("status")["spend_today"]["calls"] == 3
        lock.unlink()
        program.run("retry")
        program.run("run", "--once")
        assert len(model.bodies) == 3
    (proposal,) = program.json("proposals")
    assert proposal["evidence"][0]["quote"] == LASTING
    assert program.json("status")["spend_today"]["calls"] == 3


def test_a_repeat_in_other_words_counts_even_if_a_command_read_the_session_first(home: Path, project: Project) -> None:
    rule, said = "No marketing words.", "who would ever buy this from us, same as last time"

    def answer(body: Body) -> str:
        asked = request_text(body)
        number = next((json.loads(line)["number"] for line in asked.splitlines() if rule in line), 0)
        repeats = f'<repeats>[{{"said": 1, "rule": {number}}}]</repeats>'
        return repeats if "<said>" in asked else "<matters>[]</matters>" if "<work>" in asked else NO_UPDATES

    with StubModel(answer) as model:
        program = _program(home, model)
        program.is_started = True
        session = Session(home, project)
        session.use_skill()
        session.type(said)
        program.run("run", "--once")
        program.run("effect")
        assert model.bodies == [], "it is not idle yet"
        an_hour_ago = time.time() - 3600
        os.utime(session.path, (an_hour_ago, an_hour_ago))
        for _ in range(2):
            program.run("effect")
            program.run("run", "--once")
    assert ["<said>" in request_text(body) for body in model.bodies].count(True) == 1
    (found,) = [one for one in program.json("effect")["rules"] if one["text"] == rule]
    assert [one["quote"] for one in found["evidence"]] == [said]
