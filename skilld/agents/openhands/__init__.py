"""The adapter for the OpenHands command line: a folder for each conversation, with a file for each event.

Seen: 1.16.0. Nothing marks `--headless`, and there is no list of what was typed. A conversation counts if something in
it shows that a person was there: a policy that asks before acting, a pause or a refusal, a prompt while the agent was
working, or one sooner after a reply than the client takes to start (15 s measured; 2 are required). What a script adds
to such a conversation later cannot be recognized.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath

from skilld.agents.base import AgentInfo, ReadFile, SessionFiles, mapping, objects, read_object, short, string
from skilld.agents.declared import ANY, DeclaredAdapter, Facts, Format, Record, RecordKind, Role, local_time, value
from skilld.clock import parse_time
from skilld.types import How

_STATE = "base_state.json"
_MIN_START_SECONDS = 2.0  # less than any start of the client takes
_EVENTS = "events"
_PERSON_EVENTS = frozenset({"PauseEvent", "UserRejectObservation"})


def gather(path: PurePath, files: SessionFiles) -> Iterator[bytes]:
    """Yield a head that says whether a person was there, and all events."""
    del path
    state = mapping(read_object(files.read(_STATE) or b""))
    policy = string(value(state, "confirmation_policy.kind"))
    asks = bool(policy) and policy != "NeverConfirm"
    attended = asks or _is_attended(mapping(read_object(line)) for line in _read_events(files))
    yield json.dumps({"head": {"attended": attended}}).encode()
    yield from _read_events(files)


def _read_events(files: SessionFiles) -> Iterator[bytes]:
    """Yield the events in the order of their names."""
    for name in files.names(_EVENTS):
        if name.startswith("event-") and name.endswith(".json"):
            yield (files.read(f"{_EVENTS}/{name}") or b"").replace(b"\n", b" ").strip()


def _is_attended(events: Iterator[Record]) -> bool:
    working, replied = False, None
    for event in events:
        kind, source, at = event.get("kind"), event.get("source"), parse_time(local_time(event.get("timestamp")))
        if kind in _PERSON_EVENTS:
            return True
        if kind == "MessageEvent" and source == "user":
            if working or (replied is not None and at is not None and 0 <= at - replied < _MIN_START_SECONDS):
                return True
            working = False
        elif kind == "MessageEvent" or event.get("tool_name") == "finish":
            working, replied = False, at
        elif kind in {"ActionEvent", "ObservationEvent"}:
            working = True
    return False


def _facts(path: PurePath, read: ReadFile) -> Facts:
    state = mapping(read_object(read(_STATE) or b""))
    known = objects(value(state, "agent.agent_context.skills"))
    skills = {short(skill.get("name")): string(skill.get("source")) for skill in known}
    return Facts(path.parent.name, string(value(state, "workspace.working_dir")) or None, skills=skills)


_USER_MESSAGE = {"kind": "MessageEvent", "source": "user"}
FORMAT = Format(
    "openhands",
    (
        RecordKind(Role.HEAD, {"head": ANY}),
        RecordKind(Role.PROMPT, _USER_MESSAGE, text="llm_message.content", key="id"),
        RecordKind(Role.REPLY, {"kind": "MessageEvent", "source": "agent"}, text="llm_message.content"),
        RecordKind(Role.CALL, {"kind": "ActionEvent"}, call="tool_call_id", tool="tool_name", input="action"),
        RecordKind(
            Role.RESULT, {"kind": "ObservationEvent"},
            call="tool_call_id", text="observation.content", failed={"observation.is_error": "true"},
        ),
        RecordKind(
            Role.PROMPT, {"kind": "UserRejectObservation", "rejection_source": ("user", "\0none")},
            words=lambda record: string(record.get("rejection_reason")), key="id", how=How.REJECTION, why="refused",
        ),
        RecordKind(Role.NOTHING, {"kind": ANY}),
    ),
    subagent={"head.attended": "false"},
    time=local_time,
    skills={"invoke_skill": "name"},
    shows={"file_editor": "path"},
    facts=_facts,
    name=lambda path: path.parent.name,
)  # fmt: skip
INFO = AgentInfo(
    name="openhands",
    title="OpenHands",
    home=".openhands",
    home_variables=("OPENHANDS_PERSISTENCE_DIR",),
    stores=("conversations",),
    suffixes=(".json",),
    session_place=_STATE,
    gather=gather,
    owner=lambda path: path.parent.parent / _STATE if path.parent.name == _EVENTS else path,
    asked_for=True,
    project_skills=(".agents/skills", ".openhands/skills", ".openhands/microagents"),
    user_skills=(".agents/skills",),
    wrappers=("extended_content", "headless prompt", "tool result"),
    instructions=("AGENTS.md",),
    verified="1.16.0 on 2026-11-22",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT)
