"""Which Claude Code records a person sent, including those typed while the agent was busy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from skilld.agents.base import items
from skilld.agents.claude_code.records import AGENT, Record, blocks, digest, string, texts
from skilld.agents.claude_code.wrappers import Words, words
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
)
# Where an unsigned prompt comes from if a person may have sent it; a source that is not known yet counts as none.
_PERSONS = frozenset(("", "typed", "queued", "sdk"))
_FLAG_NAMES = frozenset(flag for flag, _ in _FLAGS)
_AUTOMATED_ENTRYPOINTS = frozenset(("mcp", "claude-code-github-action"))
_BLOCKED = "UserPromptSubmit operation blocked by hook"
_BLOCKED_PROMPT = "\n\nOriginal prompt: "


def is_signed(record: Record) -> bool:
    """Whether the client says that a human sent it. It says so of no typed command."""
    return record.origin == "human"


def is_automated(record: Record) -> bool:
    """Whether a program started the client for this record: `claude -p`, the SDK, a workflow.

    Desktop and mobile apps use the SDK too; their prompts are signed. One file can hold both sorts, so this is asked
    of each record.
    """
    entrypoint = record.string("entrypoint")
    if not entrypoint:
        return record.string("promptSource") == "sdk"
    return entrypoint.startswith("sdk") or entrypoint in _AUTOMATED_ENTRYPOINTS


def flagged(record: Record) -> str:
    """Return the reason for which a user record is not a prompt of a person by its flags alone, else nothing."""
    reason = ""
    if not _FLAG_NAMES.isdisjoint(record.fields):
        reason = next((name for flag, name in _FLAGS if record.get(flag)), "")
    if not reason and record.origin not in {"", "human"}:
        reason = "task-notification" if record.origin == "task-notification" else "injected"
    source = record.string("promptSource")
    if not reason and (source == "system" or (source not in _PERSONS and not is_signed(record))):
        reason = "injected"
    return reason


def prompt(record: Record) -> Words | str:
    """Return what a person typed in a user record that carries no tool result, or the reason why nobody did."""
    if reason := flagged(record):
        return reason
    found = words(texts(record.content), signed=is_signed(record), bare=not record.string("promptSource"))
    if found == "empty" and any(block.get("type") == "image" for block in blocks(record.content)):
        return "image-only"
    return found


def attached(attachment: Record) -> Words | str:
    """Return what was typed in a prompt that an attachment delivers in mid-turn, or the reason why nobody did."""
    if reason := flagged(attachment):
        return reason
    if attachment.string("commandMode") != "prompt":
        return "queued-command"
    found = words(texts(attachment.get("prompt")), signed=is_signed(attachment))
    return found if isinstance(found, str) or found.how is How.TYPED else "queued-command"


def blocked_prompt(record: Record) -> str:
    """Return the prompt that a hook of the person kept from the agent: a system record is its only trace.

    The hook's own words come before it; where the phrase stands twice, only what follows the last is surely typed.
    """
    content = record.string("content")
    if record.string("subtype") != "informational" or not content.startswith(_BLOCKED):
        return ""
    return content.rpartition(_BLOCKED_PROMPT)[2] if _BLOCKED_PROMPT in content else ""


# Who sits at a session, and where: what later records need of the earlier ones. One file can hold a person's turns and
# those of `claude -p`, so the question is put again for each record.


class Presence:
    """Follows one transcript. All it keeps over a restart is a folder, a version and two flags."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.cwd = string(state.get("cwd")) or None
        self.version = tuple(part for part in items(state.get("version")) if isinstance(part, int))
        # As of the last record; nobody is known to be there before the first.
        self.person = state.get("person") is True
        # Whether a human sent the last prompt of a session that a program started (desktop and mobile apps).
        self._signed = state.get("signed") is True

    def state(self) -> dict[str, Any]:
        """Return what must outlive a restart."""
        return {"cwd": self.cwd, "version": list(self.version), "person": self.person, "signed": self._signed}

    def follow(self, record: Record) -> bool:
        """Take note of a record; return whether it belongs to what a person does, not to a headless run."""
        self.cwd = record.cwd or self.cwd
        self.version = record.version or self.version
        if is_automated(record):
            if record.type == "user" and not flagged(record) and not any(record.results()):
                self._signed = is_signed(record)
            self.person = self._signed
        else:
            self.person = True
        return self.person


# Prompts typed while Claude Code was busy: queue operations in, the turns that no other record carries out. An
# `enqueue` holds the text. Its delivery is a user record (`dequeue`) or an attachment (`remove`); before 2.1.101 the
# `remove` itself was all that told of one in mid-turn. `popAll` takes the text back to the prompt box. Schedules use
# the same queue, and only the delivery says who sent a text, so an entry that was never delivered is nobody's.

# The first clients known to write down what they delivered in mid-turn.
_ATTACHMENTS_SINCE = (2, 1, 101)
_ABSORBED = "absorbed_mid_turn"
# How many lines later than its `remove` an attachment may stand.
_PATIENCE = 20
_MAX_ENTRIES = 64


