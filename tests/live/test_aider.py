"""skilld beside a real session of Aider, which is only followed where the settings name its projects."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.live_aider import Aider
from support.live_bench import Bench
from support.live_project import SKILL
from support.session import LASTING, LASTING_2
from tools.live_clients import AIDER

pytestmark = pytest.mark.live


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    made = make_bench(Aider, AIDER)
    assert made.skilld.run("config", "set", "roots.aider", str(made.project.root)).returncode == 0
    return made


def test_what_is_typed_beside_a_skill_becomes_a_proposal(bench: Bench) -> None:
    with bench.skilld.daemon(), bench.agent as session:
        session.terminal.enter(f"/read-only {bench.project.skill_path}")
        session.terminal.wait_until_still("the skill to be read", lambda screen: "to read-only files" in screen)
        for said in ("please draft the notes", LASTING, "thanks, that reads well", LASTING_2, "ok, save it"):
            session.say(said)
        (proposal,) = bench.wait_for_proposals()
    assert (proposal["skill"], proposal["agent"]) == (SKILL, "aider")
    assert {one["quote"] for one in proposal["evidence"]} == {LASTING, LASTING_2}
    (transcript,) = session.transcripts()
    assert [turn["text"] for turn in bench.inspect(transcript)["turns"]] == session.typed


def test_a_headless_run_has_no_turns(bench: Bench) -> None:
    bench.agent.headless(LASTING)
    (transcript,) = bench.agent.transcripts()
    assert bench.agent.recorded(LASTING)
    assert bench.inspect(transcript)["turns"] == []
