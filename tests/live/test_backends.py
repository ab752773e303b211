"""The person's own agent judges what was typed into it: as back-end and as watched client, in one home."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from skilld.agents import ADAPTERS
from support.live_agent import LiveAgent
from support.live_bench import Bench
from support.live_claude_code import ClaudeCode
from support.live_codex import Codex
from support.live_opencode import OpenCode
from support.live_project import SKILL, Project
from support.loopback import Handler
from support.model_answers import CHANGE, NO_UPDATES, operations_answer, updates_answer
from support.notifications import notification_server
from support.program import Program
from support.session import LASTING, LASTING_2
from support.stub_agents import Call, Rule, Say, Step, StubAgents
from support.waiting import LIMIT, wait_for
from support.wire import Asked
from tools.live_clients import CLAUDE_CODE, CODEX, OPENCODE, Client

pytestmark = pytest.mark.live

MARK = "skilld-ask:"


class Judge(StubAgents):
    """Answers the person's session as always, and skilld's own questions as a good model would.

    It may refuse those for want of a login.
    """

    def __init__(self, *, refuses: bool = False) -> None:
        super().__init__()
        self.refuses = refuses
        self.judged: list[str] = []
        self.offered = 0  # questions that gave the model tools

    def answer_post(self, request: Handler, body: bytes) -> None:
        if self.refuses and MARK.encode() in body:
            self.judged.append(body.decode())
            request.send_body(401, json.dumps({"error": {"type": "authentication_error", "message": "No."}}).encode())
        else:
            super().answer_post(request, body)

    def _next_step(self, asked: Asked) -> Step:
        question = json.dumps(asked.body)
        if MARK not in question:
            return super()._next_step(asked)
        self.judged.append(question)
        self.offered += asked.has_tools
        if "<improvements>" in question:
            return Say(operations_answer())
        return Say(NO_UPDATES if f"- {CHANGE}" in question else updates_answer())


@pytest.fixture
def stub() -> Iterator[Judge]:
    with Judge() as server:
        yield server


def point_claude_code(bench: Bench) -> None:
    """Name the stand-in in Claude Code's own settings."""
    settings = {"env": {"ANTHROPIC_BASE_URL": bench.stub.origin}}
    (bench.agent.home / ".claude").mkdir()
    (bench.agent.home / ".claude" / "settings.json").write_text(json.dumps(settings))
    bench.skilld.environment["ANTHROPIC_API_KEY"] = bench.agent.environment["ANTHROPIC_API_KEY"]
    bench.stub.rules = [Rule("version 1.4", Call("Skill", {"skill": SKILL}), Say("The notes are written."))]


def point_codex(bench: Bench) -> None:
    """Have Codex ask for no key: the variable it is told of in other tests does not reach a back-end."""
    config = bench.agent.home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace('env_key = "STUB_KEY"\n', ""))


def point_opencode(bench: Bench) -> None:
    """Have it use the skill: its settings hold the endpoint and a key already."""
    bench.stub.rules = [Rule("version 1.4", Call("skill", {"name": SKILL}), Say("The notes are written."))]


class Case(NamedTuple):
    """One agent, and what is peculiar about it here."""

    agent: type[LiveAgent]
    client: Client
    point: Callable[[Bench], None]
    first_prompt: str


CASES = {
    "claude": Case(ClaudeCode, CLAUDE_CODE, point_claude_code, "Write the release notes for version 1.4 please"),
    "codex": Case(Codex, CODEX, point_codex, f"${SKILL} write the notes for version 1.4 please"),
    "opencode": Case(OpenCode, OPENCODE, point_opencode, "write the notes for version 1.4 please"),
}


@pytest.mark.parametrize("program", ["claude", "codex"])  # opencode is in the tests below: a run takes it ten seconds
def test_an_agent_judges_its_own_session_and_is_not_observed_doing_it(
    make_bench: Callable[[type[LiveAgent], Client], Bench], stub: Judge, program: str
) -> None:
    case = CASES[program]
    bench = make_bench(case.agent, case.client)
    case.point(bench)
    path = f"{case.client.path.parent}:{bench.skilld.environment['PATH']}"
    bench.skilld.environment |= {"SKILLD_MODEL": f"cli:{program}", "SKILLD_BATCH__TURNS": "3", "PATH": path}
    before = bench.project.fingerprint()

    with bench.skilld.daemon():
        with bench.agent:
            for prompt in (case.first_prompt, LASTING, "ok, save it"):
                bench.agent.say(prompt)
            (proposal,) = bench.wait_for_proposals(LIMIT)  # two or three runs of a client
            assert bench.project.fingerprint() == before
            bench.agent.quit()
        bench.wait_until_seen(3)
    assert bench.skilld.run("run", "--once").returncode == 0  # reads whatever the daemon had not

    assert proposal["model"] == f"cli:{program}"
    assert [evidence["quote"] for evidence in proposal["evidence"]] == [LASTING]
    assert CHANGE in bench.project.git("show", f"skilld/staging:{proposal['relpath']}")
    assert len(stub.judged) >= 2
    assert not stub.offered
    assert bench.skilld.json("status")["spend_today"]["tokens"] >= 15 * len(stub.judged)

    (transcript,) = bench.agent.transcripts()
    assert [turn["text"] for turn in bench.inspect(transcript)["turns"]] == bench.agent.typed
    seen = bench.agent_status()
    assert (seen["files"], seen["turns"]) == (1, 3)
    kept = [
        path for path in bench.agent.home.rglob("*") if MARK.encode() in _content(path) or "skilld-ask" in path.name
    ]
    assert kept == []


