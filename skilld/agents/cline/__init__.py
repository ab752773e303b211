"""The adapter for Cline's command line: one JSON document of messages per session, rewritten each time, and a manifest.

Seen: 3.0.65. A prompt is a part wholly inside `<user_input>`. `interactive` in the manifest tells a terminal; a session
that began without one keeps its mark when a person resumes it, and then the list of typed prompts tells. Queued prompts
and answers are in no list.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from skilld.agents.asked import Question
from skilld.agents.base import AgentInfo, Read, mapping, objects, read_object, string
from skilld.agents.declared import ANY, Facts, Format, Record, RecordKind, Take, milliseconds
from skilld.agents.declared_adapter import DeclaredAdapter
from skilld.agents.gathering import Document
from skilld.agents.wrapped import labels_of

_INPUT = re.compile(r'\s*<user_input mode="\w{1,32}">(.*)</user_input>\s*', re.DOTALL)
# Both read in the client: a sentence of its own after Tab, and a command whose words it may put a task in front of.
_NOTICE = re.compile(r"<mode_notice>The user switched from \w+ mode to \w+ mode[\w ]*\.</mode_notice>\s*")
_COMMAND = re.compile(r'\s*<user_command slash="([\w-]+)">(.*)</user_command>\s*', re.DOTALL)
_TEAM = "spawn a team of agents for the following task:"


def _typed(record: Record) -> str:
    texts = (_NOTICE.sub("", string(part.get("text"))) for part in objects(record.get("content")))
    return "\n".join(_as_typed(found[1]) for found in map(_INPUT.fullmatch, texts) if found)


def _as_typed(words: str) -> str:
    command = _COMMAND.fullmatch(words)
    return f"/{command[1]} {command[2].strip().removeprefix(_TEAM).strip()}" if command else words


def _facts(path: PurePath, read: Read) -> Facts:
    manifest = mapping(read_object(read(f"{path.parent.name}.json") or b""))
    return Facts(cwd=string(manifest.get("cwd")) or None, attended=manifest.get("interactive") is True)


def _owner(path: PurePath) -> PurePath:
    is_manifest = path.name == f"{path.parent.name}.json"
    return path.with_name(f"{path.stem}.messages.json") if is_manifest else path


_USER = {"role": "user"}
_ASSISTANT = {"role": "assistant"}
FORMAT = Format(
    "cline",
    (
        RecordKind(Take.HEAD, {"head": ANY}),
        RecordKind(
            Take.RESULT, _USER, "content", {"type": "tool_result"}, more=True,
            call="tool_use_id", text="content", failed={"is_error": "true"},
        ),
        RecordKind(Take.PROMPT, _USER, "content", {"type": "text"}, key="id", words=_typed, why="added by the client"),
        RecordKind(Take.REPLY, _ASSISTANT, "content", {"type": "text"}, text="text", more=True),
        RecordKind(Take.CALL, _ASSISTANT, "content", {"type": "tool_use"}, call="id", tool="name", input="input"),
    ),
    session="head.sessionId",
    subagent={"head.agent": "subagent"},
    at="ts",
    time=milliseconds,
    skills={"skills": "skill"},
    shows={"read_files": "files.path"},
    questions={
        "ask_question": Question(
            answers=lambda result, _: [result.text],
            labels=lambda asked: labels_of([asked]),
            titles=lambda asked: [string(asked.get("question"))],
        )
    },
    facts=_facts,
    name=lambda path: path.parent.name,
)  # fmt: skip
INFO = AgentInfo(
    name="cline",
    title="Cline",
    home=".cline",
    home_variables=("CLINE_DIR",),
    stores=("data/sessions",),
    suffixes=(".messages.json",),
    session_place="*.messages.json",
    gather=Document("messages", ("agent", "sessionId", "origin")),
    owner=_owner,
    typed_list=("../../cache/user_input_history.jsonl",),
    project_skills=(".cline/skills", ".claude/skills", ".agents/skills"),
    wrappers=("user_input", "headless prompt", "option label", "tool result"),
    instructions=(".clinerules", "AGENTS.md"),
    verified="3.0.65 on 2026-11-22",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT)
