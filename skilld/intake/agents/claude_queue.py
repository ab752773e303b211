"""Prompts typed while Claude Code was busy: queue operations in, the turns that no other record carries out.

An `enqueue` holds the text. Its delivery is a user record (`dequeue`), an attachment (`remove`, newer clients) or
nothing at all (`remove` before 2.1.101; a client that was killed). `popAll` takes the text back to the prompt box. So
each entry waits for its delivery, matched by text, until it is certain that none will come.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from skilld.intake.agents.claude_presence import Presence
from skilld.intake.agents.claude_records import AGENT, Record, digest, items, mapping, string, texts
from skilld.intake.agents.claude_wrappers import Words, words
from skilld.text import fold
from skilld.types import How, Span, Turn

# The first clients known to write down what they delivered in mid-turn.
_ATTACHMENTS_SINCE = (2, 1, 101)
_ABSORBED = "absorbed_mid_turn"
# How many lines later than its `remove` an attachment may stand.
_PATIENCE = 20
_MOST_ENTRIES = 64
_MOST_SAID = 16


class Delivery(Enum):
    """What the queue knows of a prompt that a record carries."""

    UNKNOWN = auto()
    QUEUED = auto()
    REPEATED = auto()  # its turn was given out while its record was still to come


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

    def turn(self) -> Turn:
        """Return the turn of a prompt that stands nowhere else."""
        key = f"{AGENT}:{self.session_id}:{self.at}:{digest(self.text)}"
        return Turn(key, AGENT, self.session_id, self.text, self.at or None, How.QUEUED, self.span, self.cwd)


@dataclass(slots=True)
class _Said:
    """A queued prompt whose turn was given out before its delivery was written: its time and hash, no words."""

    at: str
    digest: str
    sent: bool = False


class Queue:
    """Follows the prompt queue of one transcript."""

    def __init__(self, said: object = None) -> None:
        self._entries: list[_Entry] = []
        self._said = [_Said(string(row.get("at")), string(row.get("digest"))) for row in map(mapping, items(said))]

    @property
    def start(self) -> int | None:
        """Where the first line stands whose prompt still waits for its delivery."""
        return min((entry.span.start for entry in self._entries if entry.by_person), default=None)

    @property
    def waits(self) -> bool:
        """Whether lines must be counted because something waits."""
        return bool(self._entries)

    def state(self) -> list[dict[str, str]]:
        """Return what must outlive a restart."""
        return [{"at": said.at, "digest": said.digest} for said in self._said]

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
        for said in self._said:
            if said.digest == digest(fold(text)) and (queued or said.sent):
                self._said.remove(said)
                return Delivery.REPEATED
        sent = [entry for entry in self._entries if entry.fate is _Fate.SENT]
        if queued:
            self._drop(sent[:1])
        elif not source:
            # 3 of 38 dequeued prompts were seen to be delivered with something added.
            sent = [entry for entry in sent if fold(entry.text) in fold(text)]
            self._drop(sent)
        return Delivery.QUEUED if queued or (sent and not source) else Delivery.UNKNOWN

    def overtaken(self, record: Record) -> list[Turn]:
        """Return what was queued before this prompt, which was typed into an idle client: it was never delivered."""
        at = record.at or ""
        older = [entry for entry in self._entries if entry.at < at]
        self._drop(older)
        self._said = [said for said in self._said if said.at >= at]
        return [entry.turn() for entry in older if entry.by_person and entry.fate is not _Fate.SENT]

    def tick(self, presence: Presence) -> list[Turn]:
        """Count a line; return the prompts whose attachment ought to have come by now."""
        if not self._entries:
            return []
        for entry in self._entries:
            entry.age += entry.fate is _Fate.REMOVED
        return self._give_up([entry for entry in self._entries if entry.age > _PATIENCE], presence)

    def flush(self, presence: Presence) -> list[Turn]:
        """Return what still waits, if a person sits there; a prompt that was sent has its own record or was lost."""
        turns = self._give_up([entry for entry in self._entries if entry.fate is not _Fate.SENT], presence)
        self._entries.clear()
        return turns

    def _enqueue(self, record: Record, content: str, cwd: str | None) -> None:
        found = words([content], signed=False)
        by_person = isinstance(found, Words) and found.how is How.TYPED
        text = found.text if isinstance(found, Words) and by_person else content
        at = record.at or ""
        # Some clients write the same operation many times over.
        known = any(entry.at == at and entry.text == text for entry in self._entries)
        if found == "empty" or known or any(said.at == at and said.digest == digest(fold(text)) for said in self._said):
            return
        entry = _Entry(text, by_person, isinstance(found, str), at, record.session_id, record.span, cwd)
        self._entries = [*self._entries, entry][-_MOST_ENTRIES:]

    def _named(self, text: str) -> list[_Entry]:
        return [entry for entry in self._entries if entry.by_person and fold(entry.text) == fold(text)]

    def _dequeue(self) -> None:
        if entry := self._next():
            entry.fate = _Fate.SENT
            if not entry.by_person:
                self._drop([entry])
        elif self._said:
            self._said[0].sent = True

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

    def _give_up(self, entries: list[_Entry], presence: Presence) -> list[Turn]:
        said = [entry for entry in entries if entry.by_person and presence.person]
        self._drop(entries)
        self._said = [*self._said, *(_Said(entry.at, digest(fold(entry.text))) for entry in said)][-_MOST_SAID:]
        return [entry.turn() for entry in said]

    def _drop(self, entries: list[_Entry]) -> None:
        gone = set(map(id, entries))
        self._entries = [entry for entry in self._entries if id(entry) not in gone]


def _waits(entry: _Entry) -> bool:
    return entry.fate is _Fate.WAITING
