"""The adapter for Letta Code: an append-only transcript of each conversation, written only if it runs in a terminal.

Seen: 0.32.18. Every `user` line is typed, queued ones too; typed skills and prompts of interrupted turns are missing.
The messages of the local backend have no times and no sign of `-p`: they are ignored.
"""

from __future__ import annotations

from pathlib import PurePath

from skilld.agents.base import AgentInfo, ReadFile, read_object, string
from skilld.agents.declared import ANY, DeclaredAdapter, Facts, Format, RecordKind, Role


def _facts(path: PurePath, read: ReadFile) -> Facts:
    """Return the folder in which the agent was last used: only the list of ended sessions has it."""
    agent = path.parent.parent.name
    lines = (read_object(line) for line in reversed((read("../../../sessions.jsonl") or b"").splitlines()))
    ended = next((line for line in lines if line and line.get("agent_id") == agent), {})
    return Facts(cwd=string(ended.get("project")) or None)


FORMAT = Format(
    "letta-code",
    (
        RecordKind(Role.PROMPT, {"kind": "user"}, text="text", key="source_line_id"),
        RecordKind(Role.REPLY, {"kind": "assistant"}, text="text"),
        RecordKind(
            Role.CALL, {"kind": "tool_call"}, more=True, call="source_line_id", tool="name", input="argsText"
        ),
        RecordKind(
            Role.RESULT, {"kind": "tool_call"}, call="source_line_id", text="resultText", failed={"resultOk": "\0none"}
        ),
        RecordKind(Role.NOTHING, {"role": "user", "metadata.conversation_id": ANY}, why="kept by the local backend"),
        RecordKind(Role.NOTHING, {"role": ANY, "metadata.conversation_id": ANY}),
    ),
    at="captured_at",
    skills={"Skill": "skill"},
    facts=_facts,
    name=lambda path: f"{path.parent.parent.name}/{path.parent.name}",
)  # fmt: skip
INFO = AgentInfo(
    name="letta-code",
    title="Letta Code",
    home=".letta",
    stores=("transcripts",),
    session_place="transcript.jsonl",
    project_skills=(".skills", ".agents/skills"),
    wrappers=("tool result",),
    instructions=(),
    verified="0.32.18 on 2026-11-22, 0.34.12 on 2026-11-24",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT)
