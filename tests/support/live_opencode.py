"""opencode in a terminal: its settings, its markers on the screen, where its database lies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from support.live_agent import LiveAgent


class OpenCode(LiveAgent):
    agent = "opencode"
    project_skills = ".opencode/skills"
    quit_command = "/exit"

    def set_up(self) -> None:
        folder = self.home / ".config" / "opencode"
        folder.mkdir(parents=True)
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{self.stub.origin}/v1", "apiKey": "x"},
            "models": {"stub": {"name": "stub"}},
        }
        settings = {
            "provider": {"stub": provider},
            "model": "stub/stub",
            "small_model": "stub/stub",
            "autoupdate": False,
            "share": "disabled",
        }
        (folder / "opencode.json").write_text(json.dumps(settings))

    def variables(self) -> Mapping[str, str]:
        switches = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")
        return {f"OPENCODE_DISABLE_{switch}": "1" for switch in switches}

    def arguments(self) -> list[str]:
        return []

    def headless_arguments(self, prompt: str, *more: str) -> list[str]:
        return ["run", *more, prompt]

    def is_ready(self, screen: str) -> bool:
        return "Ask anything" in screen

    def is_busy(self, screen: str) -> bool:
        return "esc interrupt" in screen

    def transcripts(self) -> list[Path]:
        return sorted((self.home / ".local" / "share" / "opencode").glob("opencode*.db"))
