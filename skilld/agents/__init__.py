"""The agents that skilld follows: a folder and a line in ADAPTERS each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from skilld.agents.base import Adapter


class _Adapters(Mapping[str, Adapter]):
    """The adapters by name of the agent. A folder is imported when its adapter is first needed.

    All of them take a third of the time of `skilld status`, which needs none (benchmarks/commands.py).
    """

    def __init__(self, folders: dict[str, str]) -> None:
        self.folders = folders
        self._imported: dict[str, Adapter] = {}

    def __getitem__(self, name: str) -> Adapter:
        if name not in self._imported:
            package = import_module(f"{__name__}.{self.folders[name]}")
            self._imported[name] = getattr(package, "ADAPTER", package)
        return self._imported[name]

    def __contains__(self, name: object) -> bool:
        return name in self.folders

    def __iter__(self) -> Iterator[str]:
        return iter(self.folders)

    def __len__(self) -> int:
        return len(self.folders)


ADAPTERS = _Adapters(
    {
        "claude-code": "claude_code",
        "codex": "codex",
        "opencode": "opencode",
        "gemini-cli": "gemini_cli",
        "copilot-cli": "copilot_cli",
        "pi": "pi",
        "qwen-code": "qwen_code",
        "cursor": "cursor",
        "traex": "traex",
        "kilo": "kilo",
        "cline": "cline",
        "droid": "droid",
        "continue": "continue_cli",
        "kimi-code": "kimi_code",
        "grok-build": "grok_build",
        "mistral-vibe": "mistral_vibe",
        "letta-code": "letta_code",
        "aider": "aider",
        "openhands": "openhands",
        "antigravity": "antigravity",
        "goose": "goose",
        "kiro": "kiro",
    }
)


@cache
def context_variables() -> tuple[str, ...]:
    """Return the names of environment variables that move or disable files that agents load."""
    own = (name for adapter in ADAPTERS.values() for name in adapter.INFO.variables)
    more = (
        "XDG_CONFIG_HOME",
        "CLAUDE_CODE_DISABLE_CLAUDE_MDS",
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "COPILOT_CUSTOM_INSTRUCTIONS_DIRS",
    )
    return tuple(dict.fromkeys((*own, *more)))
