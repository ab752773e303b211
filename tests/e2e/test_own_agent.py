"""`model = "agent"`: each session is judged by its own agent's command line, faked by scripts."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from pathlib import Path

import pytest

from support.live_project import SKILL, Project
from support.model_answers import CHANGE, NO_UPDATES, operations_answer, updates_answer
from support.opencode_db import Client
from support.program import Program
from support.session import CHATTER, LASTING, Session

ELSEWHERE = "In future the internal codename stays out of the entries."
LOGGED_OUT = "print(json.dumps({'type': 'result', 'is_error': True, 'result': 'Invalid API key. Please run /login'}))"
AT_ITS_LIMIT = "print(json.dumps({'type': 'result', 'is_error': True, 'result': 'Claude AI usage limit reached|%d'}))"
SAYS = {
    "claude": "print(json.dumps({'type': 'result', 'result': answer, 'usage': {'input_tokens': 9}}))",
    "opencode": "print(json.dumps({'type': 'text', 'part': {'text': answer}}))",
}


class Clients:
    """Scripts that stand on PATH under the names of clients; what each was asked is kept."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "clients"
        self.folder.mkdir()

    def install(self, name: str, says: str = "") -> None:
        """Install a client that answers as a good model would, or does what `says`."""
        body = f"""\
            #!{sys.executable}
            import json, sys
            asked = sys.stdin.read()
            with open({str(self.folder / name)!r} + ".asked", "a") as file:
                file.write(json.dumps(asked) + "\\n")
            answer = {updates_answer()!r}
            if "<improvements>" in asked:
                answer = {operations_answer()!r}
            elif {"- " + CHANGE!r} in asked:
                answer = {NO_UPDATES!r}
            """
        (self.folder / name).write_text(textwrap.dedent(body) + (says or SAYS[name]) + "\n")
        (self.folder / name).chmod(0o755)

    def prompts_of(self, name: str) -> list[str]:
        """Return the questions that a client got."""
        log = self.folder / f"{name}.asked"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@pytest.fixture
def clients(home: Path) -> Clients:
    return Clients(home)


@pytest.fixture
def program(home: Path, clients: Clients) -> Program:
    settings = {"SKILLD_NOTIFY__ENABLED": "false", "SKILLD_MODEL": "agent"}
    made = Program(home, settings)
    made.environment["PATH"] = f"{clients.folder}:{os.environ['PATH']}"
    assert made.run("run", "--once").returncode == 0
    return made


def record_session(home: Path, project: Project) -> Session:
    session = Session(home, project)
    session.use_skill()
    session.type("Write the release notes for 2.4.0", LASTING, *CHATTER[:3])
    return session


def test_a_session_is_sent_only_to_its_own_agent(
    home: Path, project: Project, program: Program, clients: Clients
) -> None:
    for name in SAYS:
        clients.install(name)
    other = Client(home, project)
    other.type("Write the release notes for 2.4.1", ELSEWHERE, *CHATTER[:3])
    other.database.db.close()
    record_session(home, project)
    assert program.run("run", "--once").returncode == 0
    assert len(clients.prompts_of("claude")) == 3, "heard, edited, heard again"
    assert any(LASTING in one for one in clients.prompts_of("claude"))
    assert any(ELSEWHERE in one for one in clients.prompts_of("opencode"))
    assert not any(ELSEWHERE in one for one in clients.prompts_of("claude"))
    assert not any(LASTING in one for one in clients.prompts_of("opencode"))
    (proposal,) = program.json("proposals")
    assert proposal["model"] == "cli:claude"
    status = program.json("status")
    assert status["backend"]["name"] == "agent"
    assert status["backend"]["agents"] == []
    assert status["spend_today"]["calls"] == 3 + len(clients.prompts_of("opencode"))
    assert {name: facts["turns"] for name, facts in status["agents"].items() if facts["turns"]} == {
        "claude-code": 5,
        "opencode": 5,
    }


@pytest.mark.parametrize(("says", "told"), [("", "claude is not on PATH"), (LOGGED_OUT, "it is not logged in")])
def test_without_a_login_the_session_is_judged_offline_with_a_message(
    home: Path, project: Project, program: Program, clients: Clients, *, says: str, told: str
) -> None:
    clients.install("codex", "print('{}')")  # another agent's, which must not be asked
    if says:
        clients.install("claude", says)
    program.environment["PATH"] = f"{clients.folder}:/usr/bin:/bin"
    for _ in range(2):
        record_session(home, project)
    assert program.run("run", "--once").returncode == 0
    assert len(clients.prompts_of("claude")) == bool(says), "it is not asked again for the next batch"
    assert clients.prompts_of("codex") == []
    (proposal,) = program.json("proposals")
    assert (proposal["skill"], proposal["model"]) == (SKILL, "offline")
    status = program.json("status")
    assert (status["batches"]["done"], status["batches"]["parked"]) == (2, 0)
    (line,) = status["backend"]["agents"]
    assert line["agent"] == "Claude Code"
    assert line["why"].startswith(f"its sessions are judged without a model, by explicit wording only, because {told}")
    assert line["remedy"]
    assert (
        f"Claude Code: its sessions are judged without a model, by explicit wording only, because {told}"
        in program.run("status").stdout
    )
    (check,) = [check for check in program.json("doctor")["checks"] if check["name"] == "judge"]
    assert check["verdict"] == "warn"
    assert told in check["detail"]
    if says:
        clients.install("claude")
        retried = program.run("retry")
        assert retried.returncode == 0
        assert "cli:claude will be asked again from the next batch on.\nMessages judged without it" in retried.stdout
        assert program.json("status")["backend"]["agents"] == []


