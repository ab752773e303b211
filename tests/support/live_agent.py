"""What driving any real agent client takes: start it in a terminal, type, wait until it has answered, quit.

A subclass says how its client is set up and what its screen shows. `typed` is the truth of a test: it grows at the
moment of typing, and what skilld reads out of the transcripts is compared with it.
"""

from __future__ import annotations

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from support.stub_agents import StubAgents
from support.terminal import Terminal
from support.waiting import LIMIT


class LiveAgent(ABC):
    """One client with a home and a project of its own. Used as a context, it is an interactive session."""

    agent: str  # as skilld names it
    project_skills: str  # where the client looks for skills, below the project
    quit_command: str

    def __init__(self, program: Path, home: Path, project: Path, stub: StubAgents) -> None:
        self.program = program
        self.home = home
        self.project = project
        self.stub = stub
        self.typed: list[str] = []
        self._asked_before = 0
        self._terminal: Terminal | None = None
        self.set_up()

    @abstractmethod
    def set_up(self) -> None:
        """Write the client's own settings into the home."""

    @abstractmethod
    def variables(self) -> Mapping[str, str]:
        """Return the environment variables the client needs besides the plain ones."""

    def arguments(self) -> list[str]:
        """Return the arguments of an interactive session."""
        return []

    @abstractmethod
    def headless_arguments(self, prompt: str, *more: str) -> list[str]:
        """Return the arguments that send one prompt without a terminal; `more` comes before the prompt."""

    @abstractmethod
    def is_ready(self, screen: str) -> bool:
        """Whether the first screen takes prompts."""

    @abstractmethod
    def is_busy(self, screen: str) -> bool:
        """Whether the client is still at work on an answer."""

    @abstractmethod
    def transcripts(self) -> list[Path]:
        """Return the transcripts the client has written into the home, sorted."""

    def recorded(self, text: str) -> bool:
        """Whether the client has written this text into a transcript."""
        return any(text.encode() in path.read_bytes() for path in self.transcripts())

    @property
    def environment(self) -> dict[str, str]:
        """All variables the client sees."""
        plain = {"LANG": "C.UTF-8", "TERM": "xterm-256color", "SHELL": "/bin/bash"}
        return {**plain, "PATH": os.environ["PATH"], "HOME": str(self.home), **self.variables()}

    @property
    def terminal(self) -> Terminal:
        assert self._terminal is not None, "the session is used inside its `with` block"
        return self._terminal

    def __enter__(self) -> Self:
        command = [str(self.program), *self.arguments()]
        self._terminal = Terminal(command, cwd=self.project, environment=self.environment).__enter__()
        try:
            self._terminal.wait_until_still(f"{self.agent} to take prompts", self.is_ready)
        except BaseException:
            self._terminal.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.terminal.__exit__()

    def send(self, text: str) -> None:
        """Type a prompt and press Enter; returns at once."""
        self.terminal.type(text)
        self.typed.append(text)
        self._asked_before = len(self.stub.main_requests())
        self.terminal.press("Enter")

    def say(self, text: str) -> None:
        """Type a prompt, press Enter and wait until the client has answered and waits again."""
        self.send(text)
        self.wait_for_answer()

    def wait_until_asked(self) -> None:
        """Wait until the client has put a question to its model since the newest prompt was sent."""
        self.terminal.wait(
            f"{self.agent} to ask its model", lambda _: len(self.stub.main_requests()) > self._asked_before
        )

    def wait_for_answer(self) -> None:
        """Wait until the newest prompt has gone to the model and the client waits for keys again."""
        self.wait_until_asked()
        self.terminal.wait_until_still(f"{self.agent} to finish its answer", lambda screen: not self.is_busy(screen))

    def quit(self) -> None:
        """Leave the session as a person does."""
        self.terminal.enter(self.quit_command)
        self.terminal.wait(f"{self.agent} to quit", lambda _: self.terminal.ended())

    def headless(self, prompt: str, *more: str) -> str:
        """Send one prompt without a terminal and return what the client printed."""
        return self.manage(*self.headless_arguments(prompt, *more))

    def manage(self, *arguments: str) -> str:
        """Run the client without a terminal, as one manages its plugins, and return what it printed."""
        result = subprocess.run(
            [self.program, *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert result.returncode == 0, f"{self.agent} without a terminal failed: {result.stderr}{result.stdout}"
        return result.stdout
