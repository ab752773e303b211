"""The adapter for Cline's command line: one JSON document of messages per session, rewritten each time, and a manifest.

Seen: 3.0.65. A prompt is a part entirely inside `<user_input>`. `interactive` in the manifest indicates a terminal; a
session that started without one keeps its mark when a person resumes it, so the list of typed prompts decides. Queued
prompts and answers are in no list.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from skilld.agents.base import AgentInfo, ReadFile, mapping, objects, read_object, string
from skilld.agents.declared import ANY, DeclaredAdapter, Facts, Format, Record, RecordKind, Role, milliseconds
from skilld.agents.gatherers import Document
from skilld.agents.questions import Question
from skilld.agents.wrappers import option_labels

_USER_INPUT = re.compile(r'\s*<user_input mode="\w{1,32}">(.*)</user_input>\s*', re.DOTALL)
# Both from the client's code: its own sentence after Tab, and a command to which it may prepend a task.
_MODE_NOTICE = re.compile(r"<mode_notice>The user switched from \w+ mode to \w+ mode[\w ]*\.</mode_notice>\s*")
_COMMAND = re.compile(r'\s*<user_command slash="([\w-]+)">(.*)</user_command>\s*', re.DOTALL)
_TEAM_PREFIX = "spawn a team of agents for the following task:"


def _typed_text(record: Record) -> str:
    texts = (_MODE_NOTICE.sub("", string(part.get("text"))) for part in objects(record.get("content")))
    return "\n".join(_restore_command(found[1]) for found in map(_USER_INPUT.fullmatch, texts) if found)


def _restore_command(words: str) -> str:
    command = _COMMAND.fullmatch(words)
    return f"/{command[1]} {command[2].strip().removeprefix(_TEAM_PREFIX).strip()}" if command else words


def _facts(path: PurePath, read: ReadFile) -> Facts:
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
        RecordKind(Role.HEAD, {"head": ANY}),
        RecordKind(
            Role.RESULT, _USER, "content", {"type": "tool_result"}, more=True,
            call="tool_use_id", text="content", failed={"is_error": "true"},
        ),
        RecordKind(
            Role.PROMPT, _USER, "content", {"type": "text"}, key="id", words=_typed_text, why="added by the client"
        ),
        RecordKind(Role.REPLY, _ASSISTANT, "content", {"type": "text"}, text="text", more=True),
        RecordKind(Role.CALL, _ASSISTANT, "content", {"type": "tool_use"}, call="id", tool="name", input="input"),
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
            labels=lambda asked: option_labels([asked]),
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
    verified="3.0.65 on 2026-11-30",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT)
