"""Reads one line of a Codex rollout: its type, body, turn and time.

Bytes in, one flat record out, for both generations of the format and for the plain items of the oldest files. Knows
nothing of what records mean.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import PurePath
from typing import Any

from skilld.agents.base import mapping, read_object, short, string, utc
from skilld.agents.skill_reads import local_path
from skilld.types import RawLine, Span
from skilld.values import value_class


@value_class
class Record:
    """One line.

    `kind` is "event.X" for an event_msg, "response.X" for a response_item, "item.X" for a completed item, whose `body`
    is the item itself, and the type for others ("session_meta", "turn_context"). `turn_id` is "" if the line has none,
    `at` is RFC 3339 in UTC or None.
    """

    kind: str
    body: Mapping[str, Any]
    turn_id: str
    at: str | None
    span: Span


def read_record(line: RawLine) -> Record | None:
    """Return the record of a line, None if the line is not a JSON object."""
    record = read_object(line.data)
    return as_record(record, Span(line.start, line.end)) if record is not None else None


def as_record(record: Mapping[str, Any], span: Span) -> Record:
    """Return the record of a line's JSON object."""
    at = utc(record.get("timestamp"))
    kind = string(record.get("type"))
    payload = record.get("payload")
    if not isinstance(payload, dict):
        return _bare_record(record, kind, at, span)
    name = string(payload.get("type"))
    passed = mapping(payload.get("internal_chat_message_metadata_passthrough"))
    turn_id = short(payload.get("turn_id")) or short(passed.get("turn_id"))
    if kind == "event_msg" and name == "item_completed":
        item = mapping(payload.get("item"))
        return Record(f"item.{string(item.get('type'))}", item, turn_id, at, span)
    if kind in {"event_msg", "response_item"}:
        return Record(f"{kind.split('_', maxsplit=1)[0]}.{name}", payload, turn_id, at, span)
    return Record(kind, payload, turn_id, at, span)


def _bare_record(record: Mapping[str, Any], kind: str, at: str | None, span: Span) -> Record:
    """Return a record of versions up to 0.3x: response items without an envelope, after a first line without a type."""
    if not kind and "id" in record:
        return Record("session_meta", record, "", at, span)
    return Record(f"response.{kind}", record, "", at, span)


# The state of a rollout's session and turn: whose thread it is and who may be speaking. Saved in checkpoints as plain
# JSON, without words.

