"""The adapter for Google Antigravity: one append-only transcript.jsonl per conversation, written by its engine.

Seen: the engine of google-antigravity 0.1.22, not the client `agy`, which needs an account. How a headless run differs
is unknown; if the client's history.jsonl exists, prompts must be in it. Arguments of tools are JSON in strings.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from skilld.agents.base import AgentInfo, ReadFile, mapping, read_object, short, string
from skilld.agents.declared import ANY, DeclaredAdapter, Facts, Format, Record, RecordKind, Role
from skilld.agents.skill_reads import Use, use_of_path
from skilld.agents.typed_history import Entry
from skilld.agents.wrappers import Wrappers

_HISTORY = "../../../../history.jsonl"
_CONTEXT = Wrappers(
    opens="<(ADDITIONAL_METADATA|USER_SETTINGS_CHANGE)>", closes="</(ADDITIONAL_METADATA|USER_SETTINGS_CHANGE)>"
)
_REQUEST = re.compile(r"\s*<USER_REQUEST>\n(.*)\n</USER_REQUEST>\s*", re.DOTALL)
_VIEWED_FILE = re.compile(r"(?:Created At: [^\n]*\n)?(?:Completed At: [^\n]*\n)?File Path: `file://([^`\n]+)`\n")


def _typed_text(record: Record) -> str:
    request = _REQUEST.fullmatch(_CONTEXT.typed_text(string(record.get("content"))))
    return request[1] if request else ""


def _viewed_skill(record: Record) -> Use | None:
    found = _VIEWED_FILE.match(string(record.get("content")))
    return use_of_path(found[1]) if found else None


def _session(path: PurePath) -> str:
    return path.parents[min(2, len(path.parents) - 1)].name


def read_history(data: bytes) -> list[Entry]:
    """Return the entries of history.jsonl."""
    records = (read_object(line) for line in data.splitlines())
    return [Entry(string(it.get("display")), short(it.get("conversationId"))) for it in records if it is not None]


def _facts(path: PurePath, read: ReadFile) -> Facts:
    lines = (mapping(read_object(line)) for line in reversed((read(_HISTORY) or b"").splitlines()))
    own = next((line for line in lines if line.get("conversationId") == _session(path)), {})
    return Facts(cwd=string(own.get("workspace")) or None)


FORMAT = Format(
    "antigravity",
    (
        RecordKind(
            Role.PROMPT, {"type": "USER_INPUT", "source": "USER_EXPLICIT"}, words=_typed_text, why="added by the client"
        ),
        RecordKind(Role.NOTHING, {"type": "USER_INPUT"}, why="injected"),
        RecordKind(Role.REPLY, {"type": "PLANNER_RESPONSE", "content": ANY}, text="content", more=True),
        RecordKind(Role.CALL, {"type": "PLANNER_RESPONSE"}, "tool_calls", tool="name", input="args"),
        RecordKind(Role.SKILL, {"type": "VIEW_FILE", "status": "DONE", "source": "MODEL"}, skill=_viewed_skill),
        RecordKind(Role.NOTHING, {"type": ANY, "source": ANY}),
    ),
    at="created_at",
    facts=_facts,
    name=_session,
    listed=True,
)  # fmt: skip
INFO = AgentInfo(
    name="antigravity",
    title="Antigravity",
    home=".gemini/antigravity-cli",
    stores=("brain",),
    session_place=".system_generated/logs/transcript.jsonl",
    typed_list=(_HISTORY,),
    asked_for=True,
    project_skills=(".agents/skills",),
    user_skills=(".gemini/config/skills",),
    skill_homes=("builtin/skills",),
    wrappers=("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "headless prompt", "tool result"),
    instructions=("AGENTS.md", "GEMINI.md"),
    verified="the engine of google-antigravity 0.1.22 on 2026-11-22, not the client",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT, entries=read_history, optional=True)
