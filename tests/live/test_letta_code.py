"""skilld beside real sessions of Letta Code, whose folder is only known once one has ended."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.live_bench import Bench
from support.live_declared import LETTA, DeclaredAgent
from support.live_project import SKILL
from support.session import LASTING, LASTING_2
from support.stub_agents import Rule
from tools.live_clients import LETTA_CODE

pytestmark = pytest.mark.live


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(DeclaredAgent.of(LETTA), LETTA_CODE)


def test_two_corrections_in_a_second_session_become_one_proposal(bench: Bench) -> None:
    bench.stub.rules = [Rule("version 1.4", *LETTA.steps(bench.project))]
    with bench.skilld.daemon():
        with bench.agent as first:
            first.say("good morning")
            first.quit()
        with bench.agent as session:
            session.say("Write the release notes for version 1.4 please")
            for said in (LASTING, "thanks, that reads well", LASTING_2, "ok, save it"):
                session.say(said)
            (proposal,) = bench.wait_for_proposals()
        assert bench.project.git("status", "--porcelain") == "?? .letta/"  # the client's own
    assert (proposal["skill"], proposal["agent"]) == (SKILL, "letta-code")
    assert proposal["path"] == str(bench.project.skill_path)
    assert {one["quote"] for one in proposal["evidence"]} == {LASTING, LASTING_2}
    assert "poetry" not in bench.project.git("show", proposal["commit"])
    seen = [bench.inspect(transcript) for transcript in bench.agent.transcripts()]
    assert sorted(turn["text"] for view in seen for turn in view["turns"]) == sorted(bench.agent.typed)
    assert [used["name"] for view in seen for used in view["skills"]] == [SKILL]
    assert [view["malformed"] for view in seen] == [0] * len(seen)


def test_a_headless_run_leaves_no_transcript(bench: Bench) -> None:
    with bench.skilld.daemon():
        bench.agent.headless(LASTING)
    assert bench.skilld.run("run", "--once").returncode == 0
    assert bench.stub.main_requests()  # it did run
    assert bench.agent.transcripts() == []
    assert bench.agent_status()["turns"] == 0
