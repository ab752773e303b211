"""Finds which Claude Code records a person sent, including prompts typed while the agent was busy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from skilld.agents.base import items
from skilld.agents.claude_code.records import AGENT, Record, blocks, digest, string, texts
from skilld.agents.claude_code.wrappers import TypedWords, typed_words
from skilld.text import fold
from skilld.types import How, Span, Turn

_FLAGS = (
    ("isMeta", "meta"),
    ("turnCompanion", "meta"),
    ("isCompactSummary", "compact-summary"),
    ("isVisibleInTranscriptOnly", "transcript-only"),
    ("verifiedSlackHumanTurn", "other-channel"),
    ("planContent", "plan"),
    ("textNotTyped", "injected"),
    ("handedOff", "injected"),
    ("sourceToolUseID", "injected"),
)
# Sources of unsigned prompts that a person may have sent; unknown sources do not count.
_PERSON_SOURCES = frozenset(("", "typed", "queued", "sdk"))
_FLAG_NAMES = frozenset(flag for flag, _ in _FLAGS)
_AUTOMATED_ENTRYPOINTS = frozenset(("mcp", "claude-code-github-action"))
# The first version known to sign every prompt, also from desktop and mobile apps: all 88 in the collected sessions.
_SIGNED_SINCE = (2, 1, 197)
_BLOCKED = "UserPromptSubmit operation blocked by hook"
_BLOCKED_PROMPT = "\n\nOriginal prompt: "


def is_signed(record: Record) -> bool:
    """Whether the client says that a human sent it. It does not for typed commands."""
    return record.origin == "human"


def lacks_signature(record: Record, version: tuple[int, ...]) -> bool:
    """Whether a prompt that is no command has no sign of a human, though the client of this `version` writes one."""
    return version >= _SIGNED_SINCE and not is_signed(record)


def is_automated(record: Record) -> bool:
    """Whether a program started the client that wrote this record: `claude -p`, the SDK, a workflow.

    Desktop and mobile apps use the SDK too; their prompts are signed. One file can hold both, so each one is checked.
    """
    entrypoint = record.string("entrypoint")
    if not entrypoint:
        return record.string("promptSource") == "sdk"
    return entrypoint.startswith("sdk") or entrypoint in _AUTOMATED_ENTRYPOINTS


def flag_reason(record: Record) -> str | None:
    """Return the reason why a user record's flags rule out a person's prompt, None if they do not."""
    if not _FLAG_NAMES.isdisjoint(record.fields) and (flags := [name for flag, name in _FLAGS if record.get(flag)]):
        return flags[0]
    if record.origin not in {"", "human"}:
        return "task-notification" if record.origin == "task-notification" else "injected"
    source = record.string("promptSource")
    is_injected = source == "system" or (source not in _PERSON_SOURCES and not is_signed(record))
    return "injected" if is_injected else None


def typed_prompt(record: Record) -> TypedWords | str:
    """Return what a person typed in a user record without tool results, or the reason why nobody did."""
    if reason := flag_reason(record):
        return reason
    found = typed_words(texts(record.content), signed=is_signed(record), bare=not record.string("promptSource"))
    if found == "empty" and any(block.get("type") == "image" for block in blocks(record.content)):
        return "image-only"
    return found


def attached_prompt(attachment: Record) -> TypedWords | str:
    """Return what was typed in a prompt delivered by an attachment during a turn, or the reason why nobody did."""
    if reason := flag_reason(attachment):
        return reason
    if attachment.string("commandMode") != "prompt":
        return "queued-command"
    found = typed_words(texts(attachment.get("prompt")), signed=is_signed(attachment))
    return found if isinstance(found, str) or found.how is How.TYPED else "queued-command"


def blocked_prompt(record: Record) -> str:
    """Return the prompt that a hook kept from the agent: a system record is its only trace.

    The hook's own words come before it; if the phrase occurs twice, only what follows the last one is surely typed.
    """
    content = record.string("content")
    if record.string("subtype") != "informational" or not content.startswith(_BLOCKED):
        return ""
    return content.rpartition(_BLOCKED_PROMPT)[2] if _BLOCKED_PROMPT in content else ""


# Who is at a session, and where, as far as later records depend on earlier ones. One file can hold a person's turns and
# those of `claude -p`, so each record is checked.


class Presence:
    """Follows one transcript. Its checkpoint holds only a folder, a version and two flags."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.cwd = string(state.get("cwd")) or None
        self.version = tuple(part for part in items(state.get("version")) if isinstance(part, int))
        # As of the last record; False before the first.
        self.person = state.get("person") is True
        # Whether a human sent the last prompt in a session started by a program (desktop and mobile apps).
        self._signed = state.get("signed") is True

    def state(self) -> dict[str, Any]:
        """Return what must outlive a restart."""
        return {"cwd": self.cwd, "version": list(self.version), "person": self.person, "signed": self._signed}

    def update(self, record: Record) -> bool:
        """Update from a record; return whether it belongs to a person's session, not to a headless run."""
        self.cwd = record.cwd or self.cwd
        self.version = record.version or self.version
        if is_automated(record):
            if record.type == "user" and not flag_reason(record) and not any(record.results()):
                self._signed = is_signed(record)
            self.person = self._signed
        else:
            self.person = True
        return self.person