def test_an_agent_at_its_usage_limit_is_not_asked_until_the_reset(
    home: Path, project: Project, program: Program, clients: Clients
) -> None:
    clients.install("claude", AT_ITS_LIMIT % (time.time() + 7200))
    for _ in range(2):
        record_session(home, project)
    for _ in range(2):
        assert program.run("run", "--once").returncode == 0
    assert len(clients.prompts_of("claude")) == 1
    status = program.json("status")
    assert (status["batches"]["pending"], status["batches"]["parked"]) == (2, 0)
    assert status["proposals"]["open"] == 0
    (line,) = status["backend"]["agents"]
    assert line["why"].startswith("it has reached its usage limit; skilld will ask again at ")
    clients.install("claude")
    assert program.run("retry").returncode == 0
    assert program.run("run", "--once").returncode == 0
    (proposal,) = program.json("proposals")
    assert proposal["model"] == "cli:claude"


def test_the_daily_call_limit_applies_to_agents(
    home: Path, project: Project, program: Program, clients: Clients
) -> None:
    clients.install("claude")
    program.environment["SKILLD_BUDGET__CALLS"] = "3"  # what one batch needs
    for _ in range(2):
        record_session(home, project)
    assert program.run("run", "--once").returncode == 0
    assert len(clients.prompts_of("claude")) == 3
    assert program.json("status")["batches"]["pending"] == 1


FITS = '<fits>[{"skill": 1}]</fits>'
MIGRATIONS = "From now on, run the migrations before the tests."


def test_mining_asks_one_agent_only_about_its_own_sessions(
    home: Path, project: Project, program: Program, clients: Clients
) -> None:
    for name in SAYS:
        clients.install(name)
    for _ in range(2):
        session = record_session(home, project)
        session.type("Now run the migrations and the tests")
        session.work("please bump the version and tag it", "npm version patch", "git tag v1", "git push --tags")
    other = Client(home, project)
    other.type("Please write the release notes for 2.4.1", ELSEWHERE, MIGRATIONS, *CHATTER[:3])
    other.database.db.close()
    ended = program.run("mine", "--yes")
    assert ended.returncode == 0
    asked = clients.prompts_of("claude")
    assert any(LASTING in one for one in asked)
    assert not any(said in one for said in (ELSEWHERE, MIGRATIONS) for one in asked)
    assert clients.prompts_of("opencode") == []
    told = "Only Claude Code was asked, about its own sessions; the built-in rules read those of opencode"
    assert told in " ".join(ended.stdout.split())
    assert "migrations" in ended.stdout


def test_mining_says_why_no_agent_is_asked(home: Path, project: Project, program: Program, clients: Clients) -> None:
    clients.install("codex", "print('{}')")  # had no session
    record_session(home, project)
    program.environment["PATH"] = f"{clients.folder}:/usr/bin:/bin"
    ended = program.run("mine", "--yes")
    assert ended.returncode == 0
    told = "No model was asked. Claude Code: claude is not on PATH. Start skilld with claude on its PATH"
    assert told in " ".join(ended.stdout.split())
    assert clients.prompts_of("codex") == []


def test_a_question_about_a_task_goes_to_an_agent_that_can_be_asked(
    home: Path, project: Project, program: Program, clients: Clients
) -> None:
    program.environment["PATH"] = f"{clients.folder}:/usr/bin:/bin"
    record_session(home, project)
    assert program.run("run", "--once").returncode == 0
    task = "recommend", "write the release notes", "--ask", "--project", str(project.root)
    none = program.run(*task)
    assert none.returncode == 1
    assert "No agent can be asked: claude is not on PATH" in none.stderr
    clients.install("claude", LOGGED_OUT)
    clients.install(
        "opencode", """print(json.dumps({"type": "text", "part": {"text": '<fits>[{"skill": 1}]</fits>'}}))"""
    )
    found = program.run(*task)
    assert found.returncode == 0, found.stderr
    assert len(clients.prompts_of("opencode")) == 1
    assert "release-notes" in found.stdout
    assert LASTING.rstrip(".") not in clients.prompts_of("opencode")[0], "said in a session of another agent"
    clients.install("claude", f"answer = {FITS!r}\n{SAYS['claude']}")
    assert program.run(*task).returncode == 0
    assert len(clients.prompts_of("opencode")) == 1, "the agent that was used here goes first"


def test_no_agent_holds_a_conversation(program: Program) -> None:
    chat = program.run("chat", "hello")
    assert chat.returncode == 2
    assert "the configured judge, agent, cannot hold a conversation" in chat.stderr


def test_setup_names_each_agent_with_its_own_result_and_counts_all_questions(home: Path, clients: Clients) -> None:
    fresh = Program(home, {"SKILLD_NOTIFY__ENABLED": "false", "SKILLD_MODEL": "agent"})
    fresh.environment["PATH"] = f"{clients.folder}:/usr/bin:/bin"
    for name, says in SAYS.items():
        clients.install(name, f"answer = {NO_UPDATES!r}\n{says}")
    told = fresh.run("setup", "agent")
    assert told.returncode == 0, told.stderr
    assert "Claude Code answered a test question (" in told.stdout
    assert "opencode answered a test question (" in told.stdout
    assert fresh.json("status")["spend_today"]["calls"] == 2
    clients.install("claude", LOGGED_OUT)
    told = fresh.run("config", "set", "model", "agent")
    assert "The agent cannot answer yet: Could not ask Claude Code: it is not logged in" in told.stdout
    assert "opencode answered a test question (" in told.stdout
