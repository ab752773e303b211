"""opencode in a terminal: its settings, its markers on the screen, where its database is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from support.live_agent import LiveAgent
from tools.live_clients import OPENCODE


class OpenCode(LiveAgent):
    agent = "opencode"
    project_skills = ".agents/skills"  # where there is a .opencode, the client installs packages into it
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
        switches = {f"OPENCODE_DISABLE_{name}": "1" for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")}
        return {**switches, "PATH": OPENCODE.search_path}

    def headless_arguments(self, prompt: str, *more: str) -> list[str]:
        return ["run", *more, prompt]

    def is_ready(self, screen: str) -> bool:
        return "Ask anything" in screen

    def is_busy(self, screen: str) -> bool:
        return "esc interrupt" in screen

    def recorded(self, text: str) -> bool:
        files = (self.home / ".local" / "share" / "opencode").glob("opencode*.db*")
        return any(json.dumps(text).strip('"').encode() in path.read_bytes() for path in files)

    def transcripts(self) -> list[Path]:
        return sorted((self.home / ".local" / "share" / "opencode").glob("opencode*.db"))