# Prompts typed while Claude Code was busy: takes queue operations, returns the turns that no other record has. An
# `enqueue` holds the text. Its delivery is a user record (`dequeue`) or an attachment (`remove`); before 2.1.101 the
# `remove` itself was the only trace of a delivery during a turn. `popAll` returns the text to the prompt box. Schedules
# use the same queue, and only the delivery says who sent a text, so an entry that was never delivered is nobody's.

# The first version known to record deliveries during a turn.
_ATTACHMENTS_SINCE = (2, 1, 101)
_ABSORBED = "absorbed_mid_turn"
_MAX_LINES_APART = 20  # a `remove` and its attachment
_MAX_ENTRIES = 64


class Delivery(Enum):
    """Whether a prompt in a record came from the queue."""

    UNKNOWN = auto()
    QUEUED = auto()


class _QueueState(Enum):
    WAITING = auto()
    SENT = auto()  # `dequeue`: its user record follows
    REMOVED = auto()  # `remove`: an attachment may follow


@dataclass(slots=True)
class _Entry:
    """One queued text. Entries that nobody typed only matter for the order of the queue."""

    text: str
    by_person: bool
    by_client: bool
    at: str
    session_id: str
    span: Span
    cwd: str | None
    state: _QueueState = _QueueState.WAITING
    age: int = 0
    overdue: bool = False  # the file has been idle since: reading may resume after it

    def turn(self) -> Turn:
        """Return the turn of a prompt that is in no other record."""
        key = f"{AGENT}:{self.session_id}:{self.at}:{digest(self.text)}"
        return Turn(key, AGENT, self.session_id, self.text, self.at or None, How.QUEUED, self.span, self.cwd)


