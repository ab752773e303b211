"""Aider in a terminal: no settings file, no tools, and what it keeps is in the project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from support.live_agent import LiveAgent


class Aider(LiveAgent):
    agent = "aider"
    project_skills = ".agents/skills"
    quit_command = "/exit"

    def set_up(self) -> None:
        """Nothing is needed: variables say everything."""

    def variables(self) -> Mapping[str, str]:
        switches = ("ANALYTICS", "CHECK_UPDATE", "SHOW_MODEL_WARNINGS", "SHOW_RELEASE_NOTES", "GITIGNORE", "PRETTY")
        return {
            **{f"AIDER_{name}": "false" for name in switches},
            "AIDER_MODEL": "openai/stub",
            "OPENAI_API_BASE": f"{self.stub.origin}/v1",
            "OPENAI_API_KEY": "x",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }

    def headless_arguments(self, prompt: str, *more: str) -> list[str]:
        return ["--yes-always", *more, "--message", prompt]

    def is_ready(self, screen: str) -> bool:
        return "Repo-map" in screen and self._waits(screen)

    def is_busy(self, screen: str) -> bool:
        return not self._waits(screen)

    @staticmethod
    def _waits(screen: str) -> bool:
        """Whether its prompt, which has no marker of its own, is the last line."""
        return screen.rstrip().endswith("\n>")

    def send(self, text: str) -> None:
        self._logged_before = len(self.stub.log)
        super().send(text)

    def wait_until_asked(self) -> None:
        """Wait for any question: none of its questions offers tools."""
        self.terminal.wait("Aider to ask its model", lambda _: len(self.stub.log) > self._logged_before)

    def transcripts(self) -> list[Path]:
        return sorted(self.project.glob(".aider.chat.history.md"))
