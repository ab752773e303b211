"""GitHub Copilot CLI in a terminal: its settings, its markers on the screen, where its transcripts are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from support.live_agent import LiveAgent


class CopilotCli(LiveAgent):
    agent = "copilot-cli"
    project_skills = ".github/skills"
    quit_command = "/exit"

    def set_up(self) -> None:
        folder = self.home / ".copilot"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps({"trustedFolders": [str(self.project)], "banner": "never"}))

    def variables(self) -> Mapping[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{self.stub.origin}/v1",
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "100000",
            "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "4000",
            "COPILOT_MODEL": "stub",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def arguments(self) -> list[str]:
        return ["--allow-all-tools"]

    def headless_arguments(self, prompt: str, *more: str) -> list[str]:
        return ["--allow-all-tools", *more, "-p", prompt]

    def is_ready(self, screen: str) -> bool:
        return "❯" in screen and "/ commands" in screen

    def is_busy(self, screen: str) -> bool:
        return "Working" in screen

    def transcripts(self) -> list[Path]:
        return sorted((self.home / ".copilot" / "session-state").glob("*/events.jsonl"))