class Queue:
    """Follows the prompt queue of one transcript."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []

    @property
    def start(self) -> int | None:
        """The start of the first line whose prompt still waits for its delivery."""
        starts = (entry.span.start for entry in self._entries if entry.by_person and not entry.overdue)
        return min(starts, default=None)

    @property
    def is_waiting(self) -> bool:
        """Whether lines must be counted because something waits."""
        return bool(self._entries)

    def on_operation(self, record: Record, presence: Presence) -> list[Turn]:
        """Apply a queue operation; return the prompt if an old client delivered it without another record."""
        content = "\n".join(texts(record.get("content")))
        match record.string("operation"):
            case "enqueue":
                self._enqueue(record, content, presence.cwd)
            case "dequeue":
                self._dequeue()
            case "remove":
                old = presence.person and () < presence.version < _ATTACHMENTS_SINCE
                return self._remove(content, withdrawn=record.string("reason") not in {"", _ABSORBED}, last_sign=old)
            case "popAll":
                named = self._entries_with(content)
                self._remove_entries(
                    named or [entry for entry in self._entries if not entry.by_client and _is_waiting(entry)]
                )
        return []

    def on_delivery(self, text: str, source: str = "") -> Delivery:
        """Remove the entry that a record delivers; `source` is the record's `promptSource`, if it has one."""
        if same := self._entries_with(text):
            self._deliver(min(same, key=_is_waiting))
            return Delivery.QUEUED
        queued = source == "queued"
        sent = [entry for entry in self._entries if entry.state is _QueueState.SENT]
        if queued:
            self._remove_entries(sent[:1])
        elif not source:
            # 3 of 38 dequeued prompts were delivered with something added.
            sent = [entry for entry in sent if fold(entry.text) in fold(text)]
            self._remove_entries(sent)
        return Delivery.QUEUED if queued or (sent and not source) else Delivery.UNKNOWN

    def drop_older(self, record: Record) -> None:
        """Drop what was queued before this prompt, which was typed into an idle client: it was never delivered."""
        at = record.at or ""
        self._remove_entries([entry for entry in self._entries if entry.at < at])

    def tick(self) -> None:
        """Count a line; drop prompts whose attachment is overdue: they were discarded."""
        if not self._entries:
            return
        for entry in self._entries:
            entry.age += entry.state is _QueueState.REMOVED
        self._remove_entries([entry for entry in self._entries if entry.age > _MAX_LINES_APART])

    def flush(self) -> None:
        """Let reading resume after what still waits: a delivery repeats the text."""
        for entry in self._entries:
            entry.overdue = True

    def _enqueue(self, record: Record, content: str, cwd: str | None) -> None:
        found = typed_words([content], signed=False)
        by_person = isinstance(found, TypedWords) and found.how is How.TYPED
        text = found.text if isinstance(found, TypedWords) and by_person else content
        at = record.at or ""
        # Some clients write the same operation many times.
        known = any(entry.at == at and entry.text == text for entry in self._entries)
        if found == "empty" or known:
            return
        entry = _Entry(text, by_person, isinstance(found, str), at, record.session_id, record.span, cwd)
        self._entries = [*self._entries, entry][-_MAX_ENTRIES:]

    def _entries_with(self, text: str) -> list[_Entry]:
        return [entry for entry in self._entries if entry.by_person and fold(entry.text) == fold(text)]

    def _dequeue(self) -> None:
        if entry := self._next_entry():
            entry.state = _QueueState.SENT
            if not entry.by_person:
                self._remove_entries([entry])

    def _remove(self, content: str, *, withdrawn: bool, last_sign: bool) -> list[Turn]:
        entry = next(filter(_is_waiting, self._entries_with(content)), None) or self._next_entry()
        if entry is None:
            return []
        entry.state = _QueueState.REMOVED
        if entry.by_person and not withdrawn and not last_sign:
            return []
        self._remove_entries([entry])
        return [entry.turn()] if entry.by_person and not withdrawn else []

    def _next_entry(self) -> _Entry | None:
        waiting = [entry for entry in self._entries if _is_waiting(entry)]
        return min(waiting, key=lambda entry: entry.by_client, default=None)

    def _deliver(self, entry: _Entry) -> None:
        self._entries.remove(entry)
        if _is_waiting(entry):
            # A dequeue has no text, so it was attributed to another entry.
            mistaken = next((other for other in self._entries if not _is_waiting(other)), entry)
            mistaken.state = _QueueState.WAITING

    def _remove_entries(self, entries: list[_Entry]) -> None:
        gone = set(map(id, entries))
        self._entries = [entry for entry in self._entries if id(entry) not in gone]


def _is_waiting(entry: _Entry) -> bool:
    return entry.state is _QueueState.WAITING
