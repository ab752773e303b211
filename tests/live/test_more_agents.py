"""skilld beside real sessions of the clients that are driven by a table, in a terminal and without one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.live_bench import Bench
from support.live_declared import DECLARED, Declared, DeclaredAgent
from support.live_stories import ContinuedStories, LeanStories
from support.session import LASTING
from support.stub_agents import Step

pytestmark = pytest.mark.live
CONTINUED = [row for row in DECLARED if row.resumes]


@pytest.fixture
def bench(row: Declared, make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(DeclaredAgent.of(row), row.client)


@pytest.mark.parametrize("row", DECLARED, ids=lambda row: row.agent)
class TestMoreAgents(LeanStories):
    first_prompt = "Write the release notes for version 1.4 please"

    def first_answer(self, bench: Bench) -> list[Step]:
        assert isinstance(bench.agent, DeclaredAgent)
        return bench.agent.row.steps(bench.project)

    def path_is_told(self, bench: Bench) -> bool:
        assert isinstance(bench.agent, DeclaredAgent)
        return not bench.agent.row.by_name


@pytest.mark.parametrize("row", CONTINUED, ids=lambda row: row.agent)
class TestMoreAgentsContinued(ContinuedStories):
    def continue_headless(self, bench: Bench, prompt: str) -> None:
        assert isinstance(bench.agent, DeclaredAgent)
        bench.agent.headless(prompt, *bench.agent.row.resumes)


def _turns(bench: Bench) -> list[str]:
    """Return what was typed in all sessions, what was copied once."""
    seen = [bench.inspect(transcript) for transcript in bench.agent.transcripts()]
    return sorted({turn["id"]: turn["text"] for view in seen for turn in view["turns"]}.values())


@pytest.mark.parametrize("row", [row for row in DECLARED if row.goes_on], ids=lambda row: row.agent)
def test_a_person_goes_on_with_a_session_that_began_without_one(bench: Bench) -> None:
    assert isinstance(bench.agent, DeclaredAgent)
    bench.agent.headless(LASTING)
    with bench.agent.opens(bench.agent.row.goes_on):
        bench.agent.say("now a person goes on with it")
        bench.agent.quit()
    assert _turns(bench) == ["now a person goes on with it"]


@pytest.mark.parametrize("row", [row for row in DECLARED if row.forks], ids=lambda row: row.agent)
def test_what_a_fork_copies_counts_once(bench: Bench) -> None:
    assert isinstance(bench.agent, DeclaredAgent)
    with bench.agent:
        bench.agent.say("good morning")
        bench.agent.quit()
    with bench.agent.opens(bench.agent.row.forks):
        bench.agent.say("after the fork")
        bench.agent.quit()
    assert len(bench.agent.transcripts()) == 2
    assert _turns(bench) == ["after the fork", "good morning"]
