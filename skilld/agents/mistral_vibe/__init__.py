"""The adapter for Mistral Vibe: a store of snapshots and a journal per session, found through CURRENT.

Seen: 3.0.3. The chunks of the newest snapshot hold all entries, the journal what came since. The id of a prompt shows
its origin: `rs-` is a terminal's, `user-turn-` a headless run's. A branch copies entries with their ids. All files are
replaced by renaming.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath

from skilld.agents.base import (
    AgentInfo,
    ReadFile,
    SessionFiles,
    items,
    mapping,
    objects,
    read_object,
    short,
    string,
)
from skilld.agents.declared import ANY, DeclaredAdapter, Facts, Format, Record, RecordKind, Role, milliseconds, value
from skilld.agents.questions import OpenQuestion, Question, ToolOutput
from skilld.agents.skill_reads import Use
from skilld.agents.wrappers import last_match
from skilld.text import read_json
from skilld.types import How

_SKILL_FOLDER = re.compile(r"^Base directory for this skill: ([^\n]+)\nRelative paths in this skill are ", re.MULTILINE)
_SKILL_CONTENT = re.compile(r'<skill_content name="([^"\n]+)">\n')


def gather(path: PurePath, files: SessionFiles) -> Iterator[bytes]:
    """Yield the session's head and its entries, with sorted keys, so that equal entries are equal bytes."""
    current = mapping(read_object(files.read(path.name) or b""))
    meta = mapping(read_object(files.read("meta.json") or b""))
    generation = string(current.get("generation"))
    manifest = mapping(read_object(files.read(f"generations/{generation}/manifest.json") or b""))
    cwd = value(meta, "environment.working_directory")
    yield _line({"type": "head", "session": current.get("session_id"), "cwd": cwd})
    for name in items(value(manifest, "projection_state.chunks")):
        chunk = files.read(f"chunks/{name}.json") if isinstance(name, str) else None
        yield from map(_line, objects(read_json(chunk or b"")))
    journal = string(value(manifest, "recovery_journal_segment.path"))
    for line in (files.read(journal) or b"").splitlines() if journal else ():
        delta = value(read_object(line), "payload.delta")
        yield from (_line(mapping(each.get("entry"))) for each in objects(delta) if each.get("entry"))


def _facts(path: PurePath, read: ReadFile) -> Facts:
    """Return whether this is a sub-agent. A branch names a parent too, but that does not list it as a child."""
    parent = short(mapping(read_object(read("meta.json") or b"")).get("parent_session_id"))
    if not parent:
        return Facts()
    above = read_object(read(f"../{PurePath(parent).name}/meta.json") or b"")
    children = {string(child.get("session_id")) for child in objects(mapping(above).get("child_sessions"))}
    return Facts(subagent=above is None or path.parent.name in children)


def _line(record: Record) -> bytes:
    return json.dumps(record, sort_keys=True).encode()


def _typed_text(record: Record) -> str:
    """Return the first part: what the client adds, such as a skill's body, is in others."""
    return next((string(part.get("text")) for part in objects(record.get("content"))), "")


def _skill_file(text: str) -> str | None:
    found = last_match(_SKILL_FOLDER, text)
    return f"{found[1].rstrip('/')}/SKILL.md" if found else None


def _invoked_skill(record: Record) -> Use | None:
    for part in objects(record.get("content"))[1:]:
        text = string(part.get("text"))
        if found := _SKILL_CONTENT.match(text):
            return found[1], _skill_file(text)
    return None


def _answers(result: ToolOutput, _: OpenQuestion) -> Iterator[str]:
    content = value(result.part, "state.output.structured_content")
    yield from (string(answer.get("answer")) for answer in objects(mapping(content).get("answers")))


_USER_MESSAGE = {"type": "message", "role": "user"}
_TOOL = {"type": "effect", "detail.kind": "tool"}
FORMAT = Format(
    "mistral-vibe",
    (
        RecordKind(Role.HEAD, {"type": "head"}),
        RecordKind(Role.SKILL, {**_USER_MESSAGE, "userDisplayContent": ANY}, skill=_invoked_skill, more=True),
        RecordKind(
            Role.PROMPT, {**_USER_MESSAGE, "id": "rs-*", "source": "turn_steer"},
            words=_typed_text, key="id", how=How.QUEUED,
        ),
        RecordKind(Role.PROMPT, {**_USER_MESSAGE, "id": "rs-*"}, words=_typed_text, key="id"),
        RecordKind(Role.NOTHING, {**_USER_MESSAGE, "id": "user-turn-*"}, why="headless"),
        RecordKind(Role.NOTHING, _USER_MESSAGE, why="injected"),
        RecordKind(Role.REPLY, {"type": "message", "role": "assistant"}, text="content"),
        RecordKind(Role.CALL, _TOOL, call="id", tool="detail.toolName", input="detail.input", more=True),
        RecordKind(
            Role.RESULT, {**_TOOL, "state.status": ANY},
            call="id", text="state.outputText", failed={"state.display.success": "false"},
        ),
        RecordKind(Role.NOTHING, {"type": "effect"}),
    ),
    session="session",
    cwd="cwd",
    at="createdAt",
    time=milliseconds,
    skills={"skill.read": "name"},
    skill_file=_skill_file,
    own_skills=True,
    questions={"ui.ask_user_question": Question(answers=_answers)},
    facts=_facts,
    name=lambda path: path.parent.name,
)  # fmt: skip
INFO = AgentInfo(
    name="mistral-vibe",
    title="Mistral Vibe",
    home=".vibe",
    home_variables=("VIBE_HOME",),
    stores=("logs/session/unified",),
    suffixes=("CURRENT",),
    session_place="CURRENT",
    gather=gather,
    project_skills=(".vibe/skills", ".agents/skills"),
    user_skills=(".agents/skills",),
    wrappers=("skill_content", "headless prompt", "option label", "tool result"),
    instructions=("AGENTS.md",),
    verified="3.0.3 on 2026-11-22",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT)
