"""Gemini CLI in a terminal: its settings, its markers on the screen, where its transcripts are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from support.live_agent import LiveAgent
from support.waiting import pause

_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "ide": {"enabled": False},
}


class GeminiCli(LiveAgent):
    agent = "gemini-cli"
    project_skills = ".gemini/skills"
    quit_command = "/quit"

    def set_up(self) -> None:
        folder = self.home / ".gemini"
        folder.mkdir(parents=True)
        (folder / "settings.json").write_text(json.dumps(_SETTINGS))
        (folder / "trustedFolders.json").write_text(json.dumps({str(self.project): "TRUST_FOLDER"}))

    def variables(self) -> Mapping[str, str]:
        return {
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": self.stub.origin,
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "NO_BROWSER": "1",
        }

    def arguments(self) -> list[str]:
        return ["--approval-mode", "yolo"]

    def headless_arguments(self, prompt: str, *more: str) -> list[str]:
        return [*more, "-p", prompt]

    def is_ready(self, screen: str) -> bool:
        return "Type your message" in screen

    def is_busy(self, screen: str) -> bool:
        return "esc to cancel" in screen

    def transcripts(self) -> list[Path]:
        return sorted((self.home / ".gemini" / "tmp").glob("*/chats/session-*.jsonl"))

    def quit(self) -> None:
        self.terminal.type(self.quit_command)
        pause(0.6)  # the list of commands opens, and takes the first Enter until it has found this one
        self.terminal.press("Enter")
        self.terminal.wait("Gemini CLI to quit", lambda _: self.terminal.ended())