class Delivery(Enum):
    """What the queue knows of a prompt that a record carries."""

    UNKNOWN = auto()
    QUEUED = auto()


class _Fate(Enum):
    WAITING = auto()
    SENT = auto()  # `dequeue`: its user record follows
    REMOVED = auto()  # `remove`: an attachment may follow


@dataclass(slots=True)
class _Entry:
    """One queued text. What no person typed is kept for the order of the queue only."""

    text: str
    by_person: bool
    by_client: bool
    at: str
    session_id: str
    span: Span
    cwd: str | None
    fate: _Fate = _Fate.WAITING
    age: int = 0
    overdue: bool = False  # the file was idle since: reading may resume behind it

    def turn(self) -> Turn:
        """Return the turn of a prompt that stands nowhere else."""
        key = f"{AGENT}:{self.session_id}:{self.at}:{digest(self.text)}"
        return Turn(key, AGENT, self.session_id, self.text, self.at or None, How.QUEUED, self.span, self.cwd)


class Queue:
    """Follows the prompt queue of one transcript."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []

    @property
    def start(self) -> int | None:
        """Where the first line stands whose prompt still waits for its delivery."""
        starts = (entry.span.start for entry in self._entries if entry.by_person and not entry.overdue)
        return min(starts, default=None)

    @property
    def waits(self) -> bool:
        """Whether lines must be counted because something waits."""
        return bool(self._entries)

    def operate(self, record: Record, presence: Presence) -> list[Turn]:
        """Follow one queue operation; return the prompt if an old client just delivered it and wrote no more of it."""
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
                named = self._named(content)
                self._drop(named or [entry for entry in self._entries if not entry.by_client and _waits(entry)])
        return []

    def delivered(self, text: str, source: str = "") -> Delivery:
        """Strike out the entry that a record delivers; `source` is the record's `promptSource`, if it has one."""
        if same := self._named(text):
            self._strike(min(same, key=_waits))
            return Delivery.QUEUED
        queued = source == "queued"
        sent = [entry for entry in self._entries if entry.fate is _Fate.SENT]
        if queued:
            self._drop(sent[:1])
        elif not source:
            # 3 of 38 dequeued prompts were seen to be delivered with something added.
            sent = [entry for entry in sent if fold(entry.text) in fold(text)]
            self._drop(sent)
        return Delivery.QUEUED if queued or (sent and not source) else Delivery.UNKNOWN

    def overtaken(self, record: Record) -> None:
        """Forget what was queued before this prompt, which was typed into an idle client: it was never delivered."""
        at = record.at or ""
        self._drop([entry for entry in self._entries if entry.at < at])

    def tick(self) -> None:
        """Count a line; forget prompts whose attachment ought to have come by now: they were discarded."""
        if not self._entries:
            return
        for entry in self._entries:
            entry.age += entry.fate is _Fate.REMOVED
        self._drop([entry for entry in self._entries if entry.age > _PATIENCE])

    def flush(self) -> None:
        """Let reading resume behind what still waits: a delivery tells its text again."""
        for entry in self._entries:
            entry.overdue = True

    def _enqueue(self, record: Record, content: str, cwd: str | None) -> None:
        found = words([content], signed=False)
        by_person = isinstance(found, Words) and found.how is How.TYPED
        text = found.text if isinstance(found, Words) and by_person else content
        at = record.at or ""
        # Some clients write the same operation many times over.
        known = any(entry.at == at and entry.text == text for entry in self._entries)
        if found == "empty" or known:
            return
        entry = _Entry(text, by_person, isinstance(found, str), at, record.session_id, record.span, cwd)
        self._entries = [*self._entries, entry][-_MAX_ENTRIES:]

    def _named(self, text: str) -> list[_Entry]:
        return [entry for entry in self._entries if entry.by_person and fold(entry.text) == fold(text)]

    def _dequeue(self) -> None:
        if entry := self._next():
            entry.fate = _Fate.SENT
            if not entry.by_person:
                self._drop([entry])

    def _remove(self, content: str, *, withdrawn: bool, last_sign: bool) -> list[Turn]:
        entry = next(filter(_waits, self._named(content)), None) or self._next()
        if entry is None:
            return []
        entry.fate = _Fate.REMOVED
        if entry.by_person and not withdrawn and not last_sign:
            return []
        self._drop([entry])
        return [entry.turn()] if entry.by_person and not withdrawn else []

    def _next(self) -> _Entry | None:
        waiting = [entry for entry in self._entries if _waits(entry)]
        return min(waiting, key=lambda entry: entry.by_client, default=None)

    def _strike(self, entry: _Entry) -> None:
        self._entries.remove(entry)
        if _waits(entry):
            # An operation names no text, so it was put down to another entry.
            mistaken = next((other for other in self._entries if not _waits(other)), entry)
            mistaken.fate = _Fate.WAITING

    def _drop(self, entries: list[_Entry]) -> None:
        gone = set(map(id, entries))
        self._entries = [entry for entry in self._entries if id(entry) not in gone]


def _waits(entry: _Entry) -> bool:
    return entry.fate is _Fate.WAITING
