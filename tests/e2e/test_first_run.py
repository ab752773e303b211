"""What a new user sees and is asked, on a real terminal."""

from __future__ import annotations

import codecs
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from faults.model import teach
from support import warm
from support.claude_lines import prompt_line, write_transcript
from support.live_project import Project
from support.program import Program
from support.service_managers import SYSTEMCTL, FakeManager
from support.session import LASTING, Session
from support.waiting import LIMIT, wait_for


class Terminal:
    """A verb of skilld, `run` unless told otherwise, on a pseudo-terminal."""

    def __init__(self, program: Program, *arguments: str, verb: str = "run", **variables: str) -> None:
        self._master, slave = pty.openpty()
        environment = program.environment | {"TERM": "xterm"} | variables
        self.process: warm.Process
        if verb == "run" and warm.fits(environment):
            command = ("skilld", verb, *arguments)
            self.process = warm.start(command, program.home, environment, slave, typed=slave)
        else:
            self.process = subprocess.Popen(
                [*(program.typed_in if verb != "run" else ()), sys.executable, "-m", "skilld", verb, *arguments],
                env=environment,
                cwd=program.home,
                stdin=slave,
                stdout=slave,
                stderr=slave,
            )
        os.close(slave)
        self.shown = ""
        self._poll = select.poll()  # takes any descriptor, unlike select
        self._poll.register(self._master, select.POLLIN)
        self._decoder = codecs.getincrementaldecoder("utf-8")()  # a read may end within a character

    def read_until(self, text: str) -> str:
        """Read what is shown until it holds `text`."""
        end = time.monotonic() + LIMIT
        while text not in self.shown:
            assert time.monotonic() < end, f"waited for {text!r}; shown so far:\n{self.shown}"
            if self._poll.poll(200):
                self.shown += self._decoder.decode(os.read(self._master, 65536))
        return self.shown

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self._master, text.encode() + b"\n")

    def stop(self) -> int:
        """Press Ctrl-C and return the exit code."""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(LIMIT)
        finally:
            os.close(self._master)


def _fresh_program(home: Path) -> Program:
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    del program.environment["SKILLD_MODEL"]
    return program


def test_it_says_what_it_found_and_what_it_costs(home: Path) -> None:
    program = _fresh_program(home)
    terminal = Terminal(program)
    screen = terminal.read_until("Following your agents.")
    terminal.process.send_signal(signal.SIGINT)
    terminal.read_until("Stopped. To continue from here: skilld run")
    assert terminal.process.wait(LIMIT) == 130
    assert "Not found    22 agents, followed once you use them (list: skilld doctor)" in screen
    assert "Judge        offline" in screen
    assert "Skills       0 in your own folders" in screen
    assert "Files        instruction files (CLAUDE.md, AGENTS.md, rules) of the projects you work in" in screen
    assert "Cost         nothing, and nothing leaves this machine" in screen
    assert "--backfill" not in screen, "there is nothing to look back at"
    assert ASKED not in screen, "there is nothing to choose from"


ASKED = "Type a letter, or press Enter for"


def test_an_installed_but_unused_agent_is_told_apart(home: Path) -> None:
    program = _fresh_program(home)
    program.environment["PATH"] = _add_fake_client(home, "codex")
    output = program.run("run", "--once").stdout
    assert "Codex        no sessions yet\n" in output
    assert "Not found    21 other agents, followed once you use them" in output
    checks = program.run("doctor").stdout
    assert "agent codex        no sessions yet; skilld watches for " in checks
    assert "not installed: claude-code, opencode, " in checks


def _add_fake_manager(home: Path) -> str:
    """Put a service manager on a PATH that answers, and return the PATH."""
    return f"{FakeManager(home / 'manager', 'systemctl', SYSTEMCTL).folder}:{os.environ['PATH']}"


