"""Clients that need no code of their own to be driven: their settings, screens and files as one table.

All of them speak Chat Completions to the stand-in. In every text of a row `ORIGIN` stands for where that answers,
`PROJECT` and `HOME` for the folders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from skilld.agents import ADAPTERS
from support.live_agent import LiveAgent
from support.live_project import SKILL, STYLE_PAGE, Project
from support.session import LASTING
from support.stub_agents import Call, Say, Step
from support.waiting import pause
from tools.live_clients import (
    CLINE,
    CONTINUE,
    DROID,
    GROK_BUILD,
    KILO_CODE,
    KIMI_CODE,
    LETTA_CODE,
    MISTRAL_VIBE,
    Client,
)

_MODEL = {"model": "stub", "baseUrl": "ORIGIN/v1", "apiKey": "x"}


@dataclass(frozen=True, slots=True)
class Declared:
    """How one client is driven.

    `files` are written below the home: text, or what is to be JSON. `skill` is the tool that brings a skill in, with
    its arguments, in which `SKILL` is the skill's name and `PATH` its file; `page` the one that reads a file, `PATH`.
    `stores` are patterns of its transcripts below the home. `trust` is what a first screen asks that Enter answers;
    `busy` stands on the screen while it works. `resumes` puts a prompt without a person into the last session.
    `goes_on` opens the session `ID`, which began without a person, in a terminal, and `forks` a copy of it.
    `by_name` says that its transcript names a skill and not the file. With `lists_models` it takes no model that the
    stand-in does not list.
    """

    agent: str
    client: Client
    skills: str
    stores: str
    ready: str
    busy: str
    skill: tuple[str, Mapping[str, Any]]
    page: tuple[str, Mapping[str, Any]]
    headless: Sequence[str] = ("-p",)
    resumes: Sequence[str] = ()
    goes_on: Sequence[str] = ()
    forks: Sequence[str] = ()
    files: Mapping[str, Any] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    always: Sequence[str] = ()
    arguments: Sequence[str] = ()
    quit: str = "/exit"
    trust: str = ""
    by_name: bool = False
    lists_models: bool = False

    def steps(self, project: Project) -> list[Step]:
        """Return what the model does at the first prompt: load the skill, read a page that gives orders, answer."""
        page = str(project.root / STYLE_PAGE)
        skill = {"SKILL": SKILL, "PATH": str(project.skill_path)}
        return [
            Call(self.skill[0], _filled(self.skill[1], skill)),
            Call(self.page[0], _filled(self.page[1], {"PATH": page})),
            Say("The notes are written."),
        ]


KILO = Declared(
    agent="kilo",
    client=KILO_CODE,
    skills=".claude/skills",  # where there is a .kilo, the client writes into it
    stores=".local/share/kilo/kilo.db",
    ready="Ask anything",
    busy="esc interrupt",
    skill=("skill", {"name": "SKILL"}),
    page=("read", {"filePath": "PATH"}),
    headless=("run",),
    resumes=("--continue",),
    goes_on=("--continue",),
    files={
        ".config/kilo/kilo.json": {
            "provider": {
                "stub": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "stub",
                    "options": {"baseURL": "ORIGIN/v1", "apiKey": "x"},
                    "models": {"stub": {"name": "stub"}},
                }
            },
            "model": "stub/stub",
            "small_model": "stub/stub",
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
        }
    },
    variables={
        "KILO_DISABLE_AUTOUPDATE": "1",
        "KILO_DISABLE_MODELS_FETCH": "1",
        "KILO_DISABLE_LSP_DOWNLOAD": "1",
        "KILO_TELEMETRY_LEVEL": "off",
    },
)
CLINE_CLI = Declared(
    agent="cline",
    client=CLINE,
    skills=".cline/skills",
    stores=".cline/data/sessions/*/[0-9]*.messages.json",
    ready="What can I do for you?",
    busy="esc to cancel",
    by_name=True,
    skill=("skills", {"skill": "SKILL", "args": None}),
    page=("read_files", {"files": [{"path": "PATH"}]}),
    headless=(),
    goes_on=("--id", "ID"),
    quit="/quit",
    files={
        ".cline/data/settings/providers.json": {
            "version": 1,
            "lastUsedProvider": "openai-compatible",
            "modes": {},
            "providers": {
                "openai-compatible": {
                    "settings": {"provider": "openai-compatible", **_MODEL},
                    "updatedAt": "2026-11-22T16:08:16.232Z",
                    "tokenSource": "manual",
                }
            },
        },
        # Two offers that would take the first keys.
        ".cline/data/settings/cli-notices.json": {
            "shown": {"cline-cli-cline-pass-intro": True, "cline-cli-desktop-launch": True}
        },
    },
    variables={"CLINE_TELEMETRY_DISABLED": "1", "CLINE_NO_AUTO_UPDATE": "1"},
)
DROID_CLI = Declared(
    agent="droid",
    client=DROID,
    skills=".factory/skills",
    stores=".factory/sessions/*/*.jsonl",
    ready="? for help",
    busy="ESC to stop",
    skill=("Skill", {"skill": "SKILL"}),
    page=("Read", {"file_path": "PATH"}),
    headless=("exec",),
    quit="/quit",
    trust="Trust this folder",
    files={
        ".factory/settings.json": {
            "customModels": [
                {
                    **_MODEL,
                    "id": "custom:stub-0",
                    "index": 0,
                    "displayName": "stub",
                    "provider": "generic-chat-completion-api",
                    "maxOutputTokens": 4000,
                }
            ],
            "model": "custom:stub-0",
            "sessionDefaultSettings": {"model": "custom:stub-0", "autonomyMode": "auto-low"},
        }
    },
    variables={"FACTORY_AIRGAP_ENABLED": "true", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false"},
)
CONTINUE_CLI = Declared(
    agent="continue",
    client=CONTINUE,
    skills=".continue/skills",
    stores=".continue/sessions/*-*.json",
    ready="Ask anything",
    busy="esc to interrupt",
    by_name=True,
    skill=("Skills", {"skill_name": "SKILL"}),
    page=("Read", {"filepath": "PATH"}),
    always=("--config", "HOME/.continue/config.yaml"),
    resumes=("--resume",),
    goes_on=("--resume",),
    forks=("--fork", "ID"),
    files={
        ".continue/config.yaml": "name: stub\nversion: 1.0.0\nschema: v1\nmodels: [{name: stub, provider: openai, "
        "model: stub, apiBase: 'ORIGIN/v1', apiKey: x, roles: [chat, edit], capabilities: [tool_use]}]\n"
    },
    variables={"CONTINUE_TELEMETRY_ENABLED": "0"},
)
KIMI = Declared(
    agent="kimi-code",
    client=KIMI_CODE,
    skills=".agents/skills",
    stores=".kimi-code/sessions/*/*/agents/main/wire.jsonl",
    ready="No session yet",
    busy="esc to interrupt",
    skill=("Skill", {"skill": "SKILL"}),
    page=("Read", {"path": "PATH"}),
    resumes=("-c",),
    goes_on=("-c",),
    arguments=("--yolo",),
    quit="/quit",
    trust="Trust this folder?",
    variables={
        "KIMI_MODEL_NAME": "stub",
        "KIMI_MODEL_PROVIDER_TYPE": "openai",
        "KIMI_MODEL_BASE_URL": "ORIGIN/v1",
        "KIMI_MODEL_API_KEY": "x",
        "KIMI_MODEL_MAX_CONTEXT_SIZE": "128000",
        "KIMI_DISABLE_TELEMETRY": "1",
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
    },
)
GROK = Declared(
    agent="grok-build",
    client=GROK_BUILD,
    skills=".grok/skills",
    stores=".grok/sessions/*/*/updates.jsonl",
    ready="❯",
    busy="esc to cancel",
    skill=("read_file", {"target_file": "PATH"}),
    page=("read_file", {"target_file": "PATH"}),
    resumes=("-c",),
    forks=("-c", "--fork-session"),
    always=("--always-approve",),
    quit="/quit",
    files={
        ".grok/config.toml": '[cli]\nauto_update = false\n[models]\ndefault = "stub"\n[features]\ntelemetry = false\n'
        '[endpoints]\nmodels_base_url = "ORIGIN/v1"\n[model.stub]\nmodel = "stub"\nname = "stub"\napi_key = "x"\n'
        'base_url = "ORIGIN/v1"\napi_backend = "chat_completions"\ncontext_window = 128000\n',
        ".grok/trusted_folders.toml": '[folders."PROJECT"]\ntrusted = true\ndecided_at = 1795363585\n',
    },
    variables={
        "XAI_API_KEY": "x",
        "GROK_DISABLE_AUTOUPDATER": "1",
        "GROK_TELEMETRY_ENABLED": "false",
        "GROK_XAI_API_BASE_URL": "ORIGIN/v1",
        "GROK_CLI_CHAT_PROXY_BASE_URL": "ORIGIN/v1",
    },
)
LETTA = Declared(
    agent="letta-code",
    client=LETTA_CODE,
    skills=".skills",
    stores=".letta/transcripts/*/*/transcript.jsonl",
    ready="/init",
    busy="esc to interrupt",
    by_name=True,
    skill=("Skill", {"skill": "SKILL"}),
    page=("Read", {"file_path": "PATH"}),
    always=("--backend", "local", "-m", "lmstudio/stub", "--yolo"),
    lists_models=True,
    variables={
        "LMSTUDIO_BASE_URL": "ORIGIN/v1",
        "LMSTUDIO_API_KEY": "x",
        "LETTA_SKIP_KEYCHAIN_CHECK": "1",
        "LETTA_CODE_TELEM": "0",
        "LETTA_DISABLE_LSP_DOWNLOAD": "1",
        "DISABLE_AUTOUPDATER": "1",
    },
)
VIBE = Declared(
    agent="mistral-vibe",
    client=MISTRAL_VIBE,
    skills=".agents/skills",
    stores=".vibe/logs/session/unified/*/CURRENT",
    ready="k tokens (",
    busy="esc to interrupt",
    skill=("skill", {"name": "SKILL"}),
    page=("read_file", {"path": "PATH"}),
    resumes=("-c",),
    goes_on=("-c",),
    arguments=("--auto-approve",),
    files={
        ".vibe/config.toml": 'active_model = "stub"\nenable_update_checks = false\nenable_telemetry = false\n'
        '[[providers]]\nname = "stub"\napi_base = "ORIGIN/v1"\napi_key_env_var = ""\n'
        '[[models]]\nname = "stub"\nprovider = "stub"\nalias = "stub"\n',
        ".vibe/trusted_folders.toml": 'trusted = ["PROJECT"]\nuntrusted = []\n',
    },
    variables={"MISTRAL_API_KEY": "x"},
)
DECLARED = (KILO, CLINE_CLI, DROID_CLI, CONTINUE_CLI, KIMI, GROK, VIBE)


class DeclaredAgent(LiveAgent):
    """A client that is driven by its row."""

    row: ClassVar[Declared]
    more: Sequence[str] = ()
    ready: Sequence[str] = ()

    @classmethod
    def of(cls, row: Declared) -> type[Self]:
        """Return the class that drives the client of a row."""
        facts = {"row": row, "agent": row.agent, "project_skills": row.skills, "quit_command": row.quit}
        return type(cls.__name__, (cls,), facts)

    def _said(self, text: str) -> str:
        told = {"ORIGIN": self.stub.origin, "PROJECT": str(self.project), "HOME": str(self.home)}
        return str(_filled(text, told))

    def set_up(self) -> None:
        self.stub.models = ["stub"] if self.row.lists_models else []
        for name, content in self.row.files.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._said(content if isinstance(content, str) else json.dumps(content)))

    def variables(self) -> Mapping[str, str]:
        named = {name: self._said(text) for name, text in self.row.variables.items()}
        return {**named, "PATH": self.row.client.search_path}

    def arguments(self) -> list[str]:
        return [self._said(text) for text in (*self.row.always, *self.row.arguments, *self.more)]

    def opens(self, how: Sequence[str]) -> Self:
        """Begin the next session in the terminal with its only one, or a copy of that."""
        (transcript,) = self.transcripts()
        place = ADAPTERS[self.agent].INFO.session_place
        name = transcript.parents[place.count("/")].name if place else transcript.stem
        self.more = [text.replace("ID", name) for text in how]
        self.ready = [self.row.ready, *self.typed, LASTING]  # the session's own words are on the screen
        return self

    def headless_arguments(self, prompt: str, *more: str) -> list[str]:
        always = [self._said(text) for text in self.row.always]
        mode = list(self.row.headless)
        return [*mode[:1], *always, *more, prompt] if mode == ["run"] else [*always, *more, *mode, prompt]

    def is_ready(self, screen: str) -> bool:
        if self.row.trust and self.row.trust in screen:
            self.terminal.press("Enter")
            return False
        return any(text in screen for text in self.ready or [self.row.ready])

    def is_busy(self, screen: str) -> bool:
        return self.row.busy in screen

    def quit(self) -> None:
        self.terminal.type(self.quit_command)
        pause(0.8)  # a list of commands opens, and takes the first Enter until it has found this one
        self.terminal.press("Enter")
        self.terminal.wait(f"{self.agent} to quit", lambda _: self.terminal.ended())

    def recorded(self, text: str) -> bool:
        folders = [(path.parent, path.name) for path in self.transcripts()]
        files = [found for folder, name in folders for part in (f"{name}*", "*/*.json*") for found in folder.glob(part)]
        return any(json.dumps(text).strip('"').encode() in path.read_bytes() for path in files)

    def transcripts(self) -> list[Path]:
        return sorted(self.home.glob(self.row.stores))


def _filled(value: Any, told: Mapping[str, str]) -> Any:
    """Fill these values into every text of a value."""
    if isinstance(value, str):
        for name, text in told.items():
            value = value.replace(name, text)
        return value
    if isinstance(value, Mapping):
        return {key: _filled(one, told) for key, one in value.items()}
    return [_filled(one, told) for one in value] if isinstance(value, list) else value
