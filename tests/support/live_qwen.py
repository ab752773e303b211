"""Qwen Code in a terminal: its settings, its markers on the screen, where its transcripts are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from support.live_gemini import GeminiCli

_SETTINGS = {
    "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "model": {"name": "stub"},
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    "privacy": {"usageStatisticsEnabled": False},
    "ide": {"enabled": False},
    "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
}


class QwenCode(GeminiCli):
    agent = "qwen-code"
    project_skills = ".qwen/skills"

    def set_up(self) -> None:
        folder = self.home / ".qwen"
        folder.mkdir(parents=True)
        (folder / "settings.json").write_text(json.dumps(_SETTINGS))

    def arguments(self) -> list[str]:
        return ["--approval-mode", "yolo"]  # else 0.24.4 asks before it loads a skill

    def variables(self) -> Mapping[str, str]:
        return {
            "OPENAI_API_KEY": "x",
            "OPENAI_BASE_URL": f"{self.stub.origin}/v1",
            "OPENAI_MODEL": "stub",
            "NO_BROWSER": "1",
        }

    def transcripts(self) -> list[Path]:
        return sorted((self.home / ".qwen" / "projects").glob("*/chats/*.jsonl"))