def _add_fake_client(home: Path, name: str) -> str:
    """Put a program of that name on a PATH, and return the PATH."""
    (home / "bin").mkdir(exist_ok=True)
    (home / "bin" / name).write_text("#!/bin/sh\nexit 1\n")
    (home / "bin" / name).chmod(0o755)
    return f"{home / 'bin'}:{os.environ['PATH']}"


def test_the_judge_is_asked_for_once_and_the_answer_is_stored(home: Path) -> None:
    program = _fresh_program(home)
    variables = {"OPENAI_API_KEY": "dummy", "PATH": _add_fake_client(home, "claude")}
    terminal = Terminal(program, **variables)
    screen = terminal.read_until(ASKED)
    assert screen.index("a  agent: ") < screen.index("b  openai/gpt-5-mini: ") < screen.index("c  offline: ")
    assert "(installed: Claude Code)" in screen
    assert "A model is sent the skill in use, your instruction files and your last messages, with secrets" in screen
    assert screen.count("sent to: ") == 2
    assert "sent to: openai" in screen
    assert screen.count("costs: ") == 3
    terminal.shown = ""
    terminal.type("x")
    terminal.read_until("'x' is not one of the choices.")
    terminal.read_until("Type a letter")
    terminal.type("c")
    terminal.read_until("Following your agents.")
    assert terminal.stop() == 130
    wait_for("the lock to be free", lambda: not program.json("status")["running"])
    assert program.json("status")["backend"]["name"] == "offline"
    again = Terminal(program, **variables)
    assert ASKED not in again.read_until("Following your agents.")
    assert again.stop() == 130


def test_enter_accepts_the_first_choice(home: Path) -> None:
    program = _fresh_program(home)
    terminal = Terminal(program, OPENAI_API_KEY="dummy", PATH=_add_fake_client(home, "codex"))
    terminal.read_until(ASKED)
    terminal.type("")
    terminal.read_until("The agent cannot answer yet: Could not ask Codex: it exited without an answer")
    terminal.read_until("Press Enter to keep agent anyway")
    terminal.type("")
    screen = terminal.read_until("Following your agents.")
    assert "Judge        agent: each agent judges its own sessions" in screen
    assert terminal.stop() == 130
    wait_for("the lock to be free", lambda: not program.json("status")["running"])
    assert program.json("status")["backend"]["name"] == "agent"
    assert (home / ".config/skilld/config.toml").stat().st_mode & 0o777 == 0o600


def test_setup_works_from_a_script_and_asks_nothing_without_a_terminal(home: Path) -> None:
    program = _fresh_program(home)
    program.environment["PATH"] = _add_fake_client(home, "pi")
    result = program.run("setup")
    assert result.returncode == 2
    assert "a  agent: " in result.stdout
    assert "To answer them beforehand: skilld setup agent | offline" in result.stderr
    document = program.json("setup")
    assert (document["model"], document["answered"]) == ("auto", False)
    assert [offer["model"] for offer in document["offers"]] == ["agent", "offline"]
    assert all(offer["sends"] and offer["costs"] for offer in document["offers"])
    for model in ("agent", "openai/gpt-5-mini", "offline"):
        assert program.run("setup", model).returncode == 0
        assert program.json("setup") | {"offers": []} == {"model": model, "answered": True, "offers": []}
    assert program.run("setup", "agnet").returncode == 2
    agent = _fresh_program(home)
    agent.environment["CLAUDECODE"] = "1"
    for given in (["agent"], ["--service", "yes"], ["--look-back", "7"]):
        assert agent.run("setup", *given).returncode == 5
    program.typed_in = ()
    assert program.run("setup").returncode == 2, "it only prints"
    assert program.run("setup", "agent").returncode == 5
    assert program.json("status")["backend"]["name"] == "offline"