_AGENT_THREADS = frozenset(
    {"subagent", "guardian", "guardian_review", "memory_consolidation", "thread_title", "system"}
)
# Triggers of a turn: 0.169 writes "user" and "exec"; other clients also "composer", "steer", "goal", "app_tool_...".
_HUMAN_TRIGGERS = frozenset({"user", "composer", "steer"})
_RELAYED_TRIGGERS = ("app_tool", "automation")
_HEADLESS_SOURCES = frozenset({"exec", "mcp"})
_HEADLESS_ORIGINATORS = ("codex_exec", "codex_sdk")
_FILE_NAME = re.compile(r"rollout-[\dT-]*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
_MAX_PATH = 1024


@dataclass(slots=True)
class Session:
    """The state of one rollout file.

    `root` is the oldest thread whose history the file holds (its own, or the one it was forked from), and `order` the
    number of prompts since its start: together they identify a turn without a native id, in every copy. `barred` is why
    nobody types in this thread ("headless", "subagent"), "" for an ordinary one. `trigger`, `delegated` and `prompts`
    belong to the turn `turn_id`.
    """

    thread: str = ""
    root: str = ""
    cwd: str = ""
    barred: str = ""
    heard: bool = False  # a person has spoken
    mirrored: bool = False  # prompts have their own kind of record in this file
    order: int = 0
    turn_id: str = ""
    trigger: str = ""
    delegated: bool = False
    prompts: int = 0
    mode: str = ""
    leaves_plan_mode: bool = False
    review: bool = False
    last: str = ""  # hash of the newest prompt
    answered: bool = False
    aborted: bool = False

    @classmethod
    def from_state(cls, state: Mapping[str, Any], path: PurePath) -> Session:
        """Return the session of a checkpoint; fields that are missing or of another type get their defaults."""
        session = cls()
        for field in fields(cls):
            value = state.get(field.name)
            if type(value) is type(getattr(session, field.name)):
                setattr(session, field.name, value)
        name = _FILE_NAME.match(path.name)
        session.thread = session.thread or (name[1] if name else path.stem)
        return session

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return asdict(self)

    @property
    def is_silent(self) -> bool:
        """Whether no person has taken part in this thread (a person may resume a headless one)."""
        return bool(self.barred) and not self.heard

    def on_meta(self, record: Record) -> None:
        """Handle a session_meta. The first identifies the file; the desktop app repeats it at each start.

        One of another thread before all prompts starts a copied history.
        """
        meta = record.body
        thread = short(meta.get("id")) or short(meta.get("session_id"))
        if self.root:
            if thread not in {"", self.thread} and self.order == 0:
                self.root = thread
            return
        self.thread = thread or self.thread
        self.root = short(meta.get("forked_from_id")) or self.thread
        self.cwd = self.cwd or _folder(meta)
        self.barred = _unattended_reason(meta) or ""

    def on_turn_start(self, record: Record) -> None:
        """Handle a task_started: a new turn with its own attribution."""
        attribution = mapping(record.body.get("turn_attribution"))
        self.turn_id = record.turn_id
        self.trigger = short(attribution.get("turn_trigger"))
        self.delegated = bool(attribution.get("parent_turn_id"))
        self.prompts = 0
        mode = short(record.body.get("collaboration_mode_kind"))
        self.leaves_plan_mode = self.mode == "plan" and mode != "plan"
        self.mode = mode or self.mode

    def on_turn_end(self, record: Record) -> None:
        """Handle a task_complete or turn_aborted."""
        self.turn_id, self.trigger, self.delegated, self.prompts = "", "", False, 0
        self.aborted = record.kind == "event.turn_aborted"

    def on_review_end(self, _: Record) -> None:
        """Handle the end of a review."""
        self.review = False

    def on_context(self, record: Record) -> None:
        """Handle a turn_context: the folder of the turn."""
        self.cwd = _folder(record.body) or self.cwd
        if record.turn_id and record.turn_id != self.turn_id:
            self.turn_id, self.trigger, self.delegated, self.prompts = record.turn_id, "", False, 0

    def is_resubmission(self, mark: str) -> bool:
        """Record the hash of a prompt; return whether it repeats one that was aborted before any answer.

        Esc puts the prompt back into the box; sent again, it is the same turn.
        """
        is_same = self.aborted and not self.answered and mark == self.last
        self.last, self.aborted, self.answered = mark, False, False
        return is_same

    def ignored_reason(self, client_id: str, turn_id: str) -> str | None:
        """Return why a prompt of this turn is not a person's, None if it is.

        Only prompts typed into a client have a client id (and some that the desktop app relays); prompts of other
        origin in the same thread have none and differ in the turn's trigger.
        """
        here = not turn_id or turn_id == self.turn_id
        trigger = self.trigger if here else ""
        if self.barred == "subagent" or (here and self.delegated):
            return "subagent"
        if self.barred:  # a person may still resume a headless session in a terminal
            is_typed = bool(client_id) and trigger in _HUMAN_TRIGGERS
        elif client_id:
            is_typed = (here and self.prompts > 0) or not trigger.startswith(_RELAYED_TRIGGERS)
        else:
            is_typed = not trigger or trigger in _HUMAN_TRIGGERS
        return None if is_typed else "headless"


def _unattended_reason(meta: Mapping[str, Any]) -> str | None:
    source = meta.get("source")
    if isinstance(source, Mapping) or short(meta.get("thread_source")) in _AGENT_THREADS:
        return "subagent"
    headless = short(source) in _HEADLESS_SOURCES or short(meta.get("originator")).startswith(_HEADLESS_ORIGINATORS)
    return "headless" if headless else None


def _folder(body: Mapping[str, Any]) -> str:
    folder = local_path(string(body.get("cwd"))) or ""
    return folder if len(folder) <= _MAX_PATH and "\0" not in folder else ""