class Together:
    """All clients in one home, each in a project of its own and with an endpoint of its own; skilld asks each one.

    One that is not installed is left out, as long as there are two.
    """

    def __init__(self, make_bench: Callable[..., Bench], judges: Iterable[Judge], tmp_path: Path, home: Path) -> None:
        installed = {program: case for program, case in CASES.items() if case.client.path.exists()}
        self.cases = installed if len(installed) > 1 else CASES
        self.judges = dict(zip(self.cases, judges, strict=False))
        self.benches: dict[str, Bench] = {}
        self.skilld = Program(home, {"SKILLD_MODEL": "agent", "SKILLD_BATCH__TURNS": "2"})
        for program, case in self.cases.items():
            project = Project(tmp_path / program, home, case.agent.project_skills)
            made = make_bench(case.agent, case.client, project, self.judges[program])
            bench = replace(made, skilld=self.skilld)
            case.point(bench)
            self.skilld.environment["PATH"] = f"{case.client.path.parent}:{self.skilld.environment['PATH']}"
            self.benches[program] = bench

    def talk(self, *more: str) -> None:
        """Hold a session with each, in which the person gives their name."""
        for program, bench in self.benches.items():
            with bench.agent:
                for prompt in (f"{CASES[program].first_prompt}, {NAMES[program]}", LASTING, *more):
                    bench.agent.say(prompt)
                bench.agent.quit()
            bench.wait_until_seen(2 + len(more))

    def wait_until_judged(self, batches: int) -> None:
        wait_for(
            "all to be judged",
            lambda: self.skilld.json("status")["batches"]["done"] == batches,
            6 * LIMIT,  # up to nine runs of a client, one after the other
            every=0.5,
            context=self.benches["claude"].account,
        )


NAMES = {"claude": "Ada", "codex": "Bob", "opencode": "Cyd"}


@pytest.fixture
def together(make_bench: Callable[..., Bench], tmp_path: Path, home: Path) -> Iterator[Together]:
    with Judge() as one, Judge() as two, Judge() as three:
        yield Together(make_bench, (one, two, three), tmp_path, home)


def test_with_agent_words_reach_only_the_client_that_they_were_said_to(together: Together) -> None:
    with together.skilld.daemon():
        together.talk()
        together.wait_until_judged(len(together.cases))
    assert {one["model"] for one in together.skilld.json("proposals")} == {
        f"cli:{program}" for program in together.cases
    }
    for program, judge in together.judges.items():
        asked = "".join(judge.judged)
        assert f"please, {NAMES[program]}" in asked
        assert not [name for other, name in NAMES.items() if other != program and f"please, {name}" in asked]
    agents = together.skilld.json("status")["agents"]
    turns = {agents[case.agent.agent]["turns"] for case in together.cases.values()}
    assert turns == {2}, "no question became a turn"


def test_without_a_login_all_is_judged_offline_and_each_agent_is_asked_and_told_of_once(together: Together) -> None:
    if shutil.which("dbus-daemon") is None:
        pytest.skip("no dbus-daemon on this machine")
    judges = together.judges
    for judge in judges.values():
        judge.refuses = True
    titles = {ADAPTERS[case.agent.agent].INFO.title for case in together.cases.values()}
    with notification_server() as server:
        together.skilld.environment |= {
            "DBUS_SESSION_BUS_ADDRESS": server.address,
            "SKILLD_NOTIFY__MINUTES_BETWEEN": "0",
            "SKILLD_NOTIFY__PER_DAY": "100",
        }
        with together.skilld.daemon():
            together.talk(LASTING_2, "ok, save it")
            together.wait_until_judged(2 * len(titles))

            def told() -> list[str]:
                return [
                    line for notice in server.shown for line in notice["body"].splitlines() if "without a model" in line
                ]

            wait_for("notices of all", lambda: len(told()) >= len(titles), context=lambda: str(server.shown))
    assert sorted(line.partition(":")[0] for line in told()) == sorted(titles)
    questions = {program: set(re.findall(rf"{MARK}\w+", "".join(judge.judged))) for program, judge in judges.items()}
    assert {program: len(asked) for program, asked in questions.items()} == dict.fromkeys(judges, 1), (
        "clients try again"
    )
    assert {one["model"] for one in together.skilld.json("proposals")} == {"offline"}
    lines = together.skilld.json("status")["backend"]["agents"]
    assert {line["agent"] for line in lines} == titles
    assert all("judged without a model, by explicit wording only" in line["why"] and line["remedy"] for line in lines)


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
