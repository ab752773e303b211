"""Issue 18, 6: a real client that is left, cleared or killed closes its session, and what waits is judged at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import NamedTuple

import pytest

from support.live_agent import LiveAgent
from support.live_bench import Bench
from support.live_claude_code import ClaudeCode
from support.live_codex import Codex
from support.live_project import SKILL
from support.session import LASTING
from support.stub_agents import Call, Rule, Say, Step
from support.waiting import pause, wait_for, wait_in_time
from tools.live_clients import CLAUDE_CODE, CODEX, Client

pytestmark = pytest.mark.live

WITHIN = 10.0  # seconds; without this a session waits for ten idle minutes
_SILENCE = 3.0  # seconds in which somebody who is still there says nothing


class Person(NamedTuple):
    """A client, the first prompt that brings the skill in, and what its model does then."""

    agent: type[LiveAgent]
    client: Client
    prompt: str
    answer: tuple[Step, ...]


PEOPLE = {
    "claude-code": Person(
        ClaudeCode,
        CLAUDE_CODE,
        "Write the release notes for version 1.4 please",
        (Call("Skill", {"skill": SKILL}), Say("The notes are written.")),
    ),
    "codex": Person(Codex, CODEX, f"${SKILL} write the notes for version 1.4 please", (Say("The notes are written."),)),
}


def leave(session: LiveAgent) -> None:
    session.quit()


def kill(session: LiveAgent) -> None:
    os.kill(session.terminal.pid, signal.SIGKILL)
    session.terminal.wait("the client to be gone", lambda _: session.terminal.ended())


def clear(session: LiveAgent) -> None:
    """Begin anew in the same client: the next prompt belongs to another session."""
    if session.agent == "codex":
        session.terminal.enter("/new")
        session.terminal.wait("to be asked where", lambda screen: "Use current Git worktree" in screen)
        session.terminal.press("Enter")
    else:
        session.terminal.enter("/clear")
    session.terminal.wait_until_still("the client to begin anew", session.is_ready)
    session.say("good morning")


@pytest.mark.parametrize("way", [leave, kill, clear])
@pytest.mark.parametrize("who", PEOPLE)
def test_what_was_said_is_judged_as_soon_as_nobody_is_there(
    make_bench: Callable[..., Bench], who: str, way: Callable[[LiveAgent], None]
) -> None:
    person = PEOPLE[who]
    bench = make_bench(person.agent, person.client)
    bench.stub.rules = [Rule("version 1.4", *person.answer)]
    with bench.skilld.daemon(), bench.agent as session:
        session.say(person.prompt)
        session.say(LASTING)
        wait_for("both turns to be read", lambda: bench.agent_status()["turns"] == 2, every=0.2, context=bench.account)
        pause(_SILENCE)
        assert bench.proposals() == [], "somebody is still there"
        way(session)
        (proposal,) = wait_in_time(
            "a proposal", lambda: bench.proposals("open"), WITHIN, every=0.2, context=bench.account
        )
        assert [said["quote"] for said in proposal["evidence"]] == [LASTING]
