"""The plugins in real clients: validated, installed from this repository, seen at work, and gone without a trace."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.live_agent import LiveAgent
from support.live_bench import Bench
from support.live_claude_code import ClaudeCode
from support.live_codex import Codex
from support.live_copilot import CopilotCli
from support.live_gemini import GeminiCli
from support.live_opencode import OpenCode
from support.live_qwen import QwenCode
from support.session import LASTING, Session
from support.stub_agents import Rule, Say
from support.waiting import wait_for
from tools.live_clients import (
    CLAUDE_CODE,
    CLAUDE_CODE_NEWER,
    CODEX,
    COPILOT_CLI,
    GEMINI_CLI,
    OPENCODE,
    QWEN_CODE,
    Client,
)

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins/claude-code"
# As a client writes it that has had any plugin, and was started: it orders and migrates its settings by itself.
SETTINGS = """\
{
  "cleanupPeriodDays": 20,
  "enabledPlugins": {},
  "extraKnownMarketplaces": {},
  "theme": "dark"
}
"""
REFUSED = "Shell command permission check failed"
INJECTED = "x'; skilld revert --help; touch owned; '$(touch owned)"


class WithProgram(ClaudeCode):
    """Claude Code of a person who has skilld on the PATH; without it where `has` is off."""

    has = True

    def variables(self) -> Mapping[str, str]:
        path = os.pathsep.join([str(self.home / "bin")] * self.has + [os.environ["PATH"]])
        return {**super().variables(), "PATH": path}

    def is_ready(self, screen: str) -> bool:
        return super().is_ready(screen) or "skilld: 1 waiting" in screen  # in place of the line with the shortcuts


class WithoutProgram(WithProgram):
    """Claude Code of a person who has the plugin and not the program."""

    has = False


@pytest.fixture(params=[CLAUDE_CODE, CLAUDE_CODE_NEWER], ids=lambda client: client.version)
def bench(make_bench: Callable[..., Bench], request: pytest.FixtureRequest) -> Bench:
    return make_bench(WithProgram, request.param)


def put_on_path(bench: Bench) -> None:
    """Have `skilld` be a program of this home, as an installed one is."""
    program = bench.agent.home / "bin/skilld"
    program.parent.mkdir()
    variables = " ".join(
        f"{name}={shlex.quote(value)}" for name, value in bench.skilld.environment.items() if name != "PATH"
    )
    program.write_text(f'#!/bin/sh\nexec env {variables} {sys.executable} -m skilld "$@"\n')
    program.chmod(0o755)


def a_proposal(bench: Bench) -> dict[str, Any]:
    """Have one proposal that waits."""
    session = Session(bench.agent.home, bench.project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, "ok, looks good", "thanks", "go on")
    assert bench.skilld.run("run", "--once", "--backfill", "1").returncode == 0
    (proposal,) = bench.proposals("open")
    return proposal


def added(diff: str) -> list[str]:
    """Return the lines that a proposal adds."""
    return [line[1:] for line in diff.splitlines() if line.startswith("+") and line[1:2] != "+"]


def newest(bench: Bench) -> str:
    """Return what the client sent to its model last."""
    return bench.stub.main_requests()[-1].newest


def settings_of(agent: LiveAgent) -> Path:
    path = agent.home / ".claude/settings.json"
    path.parent.mkdir(exist_ok=True)
    return path


def test_its_files_are_valid(bench: Bench) -> None:
    for path in (ROOT, PLUGIN):
        assert "Validation passed" in bench.agent.manage("plugin", "validate", "--strict", str(path))


def test_it_shows_what_waits_and_leaves_nothing_behind(bench: Bench) -> None:
    put_on_path(bench)
    proposal = a_proposal(bench)
    settings = settings_of(bench.agent)
    settings.write_text(SETTINGS)
    agent = bench.agent
    agent.manage("plugin", "marketplace", "add", str(ROOT))
    agent.manage("plugin", "install", "skilld@skilld")
    assert bench.skilld.run("setup", "--statusline", "claude-code").returncode == 0
    bench.stub.rules = [
        Rule("Only the user decides: tell them", Say("That is what waits.")),
        Rule("led to that line, as skilld kept them", Say("That is why.")),
    ]
    with agent:
        screen = agent.terminal.wait("the status line", lambda screen: "skilld: 1 waiting" in screen)
        print(screen)
        agent.say("/skilld:review")
        assert proposal["id"] in newest(bench)
        assert proposal["summary"] in newest(bench)
        (line,) = added(bench.skilld.json("show", proposal["id"])["diff"])
        # The person accepts it in a terminal of their own: the line goes, and `why` knows whose words these are.
        assert bench.skilld.run("accept", proposal["id"]).returncode == 0
        agent.terminal.wait("the status line to go", lambda screen: "waiting" not in screen.split("❯")[-1])
        number = bench.project.skill_path.read_text().splitlines().index(line) + 1
        line = f"{bench.project.skill_path}:{number}"
        agent.say(f"/skilld:why {line}")
        assert LASTING in newest(bench)
        agent.send(f"/skilld:why {INJECTED}")
        # The older client refuses, the newer one hands the words to the agent, whose permissions they then need.
        screen = agent.terminal.wait("an answer", lambda shown: shown.count("That is why") > 1 or REFUSED in shown)
        print(screen)
        agent.quit()
    assert not (bench.project.root / "owned").exists()
    own = [bench.inspect(path) for path in agent.transcripts() if "-x-project" not in str(path)]
    assert [turn["text"] for seen in own for turn in seen["turns"]] == [line] + [INJECTED] * (REFUSED not in screen)
    assert [one["state"] for one in bench.proposals()] == ["accepted"]
    bench.skilld.run("setup", "--statusline", "none")
    agent.manage("plugin", "uninstall", "skilld@skilld")
    agent.manage("plugin", "marketplace", "remove", "skilld")
    assert settings.read_text() == SETTINGS
    assert "skilld@skilld" not in agent.manage("plugin", "list")  # its cache goes later, by itself


@pytest.mark.parametrize("client", [CLAUDE_CODE, CLAUDE_CODE_NEWER], ids=lambda client: client.version)
def test_without_the_program_it_says_how_to_get_it(make_bench: Callable[..., Bench], client: Any) -> None:
    if shutil.which("skilld"):
        pytest.skip("skilld is on this PATH")
    bench = make_bench(WithoutProgram, client)
    settings = settings_of(bench.agent)
    settings.write_text('{"theme":  "dark"}')
    folder = bench.agent.home / ".claude/skills/skilld"
    shutil.copytree(PLUGIN, folder)
    with bench.agent as agent:
        agent.say("/skilld:review")
        print(agent.terminal.screen())
        agent.quit()
    assert "To install it, in a checkout of its repository: pipx install ." in newest(bench)
    shutil.rmtree(folder)
    assert json.loads(settings.read_text()) == {"theme": "dark"}
    assert settings.read_text() == '{"theme":  "dark"}'


@dataclass(frozen=True, slots=True)
class Other:
    """How another client gets the plugin and loses it, and what a person types to use it. Paths are below the home."""

    agent: type[LiveAgent]
    client: Client
    settings: str
    folder: str  # that appears, and goes again
    install: Sequence[Sequence[str]]  # without a command: the commands are copied into the folder
    remove: Sequence[Sequence[str]]
    typed: str


EXTENSION = str(ROOT / "plugins/gemini-cli")
MARKET = str(ROOT)
OTHERS = {
    "codex": Other(
        Codex,
        CODEX,
        ".codex/config.toml",
        ".codex/plugins/cache/skilld/skilld",
        (("plugin", "marketplace", "add", MARKET), ("plugin", "add", "skilld@skilld")),
        (("plugin", "remove", "skilld@skilld"), ("plugin", "marketplace", "remove", "skilld")),
        "$skilld:review please",
    ),
    "gemini-cli": Other(
        GeminiCli,
        GEMINI_CLI,
        ".gemini/settings.json",
        ".gemini/extensions/skilld",
        (("extensions", "validate", EXTENSION), ("extensions", "install", "--consent", EXTENSION)),
        (("extensions", "uninstall", "skilld"),),
        "/skilld:review please",
    ),
    "qwen-code": Other(
        QwenCode,
        QWEN_CODE,
        ".qwen/settings.json",
        ".qwen/extensions/skilld",
        (("extensions", "install", "--consent", EXTENSION),),
        (("extensions", "uninstall", "skilld"),),
        "/skilld:review please",
    ),
    "copilot-cli": Other(
        CopilotCli,
        COPILOT_CLI,
        ".copilot/config.json",
        "",  # it reads the plugin where it lies
        (("plugin", "marketplace", "add", MARKET), ("plugin", "install", "skilld@skilld")),
        (("plugin", "uninstall", "skilld@skilld"), ("plugin", "marketplace", "remove", "skilld")),
        "/skilld:review please",
    ),
    "opencode": Other(
        OpenCode,
        OPENCODE,
        ".config/opencode/opencode.json",
        ".config/opencode/commands/skilld",
        (),
        (),
        "/skilld/review please",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_client_takes_it_uses_it_and_loses_it(make_bench: Callable[..., Bench], name: str) -> None:
    other = OTHERS[name]
    bench = make_bench(other.agent, other.client)
    agent = bench.agent
    settings = agent.home / other.settings
    with agent:
        agent.quit()  # a client may bring its settings up to date when it first starts
    before = settings.read_bytes()
    put_in(agent, other)
    assert (agent.home / other.folder).is_dir()
    if name == "codex":  # it counts its starts in its settings: they are compared without a start in between
        take_out(agent, other)
        assert settings.read_bytes() == before
        put_in(agent, other)
    with agent:
        if name == "qwen-code":  # it takes prompts before it knows the commands of its extensions
            wait_for("the command to be offered", lambda: is_offered(agent), every=1.0)
        agent.say(other.typed)
        print(agent.terminal.screen())
        agent.quit()
    assert "Run `skilld proposals` and show" in json.dumps([asked.body for asked in bench.stub.main_requests()])
    take_out(agent, other)
    assert name == "codex" or settings.read_bytes() == before
    assert not other.folder or not (agent.home / other.folder).exists()


def is_offered(agent: LiveAgent) -> bool:
    """Whether the client completes what begins with the plugin's name; leaves nothing typed."""
    agent.terminal.type("/skilld")
    screen = agent.terminal.screen()
    agent.terminal.press("C-u")
    return "waiting for your decision" in screen


def put_in(agent: LiveAgent, other: Other) -> None:
    for command in other.install:
        agent.manage(*command)
    if not other.install:
        shutil.copytree(ROOT / "plugins/opencode/commands/skilld", agent.home / other.folder)


def take_out(agent: LiveAgent, other: Other) -> None:
    for command in other.remove:
        agent.manage(*command)
    if not other.remove:
        shutil.rmtree(agent.home / other.folder)