def test_setup_leads_to_the_first_proposal_in_one_session(home: Path, project: Project) -> None:
    """Issue 18, 4: who judges, the service, and what the last week taught."""
    session = Session(home, project)
    session.use_skill()
    session.type(*(f"Write the notes for 2.4.{number}" for number in range(4)), LASTING)
    (home / ".claude/CLAUDE.md").write_text("- Be brief.\n" * 40)
    program, began = _fresh_program(home), time.monotonic()
    terminal = Terminal(
        program, verb="setup", PATH=f"{_add_fake_client(home, 'claude').partition(':')[0]}:{_add_fake_manager(home)}"
    )
    screen = terminal.read_until(ASKED)
    assert "agents        Claude Code (1 session file) in the last 30 days" in screen
    assert "instructions  ~/.claude/CLAUDE.md, about 120 tokens" in screen
    terminal.type("offline")
    terminal.read_until("Run skilld whenever you are logged in? [Y/n]")
    terminal.type("n")
    screen = terminal.read_until("Judge them now? [Y/n]")
    assert "The last 7 days: 1 session file. Judging them now does not call a model or send anything." in screen
    terminal.type("")
    screen = terminal.read_until("idle for 10 minutes.")
    assert terminal.process.wait(LIMIT) == 0
    assert "\rJudging batches: 0 of 1" in screen
    assert screen.count("Always put the ticket number first in each entry.") == 1, "it is listed once"
    assert "1 open proposal. To review: skilld review" in screen
    assert screen.count("skilld service install") == 1
    assert time.monotonic() - began < 120
    assert [proposal["state"] for proposal in program.json("proposals")] == ["open"]


def test_answering_no_to_everything_still_leaves_a_working_daemon(home: Path, project: Project) -> None:
    program = _fresh_program(home)
    Session(home, project).type("good morning")
    terminal = Terminal(program, verb="setup", PATH=_add_fake_manager(home))
    for question in (ASKED, "logged in? [Y/n]", "now? [Y/n]"):
        terminal.read_until(question)
        terminal.type("n")
    screen = terminal.read_until("idle for 10 minutes.")
    assert terminal.process.wait(LIMIT) == 0
    assert "Until you choose, skilld judges offline" in screen
    assert "No proposals yet: no sessions were read." in screen
    assert not (home / ".config/skilld/config.toml").exists()
    with program.daemon():
        session = Session(home, project)
        session.use_skill()
        session.type(*(f"Write the notes for 2.4.{number}" for number in range(4)), LASTING)
        wait_for("a proposal", lambda: program.json("proposals"))


def test_a_script_can_answer_every_step_in_advance(home: Path, project: Project) -> None:
    program = _fresh_program(home)
    session = Session(home, project)
    session.type(*(f"Write the notes for 2.4.{number}" for number in range(5)))
    result = program.run("setup", "offline", "--service", "no", "--look-back", "7")
    assert result.returncode == 0
    assert "Judged " not in result.stdout, "the end says it"
    assert "No proposals yet:\n  5 messages read: 5 skipped (no lasting instructions)\n" in result.stdout
    program.environment["PATH"] += f":{Path(sys.executable).parent}"
    told = program.run("setup", "--service", "yes")
    assert (told.returncode, program.json("status")["running"]) == (0, False)
    assert "skilld cannot start at login here, because systemd is not responding" in told.stdout
    assert "\nNext, start skilld: skilld run\nIt judges a session after every 5 messages" in told.stdout
    assert "[--service yes|no] [--look-back DAYS]" in program.run("setup").stderr


def test_a_backfill_blocked_by_a_running_daemon_is_not_offered(home: Path, project: Project) -> None:
    program = _fresh_program(home)
    Session(home, project).type("Write the notes for 2.4.0")
    with program.daemon():
        result = program.run("setup", "offline", "--service", "no", "--look-back", "7")
    assert (result.returncode, result.stderr) == (0, "")
    assert "To process the last 7 days, stop it first, then:\n  skilld run --once --backfill 7" in result.stdout


