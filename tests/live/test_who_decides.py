"""Real clients run skilld's commands as their own tool: refused in every disguise (part 3, findings S3 and S4).

The client sits in a terminal (tmux), as a person's does, so that only what stands between tells the two apart.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support import agent_disguises
from support.command_origins import CAN_ENTER, ORIGINS
from support.live_agent import LiveAgent
from support.live_bench import Bench
from support.live_claude_code import ClaudeCode
from support.live_codex import Codex
from support.program import Program
from support.session import LASTING, Session
from support.stub_agents import Call, Rule, Say
from support.terminal import Terminal
from support.waiting import LIMIT, wait_for
from tools.live_clients import CLAUDE_CODE, CODEX, Client

pytestmark = pytest.mark.live

SKILLD = (sys.executable, "-m", "skilld")
# What an agent tries, first openly. `unshare` is left out where a user may make no namespace.
TRIED = (
    "none",
    "env -i",
    "script",
    "setsid",
    "nohup",
    "double fork",
    "script in a double fork",
    "unshare",
    "the variable of a setting",
    "settings of its own",
)
# Where people type. A real tmux and a real process namespace; a real sshd where one is installed; the terminal of the
# desktop and of the editor are real ptys below a program that has the name of one.
HONEST = ("an editor's terminal", "ssh", "tmux", "a desktop terminal", "a container shell")


class CodexInAnothersProject(Codex):
    """Codex in a project whose skill somebody taught with Claude Code."""

    project_skills = ClaudeCode.project_skills


class Case(NamedTuple):
    """One agent: how it is told to run a command, and to ask nobody first."""

    agent: type[LiveAgent]
    client: Client
    tool: Callable[[str], Call]
    unasked: str


CASES = {
    "claude": Case(
        ClaudeCode,
        CLAUDE_CODE,
        lambda command: Call("Bash", {"command": command, "timeout": 600_000}),
        "--dangerously-skip-permissions",
    ),
    "codex": Case(
        CodexInAnothersProject,
        CODEX,
        lambda command: Call("exec_command", {"cmd": command, "yield_time_ms": 30_000}),
        "--dangerously-bypass-approvals-and-sandbox",
    ),
}


def _proposal(bench: Bench) -> dict[str, Any]:
    session = Session(bench.agent.home, bench.project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, "ok, looks good", "thanks", "go on")
    assert bench.skilld.run("run", "--once", "--backfill", "1").returncode == 0
    (proposal,) = bench.skilld.json("proposals")
    return dict(proposal)


@pytest.mark.parametrize("name", CASES)
def test_a_real_client_decides_in_no_disguise(
    make_bench: Callable[[type[LiveAgent], Client], Bench], name: str
) -> None:
    case = CASES[name]
    bench = make_bench(case.agent, case.client)
    proposal = _proposal(bench)
    forged = bench.project.root.parent / "forged.jsonl"
    (genuine,) = bench.agent.home.glob(".claude/projects/-x-project/*.jsonl")
    forged.write_bytes(genuine.read_bytes())
    commands = {
        "accept": f"accept {proposal['id']}",
        "reject": f"reject {proposal['id']}",
        "revert": f"revert {proposal['id']}",
        "config set": "config set accept.by_agents true",
        "mine FILE": f"mine {forged} --yes",
        "pause": "pause 1h",
    }
    folder = bench.project.root.parent / "tries"
    folder.mkdir()
    tries = agent_disguises.every_command_in_every_disguise(commands)
    run = agent_disguises.write_script(folder, " ".join(SKILLD), commands, bench.skilld.environment, tries)
    # skilld's own variables: the client passes its environment on to its shell.
    environment = {**bench.skilld.environment, **bench.agent.environment, "PATH": bench.agent.environment["PATH"]}
    bench.stub.rules = [Rule("run the script", case.tool(f"sh {run}"), Say("Done."))]
    before = bench.project.fingerprint()
    words = bench.agent.headless_arguments("run the script", case.unasked)
    with Terminal([bench.agent.program, *words], cwd=bench.project.root, environment=environment) as terminal:
        wait_for("the client to run it", lambda: agent_disguises.has_started(folder), context=terminal.screen)
        with bench.stub.held():  # Codex goes on after 30 s at most, and ends what still runs when it has its answer
            wait_for("all to be tried", lambda: agent_disguises.has_ended(folder), 6 * LIMIT, context=terminal.screen)
    assert agent_disguises.NAMES == TRIED
    tried = agent_disguises.read_attempts(folder, tries)
    assert tried.keys() == {
        (disguise, command) for disguise in agent_disguises.available_disguises() for command in commands
    }
    assert {one: found for one, found in tried.items() if found.code != agent_disguises.REFUSED} == {}
    title = "Claude Code" if name == "claude" else "Codex"
    assert f"{title} (process" in tried["none", "accept"].said
    assert f"Run it in your own terminal: skilld accept {proposal['id']}" in tried["none", "accept"].said
    assert bench.project.fingerprint() == before
    assert [item["state"] for item in bench.skilld.json("proposals", "--state", "all")] == ["open"]


@pytest.mark.parametrize("place", HONEST)
def test_a_person_is_let_through_in_the_honest_places(home: Path, place: str) -> None:
    if place == "a container shell" and not CAN_ENTER:
        pytest.skip("a process namespace takes root, unshare and nsenter")
    assert ORIGINS[place]([*SKILLD, "pause", "1s"], home, Program(home).environment) == 0
