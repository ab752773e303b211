"""Pi in a terminal: its settings, its markers on the screen, where its transcripts are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from support.live_agent import LiveAgent
from support.waiting import pause
from tools.live_clients import PI_NEWER

_MODEL = {
    "id": "stub",
    "name": "stub",
    "reasoning": False,
    "input": ["text"],
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    "contextWindow": 128000,
    "maxTokens": 8000,
}


class Pi(LiveAgent):
    agent = "pi"
    project_skills = ".pi/skills"
    quit_command = "/quit"

    def set_up(self) -> None:
        folder = self.home / ".pi" / "agent"
        folder.mkdir(parents=True)
        provider = {"baseUrl": f"{self.stub.origin}/v1", "api": "openai-completions", "apiKey": "x", "models": [_MODEL]}
        (folder / "models.json").write_text(json.dumps({"providers": {"stub": provider}}))
        settings = {"defaultProvider": "stub", "defaultModel": "stub", "quietStartup": True}
        (folder / "settings.json").write_text(json.dumps(settings))
        (folder / "trust.json").write_text(json.dumps({str(self.project): True}))  # else newer ones ask

    def variables(self) -> Mapping[str, str]:
        return {"PI_OFFLINE": "1", "PATH": PI_NEWER.search_path}

    def __enter__(self) -> Self:
        super().__enter__()
        pause(1.0)  # a prompt in the first second is taken for an argument: nobody types so fast
        return self

    def headless_arguments(self, prompt: str, *more: str) -> list[str]:
        return ["-p", *more, prompt]

    def is_ready(self, screen: str) -> bool:
        return "stub" in screen

    def is_busy(self, screen: str) -> bool:
        return "Working..." in screen

    def transcripts(self) -> list[Path]:
        return sorted((self.home / ".pi" / "agent" / "sessions").glob("*/*.jsonl"))
