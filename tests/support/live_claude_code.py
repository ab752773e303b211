"""Claude Code in a terminal: its settings, its markers on the screen, where its transcripts are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from support.live_agent import LiveAgent

_KEY = "sk-ant-dummy"


class ClaudeCode(LiveAgent):
    agent = "claude-code"
    project_skills = ".claude/skills"
    quit_command = "/exit"

    def set_up(self) -> None:
        answers = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [_KEY], "rejected": []},
            "projects": {str(self.project): {"hasTrustDialogAccepted": True}},
        }
        (self.home / ".claude.json").write_text(json.dumps(answers))

    def variables(self) -> Mapping[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.stub.origin,
            "ANTHROPIC_API_KEY": _KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }

    def headless_arguments(self, prompt: str, *more: str) -> list[str]:
        return ["-p", *more, prompt]

    def is_ready(self, screen: str) -> bool:
        return "? for shortcuts" in screen or "(shift+tab to cycle)" in screen  # with or without the auto mode

    def is_busy(self, screen: str) -> bool:
        return "esc to interrupt" in screen

    def transcripts(self) -> list[Path]:
        return sorted((self.home / ".claude" / "projects").glob("*/*.jsonl"))
