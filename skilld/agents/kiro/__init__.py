"""The adapter for the Kiro command line: one append-only JSONL file per session, with a document next to it.

From public readers' captures of 2.5.1 and 2.28, not the client. How a headless run differs is unknown. Of its three
places only the default engine's is read, not the desktop's nor the database of 1.x.
"""

from __future__ import annotations

from pathlib import PurePath

from skilld.agents.base import AgentInfo, ReadFile, mapping, objects, read_object, short, string
from skilld.agents.declared import ANY, DeclaredAdapter, Facts, Format, Record, RecordKind, Role, unix_time, value


def _words(record: Record) -> str:
    parts = objects(value(record, "data.content"))
    return "\n".join(string(part.get("data")) for part in parts if part.get("kind") == "text")


def _facts(path: PurePath, read: ReadFile) -> Facts:
    about = mapping(read_object(read(f"{path.stem}.json") or b""))
    below = bool(about.get("parent_session_id")) and about.get("session_created_reason") == "subagent"
    return Facts(short(about.get("session_id")) or None, string(about.get("cwd")) or None, subagent=below)


FORMAT = Format(
    "kiro",
    (
        RecordKind(Role.PROMPT, {"kind": "Prompt"}, words=_words, key="data.message_id"),
        RecordKind(Role.REPLY, {"kind": "AssistantMessage"}, "data.content", {"kind": "text"}, text="data", more=True),
        RecordKind(
            Role.CALL, {"kind": "AssistantMessage"}, "data.content", {"kind": "toolUse"},
            call="data.toolUseId", tool="data.name", input="data.input",
        ),
        RecordKind(
            Role.RESULT, {"kind": "ToolResults"}, "data.content", {"kind": "toolResult"},
            call="data.toolUseId", text="data.content", failed={"data.status": "error"},
        ),
        RecordKind(Role.NOTHING, {"kind": ANY, "version": ANY}),
    ),
    at="data.meta.timestamp",
    time=unix_time,
    shows={"read": "operations.path"},
    facts=_facts,
)  # fmt: skip
INFO = AgentInfo(
    name="kiro",
    title="Kiro",
    home=".kiro",
    home_variables=("KIRO_HOME",),
    stores=("sessions/cli",),
    flat=True,
    asked_for=True,
    project_skills=(".kiro/skills",),
    wrappers=("tool result",),
    instructions=("AGENTS.md",),
    verified="public captures of 2.5.1 and 2.28, not the client",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT, lambda path: path.suffix == ".jsonl")
