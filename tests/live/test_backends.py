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
from support.live_project import SKILL
from support.session import LASTING
from support.stub_agents import Call, Rule, Say, Step, StubAgents
from support.waiting import LIMIT
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


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
