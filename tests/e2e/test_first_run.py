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

from support.claude_lines import typed, write
from support.live_project import Project
from support.program import Program
from support.session import LASTING, Session
from support.waiting import LIMIT, wait_for


class Terminal:
    """skilld run on a pseudo-terminal."""

    def __init__(self, program: Program, *arguments: str, **variables: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "skilld", "run", *arguments],
            env=program.environment | {"TERM": "xterm"} | variables,
            cwd=program.home,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self.shown = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()  # a read may end within a character

    def read_until(self, text: str) -> str:
        """Read what is shown until it holds `text`."""
        end = time.monotonic() + LIMIT
        while text not in self.shown:
            assert time.monotonic() < end, f"waited for {text!r}; shown so far:\n{self.shown}"
            if select.select([self._master], [], [], 0.2)[0]:
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


def _fresh(home: Path) -> Program:
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    del program.environment["SKILLD_MODEL"]
    return program


def test_it_says_what_it_found_and_how_to_look_back(home: Path) -> None:
    program = _fresh(home)
    terminal = Terminal(program)
    shown = terminal.read_until("Following.")
    assert terminal.stop() == 130
    assert "Watched for  Claude Code, Codex, " in shown
    assert "Back-end     offline" in shown
    assert "Cost         nothing, and nothing leaves this machine" in shown
    assert "skilld run --once --backfill 7" in shown
    assert "[y/N]" not in shown


def test_a_key_that_is_found_is_asked_about_once_and_the_answer_is_kept(home: Path) -> None:
    program = _fresh(home)
    terminal = Terminal(program, OPENAI_API_KEY="dummy")
    shown = terminal.read_until("[y/N]")
    assert "OPENAI_API_KEY is set" in shown
    assert "cut to 500 characters, secrets removed" in shown
    assert "tokens" in shown
    terminal.type("n")
    terminal.read_until("Following.")
    assert terminal.stop() == 130
    assert program.json("status")["backend"]["name"] == "offline"
    again = Terminal(program, OPENAI_API_KEY="dummy")
    assert "[y/N]" not in again.read_until("Following.")
    assert again.stop() == 130


def test_yes_is_the_only_way_to_a_model(home: Path) -> None:
    program = _fresh(home)
    terminal = Terminal(program, ANTHROPIC_API_KEY="dummy")
    terminal.read_until("[y/N]")
    terminal.type("yes")
    terminal.read_until("Following.")
    assert terminal.stop() == 130
    wait_for("the lock to be free", lambda: not program.json("status")["running"])
    assert program.json("status")["backend"]["name"] == "anthropic/claude-haiku-4-5"
    assert (home / ".config/skilld/config.toml").stat().st_mode & 0o777 == 0o600


def test_without_a_terminal_nothing_is_asked_and_nothing_is_sent(home: Path) -> None:
    program = _fresh(home)
    program.environment["OPENAI_API_KEY"] = "dummy"
    done = program.run("run", "--once")
    assert done.returncode == 0
    assert "to use it: skilld config set model openai/gpt-5-mini" in done.stdout
    assert "skilld run --once --backfill 7\n" in done.stdout, "there is nothing to stop first"
    assert program.json("status")["backend"]["name"] == "offline"


def test_turns_that_wait_for_company_are_shown(home: Path) -> None:
    program = Program(home)
    assert program.run("run", "--once").returncode == 0  # what is there at the first start does not count
    write(home / ".claude/projects/-p/s1.jsonl", typed("t1"), typed("t2"))
    assert program.run("run", "--once").returncode == 0
    assert "turns     2 waiting" in program.run("status").stdout


def test_looking_back_shows_how_far_it_is(home: Path, project: Project) -> None:
    session = Session(home, project)
    session.use_skill()
    session.type(*(f"Write the notes for 2.4.{number}" for number in range(4)), LASTING)
    terminal = Terminal(_fresh(home), "--once", "--backfill", "1", SKILLD_MODEL="offline")
    shown = terminal.read_until("Judged 1 batch")
    assert "Skills       0 of your own" in shown
    assert "Following." not in shown, "it ends by itself"
    assert "What was said before now" not in shown
    assert "Reading 1 transcript of the last day." in shown
    assert "\rJudging batches: 0 of 1" in shown
    assert terminal.process.wait(LIMIT) == 0
