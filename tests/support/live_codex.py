"""Codex in a terminal: its settings, its markers on the screen, where its transcripts are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from support.live_agent import LiveAgent

_CONFIG = """\
model = "stub"
model_provider = "stub"
check_for_update_on_startup = false

[model_providers.stub]
name = "stub"
base_url = "{origin}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
supports_websockets = false

[analytics]
enabled = false

# Where its sandbox may write it hides .git, and creates an empty one for that: in /tmp others would take it for theirs.
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true

[projects."{project}"]
trust_level = "trusted"
"""


class Codex(LiveAgent):
    agent = "codex"
    project_skills = ".agents/skills"
    quit_command = "/quit"

    def set_up(self) -> None:
        folder = self.home / ".codex"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text(_CONFIG.format(origin=self.stub.origin, project=self.project))

    def variables(self) -> Mapping[str, str]:
        return {"STUB_KEY": "x"}

    def arguments(self) -> list[str]:
        # Without this the client leaves a daemon and an updater behind and copies itself into the home.
        return ["-c", "features.daemon_auto_start=false"]

    def headless_arguments(self, prompt: str, *more: str) -> list[str]:
        return ["exec", *more, prompt]

    def is_ready(self, screen: str) -> bool:
        # The prompt is drawn before Enter is taken; the status line comes when it is.
        return "Ask Codex to do anything" in screen and f" default · {self.project}" in screen

    def is_busy(self, screen: str) -> bool:
        return "esc to interrupt" in screen

    def transcripts(self) -> list[Path]:
        return sorted((self.home / ".codex" / "sessions").glob("**/rollout-*.jsonl"))
