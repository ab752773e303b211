"""The adapter for the OpenHands command line: a folder for each conversation, with a file for each event.

Seen: 1.16.0. Nothing marks `--headless`, and there is no list of what was typed. A conversation counts where something
in it shows that a person was there: a policy that asks before it acts, a pause or a refusal, a prompt that came while
the agent was at work, or two within less time than the client takes to start (15 s measured; 2 are asked for). What a
script adds to such a conversation later cannot be told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath

from skilld.agents.base import AgentInfo, Beside, Read, mapping, objects, read_object, short, string
from skilld.agents.declared import ANY, Facts, Format, Record, RecordKind, Take, local, value
from skilld.agents.declared_adapter import DeclaredAdapter
from skilld.agents.gathering import Events
from skilld.clock import seconds
from skilld.types import How

_STATE = "base_state.json"
_START = 2.0  # seconds, less than any start of the client
_EVENTS = Events("events")
_KINDS = frozenset({"PauseEvent", "UserRejectObservation"})


def gather(path: PurePath, beside: Beside) -> Iterator[bytes]:
    """Yield a head that says whether a person was seen to be there, and all events."""
    state = mapping(read_object(beside.read(_STATE) or b""))
    policy = string(value(state, "confirmation_policy.kind"))
    asks = bool(policy) and policy != "NeverConfirm"
    attended = asks or _attended(mapping(read_object(line)) for line in _EVENTS(path, beside))
    yield json.dumps({"head": {"attended": attended}}).encode()
    yield from _EVENTS(path, beside)


def _attended(events: Iterator[Record]) -> bool:
    working, replied = False, None
    for event in events:
        kind, source, at = event.get("kind"), event.get("source"), seconds(local(event.get("timestamp")))
        if kind in _KINDS:
            return True
        if kind == "MessageEvent" and source == "user":
            if working or (replied is not None and at is not None and 0 <= at - replied < _START):
                return True
            working = False
        elif kind == "MessageEvent" or event.get("tool_name") == "finish":
            working, replied = False, at
        elif kind in {"ActionEvent", "ObservationEvent"}:
            working = True
    return False


def _facts(path: PurePath, read: Read) -> Facts:
    state = mapping(read_object(read(_STATE) or b""))
    known = objects(value(state, "agent.agent_context.skills"))
    skills = {short(skill.get("name")): string(skill.get("source")) for skill in known}
    return Facts(path.parent.name, string(value(state, "workspace.working_dir")) or None, skills=skills)


def _owner(path: PurePath) -> PurePath:
    return path.parent.parent / _STATE if path.parent.name == _EVENTS.folder else path


def _reason(record: Record) -> str:
    return string(record.get("rejection_reason"))


_SAID = {"kind": "MessageEvent", "source": "user"}
FORMAT = Format(
    "openhands",
    (
        RecordKind(Take.HEAD, {"head": ANY}),
        RecordKind(Take.PROMPT, _SAID, text="llm_message.content", key="id"),
        RecordKind(Take.REPLY, {"kind": "MessageEvent", "source": "agent"}, text="llm_message.content"),
        RecordKind(Take.CALL, {"kind": "ActionEvent"}, call="tool_call_id", tool="tool_name", input="action"),
        RecordKind(
            Take.RESULT, {"kind": "ObservationEvent"},
            call="tool_call_id", text="observation.content", failed={"observation.is_error": "true"},
        ),
        RecordKind(
            Take.PROMPT, {"kind": "UserRejectObservation", "rejection_source": ("user", "\0none")},
            words=_reason, key="id", how=How.REJECTION, why="refused",
        ),
        RecordKind(Take.NOTHING, {"kind": ANY}),
    ),
    subagent={"head.attended": "false"},
    time=local,
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
    owner=_owner,
    asked_for=True,
    project_skills=(".agents/skills", ".openhands/skills", ".openhands/microagents"),
    user_skills=(".agents/skills",),
    wrappers=("extended_content", "headless prompt", "tool result"),
    instructions=("AGENTS.md",),
    verified="1.16.0 on 2026-11-22",
)
ADAPTER = DeclaredAdapter(INFO, FORMAT)