def test_a_daemon_without_a_chosen_judge_says_so_until_one_is_chosen(home: Path) -> None:
    program = _fresh_program(home)
    with program.daemon():
        said = program.json("status")["backend"]
        assert "recognizes only explicit wording" in said["why"]
        assert "skilld setup" in said["why"]
        (check,) = [check for check in program.json("doctor")["checks"] if check["name"] == "judge"]
        assert (check["verdict"], check["remedy"]) == ("warn", "skilld setup")
    assert program.run("setup", "offline").returncode == 0
    assert program.json("status")["backend"]["why"] == "you chose it"


def test_why_a_batch_waits_and_until_when_is_told_everywhere(home: Path, project: Project) -> None:
    model = {"SKILLD_MODEL": "openai/stub", "SKILLD_MODEL_BASE_URL": "http://127.0.0.1:9/v1"}  # nothing listens there
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"} | model)
    terminal = Terminal(program)
    terminal.read_until("Following your agents.")
    teach(home, project)
    screen = " ".join(terminal.read_until("next try in").split())
    assert "Waiting to judge a batch: Could not ask the model: no usable answer from 127.0.0.1:9;" in screen
    (delay,) = program.json("status")["delayed"]
    assert (delay["batches"], "could not connect" in delay["why"]) == (1, True)
    shown = program.run("status").stdout
    assert f"1 batch waits: {delay['why']}; next try" in shown
    (check,) = [check for check in program.json("doctor")["checks"] if check["name"] == "batches"]
    assert check["verdict"] == "warn"
    assert f"1 batch waits: {delay['why']}; next try" in check["detail"]
    assert terminal.stop() == 130


def test_a_key_that_only_the_shell_has_is_told_from_a_missing_one(home: Path, project: Project) -> None:
    program = _fresh_program(home)
    program.run("config", "set", "model", "openai/gpt-5-mini", "--no-check")
    with program.daemon():
        teach(home, project)
        wait_for("the batch to fail", lambda: program.json("status")["batches"]["parked"] == 1, every=0.2)
        assert "Could not judge a batch: Could not ask the model: skilld was started without" in program.output()
        # Nothing listens at the proxy, so the test question does not leave the machine.
        program.environment |= {"OPENAI_API_KEY": "dummy", "HTTPS_PROXY": "http://127.0.0.1:9"}
        chosen = program.run("setup", "openai/gpt-5-mini").stdout
        shown = program.run("status").stdout
        document = program.run("status", "--json").stdout
    remedy = "Stop skilld (Ctrl-C), then in a shell that has it: skilld run"
    lacks = "The running skilld was started without OPENAI_API_KEY, which this shell sets."
    assert f"{lacks}\n  {remedy}\n" in chosen
    assert f"skilld was started without OPENAI_API_KEY; s{remedy[1:]}; after that: skilld retry" in shown
    assert "dummy" not in document


def test_without_a_terminal_nothing_is_asked_or_sent(home: Path, project: Project) -> None:
    program = _fresh_program(home)
    Session(home, project).type("Write the notes for 2.4.0")
    program.environment["OPENAI_API_KEY"] = "dummy"
    result = program.run("run", "--once")
    assert result.returncode == 0
    assert "to use it: skilld config set model openai/gpt-5-mini" in result.stdout
    assert "skilld run --once --backfill 7\n" in result.stdout, "there is nothing to stop first"
    assert program.json("status")["backend"]["name"] == "offline"


def test_turns_waiting_for_a_full_batch_are_shown(home: Path) -> None:
    program = Program(home)
    assert program.run("run", "--once").returncode == 0  # what is there at the first start does not count
    chatter = prompt_line("t3", "ok")  # which waits for nothing
    write_transcript(home / ".claude/projects/-p/s1.jsonl", prompt_line("t1"), prompt_line("t2"), chatter)
    assert program.run("run", "--once").returncode == 0
    shown = program.run("status").stdout
    assert "turns     1 skipped (no lasting instructions)\n          2 waiting for the session" in shown
