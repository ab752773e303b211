"""The person's own agent judges what was typed into it: as back-end and as watched client, in one home."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from support.answers import CHANGE, NOTHING, operations, updates
from support.live_agent import LiveAgent
from support.live_bench import Bench
from support.live_claude_code import ClaudeCode
from support.live_codex import Codex
from support.live_project import SKILL, Project
from support.session import LASTING
from support.stub_agents import Call, Rule, Say, Step, StubAgents
from support.waiting import LIMIT, wait_for
from support.wire import Asked
from tools.live_clients import CLAUDE_CODE, CODEX, Client

pytestmark = pytest.mark.live

MARK = "skilld-ask:"


class Judge(StubAgents):
    """Answers the person's session as always, and skilld's own questions as a good model would."""

    def __init__(self) -> None:
        super().__init__()
        self.judged: list[Asked] = []

    def _next_step(self, asked: Asked) -> Step:
        question = json.dumps(asked.body)
        if MARK not in question:
            return super()._next_step(asked)
        self.judged.append(asked)
        if "<improvements>" in question:
            return Say(operations())
        return Say(NOTHING if f"- {CHANGE}" in question else updates())


@pytest.fixture
def stub() -> Iterator[Judge]:
    with Judge() as server:
        yield server


def point_claude_code(bench: Bench) -> None:
    """Name the stand-in in Claude Code's own settings: variables with endpoints do not reach a back-end."""
    settings = {"env": {"ANTHROPIC_BASE_URL": bench.stub.origin}}
    (bench.agent.home / ".claude").mkdir()
    (bench.agent.home / ".claude" / "settings.json").write_text(json.dumps(settings))
    bench.skilld.environment["ANTHROPIC_API_KEY"] = bench.agent.environment["ANTHROPIC_API_KEY"]
    bench.stub.rules = [Rule("version 1.4", Call("Skill", {"skill": SKILL}), Say("The notes are written."))]


def point_codex(bench: Bench) -> None:
    """Have Codex ask for no key: the variable it is told of in other tests does not reach a back-end."""
    config = bench.agent.home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace('env_key = "STUB_KEY"\n', ""))


class Case(NamedTuple):
    """One agent, and what is peculiar about it here."""

    agent: type[LiveAgent]
    client: Client
    point: Callable[[Bench], None]
    first_prompt: str


CASES = {
    "claude": Case(ClaudeCode, CLAUDE_CODE, point_claude_code, "Write the release notes for version 1.4 please"),
    "codex": Case(Codex, CODEX, point_codex, f"${SKILL} write the notes for version 1.4 please"),
}


@pytest.mark.parametrize("program", CASES)
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
    assert not any(asked.has_tools for asked in stub.judged)
    assert bench.skilld.json("status")["spend_today"]["tokens"] >= 15 * len(stub.judged)

    (transcript,) = bench.agent.transcripts()
    assert [turn["text"] for turn in bench.inspect(transcript)["turns"]] == bench.agent.typed
    seen = bench.agent_status()
    assert (seen["files"], seen["turns"]) == (1, 3)
    kept = [
        path for path in bench.agent.home.rglob("*") if MARK.encode() in _content(path) or "skilld-ask" in path.name
    ]
    assert kept == []


def test_with_agent_words_reach_only_the_client_that_they_were_said_to(
    make_bench: Callable[[type[LiveAgent], Client], Bench], stub: Judge, tmp_path: Path, home: Path
) -> None:
    claude = make_bench(ClaudeCode, CLAUDE_CODE)
    project = Project(tmp_path / "second", home, Codex.project_skills)
    with Judge() as other:
        codex = Bench(Codex(CODEX.path, home, project.root, other), project, claude.skilld, other)
        point_claude_code(claude)
        point_codex(codex)
        path = f"{CLAUDE_CODE.path.parent}:{CODEX.path.parent}:{claude.skilld.environment['PATH']}"
        claude.skilld.environment |= {"SKILLD_MODEL": "agent", "SKILLD_BATCH__TURNS": "3", "PATH": path}
        with claude.skilld.daemon():
            for bench, case, name in ((claude, CASES["claude"], "Ada"), (codex, CASES["codex"], "Bob")):
                with bench.agent:
                    for prompt in (f"{case.first_prompt}, {name}", LASTING, "ok, save it"):
                        bench.agent.say(prompt)
                    bench.agent.quit()
                bench.wait_until_seen(3)
            wait_for("both", lambda: len(claude.proposals("open")) == 2, every=0.5, context=claude.account)
    assert {one["model"] for one in claude.proposals("open")} == {"cli:claude", "cli:codex"}
    for judge, own, others in ((stub, "Ada", "Bob"), (other, "Bob", "Ada")):
        asked = json.dumps([one.body for one in judge.judged])
        assert f"please, {own}" in asked
        assert f"please, {others}" not in asked
    assert [claude.agent_status()["turns"], codex.agent_status()["turns"]] == [3, 3], "no question became a turn"


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
