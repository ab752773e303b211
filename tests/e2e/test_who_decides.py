"""Who may decide, with real processes: no disguised agent, but a person anywhere (S3, S4)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from conftest import furnish
from skilld.store import Store
from support import agent_disguises
from support.command_origins import CAN_ENTER, ORIGINS
from support.fake_callers import in_terminal, python_called
from support.lessons import RULE_LINES, TICKETS, Lessons
from support.live_project import Project
from support.program import Program
from support.session import LASTING_2, Session
from support.template import Template
from support.waiting import LIMIT, wait_for

SKILLD = (sys.executable, "-m", "skilld")
# An agent's client as far as the kernel goes: it starts a shell in a session of its own, without a terminal.
AGENT = "import subprocess, sys; subprocess.run(['bash', '-c', sys.argv[1]], start_new_session=True)"

TRANSCRIPTS = ".claude/projects/*/*.jsonl"


class Taught:
    """A person's home and project with one open proposal."""

    def __init__(self, folder: Path) -> None:
        home = folder / "home"
        home.mkdir()
        furnish(home)
        self.project = Project(folder / "project", home, ".claude/skills")
        self.program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
        (proposal,) = Lessons(home, self.project, self.program).teach(TICKETS)
        self.id = str(proposal["id"])


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Template[Taught]:
    return Template(tmp_path_factory.mktemp("decides"), Taught)


@pytest.fixture
def taught(original: Template[Taught]) -> Iterator[Taught]:
    with original.copy() as taught:
        yield taught


def run_without_person(program: Program, *words: str) -> tuple[int, str]:
    """Run a verb as cron starts it, and return its exit code and what it printed."""
    said = program.home / "said"
    with said.open("wb") as output:
        code = program.start(*words, output=output.fileno()).wait(LIMIT)
    return code, said.read_text()


def forge_session(home: Path, project: Project) -> Path:
    """Write a transcript that no agent has written, where none keeps its own."""
    session = Session(home / "nobody", project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING_2, "ok", "thanks", "go on")
    path = home / "forged.jsonl"
    path.write_bytes(session.path.read_bytes())
    shutil.rmtree(home / "nobody")
    return path


def commands(home: Path, project: Project, proposal: str) -> dict[str, str]:
    return {
        "accept": f"accept {proposal}",
        "reject": f"reject {proposal}",
        "revert": f"revert {proposal}",
        "config set": "config set accept.by_agents true",
        "mine FILE": f"mine {forge_session(home, project)} --yes",
        "pause": "pause 1h",
    }


@pytest.mark.skipif(shutil.which("script") is None, reason="no script(1) on this machine")
def test_s3_s4_no_disguise_lets_an_agent_decide(taught: Taught) -> None:
    program, project = taught.program, taught.project
    before, folder = project.fingerprint(), program.home / "tries"
    folder.mkdir()
    given = commands(program.home, project, taught.id)
    tries = agent_disguises.one_disguise_per_command(given)  # tests/live tries all of them, in a real client
    all_of_them = agent_disguises.write_script(folder, " ".join(SKILLD), given, program.environment, tries)
    # A terminal is above the agent, as a person's is; no variable tells of it.
    subprocess.run(
        [*in_terminal(), str(python_called("claude")), "-c", AGENT, f"sh {all_of_them}"],
        cwd=program.home, env=program.environment, stdin=subprocess.DEVNULL, check=True, timeout=10 * LIMIT,
    )  # fmt: skip
    wait_for("all of them to end", lambda: agent_disguises.has_ended(folder), 5 * LIMIT)
    tried = agent_disguises.read_attempts(folder, tries)
    assert {one: found for one, found in tried.items() if found.code != agent_disguises.REFUSED} == {}
    assert "(process" in tried["none", "accept"].said
    assert f"skilld accept {taught.id}" in tried["none", "accept"].said
    assert project.fingerprint() == before
    assert [item["state"] for item in program.json("proposals", "--state", "all")] == ["open"]
    assert program.json("status")["paused"] is False
    assert not (program.home / ".config/skilld/config.toml").exists()


@pytest.mark.parametrize("place", ORIGINS)
def test_a_person_can_decide_from_every_legitimate_place(taught: Taught, place: str) -> None:
    program = taught.program
    if place == "tmux" and shutil.which("tmux") is None:
        pytest.skip("no tmux on this machine")
    if place == "a container shell" and not CAN_ENTER:
        pytest.skip("a process namespace takes root, unshare and nsenter")
    assert ORIGINS[place]([*SKILLD, "accept", taught.id], program.home, program.environment) == 0
    assert [item["state"] for item in program.json("proposals", "--state", "all")] == ["accepted"]


def test_s3_the_setting_counts_only_in_its_own_file(taught: Taught) -> None:
    program, project = taught.program, taught.project
    agent = Program(program.home, {"CLAUDECODE": "1", "SKILLD_ACCEPT__BY_AGENTS": "true"})
    result = agent.run("accept", taught.id)
    assert result.returncode == 5
    assert "CLAUDECODE is set, so a coding agent is running this command" in result.stderr
    assert program.run("config", "set", "accept.by_agents", "true").returncode == 0
    for words in (("config", "unset", "accept.by_agents"), ("pause",), ("uninstall", "--yes")):
        assert agent.run(*words).returncode == 5, words
    assert agent.run("accept", taught.id).returncode == 0
    assert RULE_LINES[TICKETS] in project.skill_path.read_text()


def test_without_a_person_only_read_only_commands_run(taught: Taught) -> None:
    program = taught.program
    assert run_without_person(program, "show", taught.id)[0] == 0
    for words in (("mine", "--dry-run"), ("mine",), ("run", "--once")):
        assert run_without_person(program, *words)[0] == 0
    code, output = run_without_person(program, "reject", taught.id)
    assert code == 5
    assert f"Run it in a terminal: skilld reject {taught.id}" in output


def test_s4_text_from_a_hand_given_file_is_marked(program: Program, project: Project, home: Path) -> None:
    result = program.run("mine", str(forge_session(home, project)), "--min-turns", "1")
    assert result.returncode == 0, result.stderr
    proposals = program.json("proposals", "--state", "all")
    assert proposals, result.stdout
    assert "from a file you specified" in result.stdout
    for proposal in proposals:
        assert "the wording comes from a file you specified, not from you" in proposal["flags"]
        assert "from a file you specified" in program.run("show", proposal["id"]).stdout


@pytest.mark.parametrize("moved", ["CLAUDE_CONFIG_DIR", "SKILLD_ROOTS"])
def test_s4_without_a_person_a_variable_cannot_name_an_agents_folder(home: Path, project: Project, moved: str) -> None:
    path = forge_session(home, project)
    own = home / "own/projects/-x"
    own.mkdir(parents=True)
    shutil.copy(path, own / "5e55105e-0000-4000-8000-000000000001.jsonl")
    value = json.dumps({"claude-code": str(home / "own")}) if moved == "SKILLD_ROOTS" else str(home / "own")
    nobody = Program(home, {moved: value})
    for words in (("mine",), ("mine", "--nightly")):
        code, output = run_without_person(nobody, *words)
        assert code == 5, output
    assert Program(home).json("proposals") == []


@pytest.mark.parametrize(
    ("chosen", "what"),
    [
        ("CLAUDE_CONFIG_DIR", "reads"),
        ("SKILLD_ROOTS", "reads"),
        ("SKILLD_APPLY", "applies"),
        ("SKILLD_MODEL", "asks"),
        ("SKILLD_MODEL_BASE_URL", "asks"),
        ("SKILLD_BUDGET__USD", "spends"),
        ("XDG_CONFIG_HOME", "reads"),
    ],
)
def test_s3_s4_an_agent_cannot_choose_what_a_run_reads_or_applies(
    home: Path, project: Project, chosen: str, what: str
) -> None:
    path = forge_session(home, project)
    own = home / "own/projects/-x"
    own.mkdir(parents=True)
    shutil.copy(path, own / "5e55105e-0000-4000-8000-000000000001.jsonl")
    values = {
        "CLAUDE_CONFIG_DIR": str(home / "own"),
        "SKILLD_ROOTS": json.dumps({"claude-code": [str(home / "own")]}),
        "SKILLD_APPLY": "auto",
        "SKILLD_MODEL": "openai/stub",
        "SKILLD_MODEL_BASE_URL": "https://collector.example/v1",
        "SKILLD_BUDGET__USD": "1000",
        "XDG_CONFIG_HOME": str(home / "own"),
    }
    agent = Program(home, {"CLAUDECODE": "1", chosen: values[chosen]})
    result = agent.run("run", "--once", "--backfill", "5")
    assert result.returncode == 5
    assert f"Only you can choose what skilld {what}" in result.stderr
    assert Program(home).json("proposals", "--state", "all") == []
    assert Program(home, {"CLAUDECODE": "1"}).run("run", "--once").returncode == 0
    assert Program(home, {"CLAUDECODE": "1", "SKILLD_MODEL": "offline"}).run("run", "--once").returncode == 0


def test_s3_plain_git_decisions_made_beside_an_agent_are_marked(taught: Taught) -> None:
    program, project = taught.program, taught.project
    (proposal,) = program.json("proposals")
    assert proposal["id"] == taught.id
    project.git("cherry-pick", proposal["commit"])
    (found,) = program.json("proposals", "--state", "all")
    assert (found["state"], found["decided_by"]) == ("accepted", "git, maybe claude-code")
    line = project.skill_path.read_text().splitlines().index(RULE_LINES[TICKETS]) + 1
    for words in (("show", proposal["id"]), ("why", f"{project.skill_path}:{line}"), ("review", "--plain")):
        output = program.run(*words).stdout
        assert "by you or an agent (claude-code had an active session here around that time)" in output, words
        assert f"if it was not you, undo it: skilld revert {proposal['id']}" in output, words
    assert program.run("revert", proposal["id"]).returncode == 0
    assert "by you or an agent" not in program.run("show", proposal["id"]).stdout


def test_plain_git_decisions_made_after_the_agent_left_are_the_persons(taught: Taught) -> None:
    program, project = taught.program, taught.project
    with closing(Store.open(program.home / ".local/state/skilld/skilld.db")) as store:
        for path in program.home.glob(TRANSCRIPTS):
            store.transcripts.end_session("claude-code", path.stem)
    wait_for("a later second: a commit has whole ones", lambda: time.time() > _newest(program) + 2)
    (proposal,) = program.json("proposals")
    project.git("cherry-pick", proposal["commit"])
    (found,) = program.json("proposals", "--state", "all")
    assert (found["id"], found["state"], found["decided_by"]) == (taught.id, "accepted", "git")


def _newest(program: Program) -> float:
    return max(path.stat().st_mtime for path in program.home.glob(TRANSCRIPTS))
