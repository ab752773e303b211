"""Records of what a person taught and what happened to it, converted to a small JSON text for others and back. Pure.

What is read was written by a stranger: one record that breaks a rule is refused as a whole, never repaired.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from enum import StrEnum

from skilld import codec
from skilld.clock import parse_time
from skilld.errors import RefusedError
from skilld.text import fold_case, safe_text
from skilld.types import Kind, TargetKind
from skilld.values import value_class

VERSION = 1
MAX_BYTES = 4096  # of one record
MAX_RECORDS = 500  # of one person
MAX_PEOPLE = 1000
_MAX_RULE = 400  # characters
_MAX_QUOTE = 240
_MAX_WORDS = 160  # of any other text
_MAX_NUMBER = 1_000_000
_MAX_AGENTS = 20
_PERSON_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]{0,38}[a-z0-9]")
KEY_PATTERN = re.compile(r"[0-9a-f]{16}")
_AGENT_PATTERN = re.compile(r"[a-z0-9-]{1,32}")
_DAY_PATTERN = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_TIME_PATTERN = re.compile(rf"{_DAY_PATTERN.pattern}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ")
_HEARD_PATTERN = re.compile(rf"{_TIME_PATTERN.pattern}/[a-z0-9-]{{1,32}}/[0-9a-f]{{12}}")
MAX_HEARD = 40
_KINDS = frozenset({*Kind, ""})
_TARGETS = frozenset({*TargetKind, ""})


class RecordType(StrEnum):
    """What a record says about its rule."""

    RULE = "rule"  # this person taught it
    PROPOSED = "proposed"  # it went into a pull request
    REJECTED = "rejected"  # the team did not want it
    WITHDRAWN = "withdrawn"  # this person no longer shares it: only its key is left
    # Between the machines of one person only:
    DECIDED = "decided"  # it was proposed; `said` is the proposal's state
    LEARNED = "learned"  # it was said, and waits for a place, or no longer does
    HEARD = "heard"  # a line of a file that had to be repeated


TEAM_TYPES = frozenset({RecordType.RULE, RecordType.PROPOSED, RecordType.REJECTED, RecordType.WITHDRAWN})
MACHINE_TYPES = frozenset({RecordType.DECIDED, RecordType.LEARNED, RecordType.HEARD})
_SAID_VALUES = {
    RecordType.DECIDED: frozenset({"open", "accepted", "rejected", "reverted"}),
    RecordType.LEARNED: frozenset({"waiting", "gone"}),
    RecordType.HEARD: frozenset({""}),
}


@value_class(kw_only=True)
class Record:
    """What one person says about one rule.

    `key` is the same for the same words in the same file. `place` is the file in the repository, `first` and `day` are
    the days (UTC) on which it was first and last said, `decided` is the day of the last decision; records that are no
    rules only have `day`. `rev` counts the versions of this record: the higher one is valid. `said` is open or
    accepted. `quote` is empty unless the person shares their words.

    Between machines, `at` is when it was decided or said (RFC 3339 in UTC; empty: not decided), and `heard` are the
    sessions in which it was said: time, agent and a digest of the session's ID.
    """

    what: RecordType
    key: str
    rule: str = ""
    kind: str = ""
    place: str = ""
    section: str = ""
    target: str = ""
    first: str = ""
    day: str = ""
    decided: str = ""
    sessions: int = 0
    agents: tuple[str, ...] = ()
    said: str = ""
    quote: str = ""
    note: str = ""
    rev: int = 0
    at: str = ""
    heard: tuple[str, ...] = ()


_FIELDS = frozenset(field.name for field in fields(Record))
_JSON = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
_TITLE = "The record was rejected"


def rule_key(rule: str, place: str) -> str:
    """Return the key of a rule in a file, from its words without case and white space."""
    return hashlib.sha256(f"{fold_case(rule)}\n{place}".encode()).hexdigest()[:16]


def is_person_name(name: str) -> bool:
    """Whether a text can be a person's name here: 2 to 40 lower-case letters, digits and hyphens."""
    return bool(_PERSON_PATTERN.fullmatch(name)) and "--" not in name


def encode(record: Record) -> bytes:
    """Return the canonical text of a record: the same record always gives the same bytes."""
    values: dict[str, object] = {"v": VERSION}
    for name in _FIELDS:
        if value := getattr(record, name):
            values[name] = value
    return _JSON.encode(values).encode()


def describe(record: Record) -> str:
    """Return all that a record sends beside its rule, in one line."""
    values = {name: getattr(record, name) for name in sorted(_FIELDS) if name not in {"what", "rule"}}
    texts = {name: ", ".join(value) if isinstance(value, tuple) else value for name, value in values.items()}
    return "; ".join([record.what.value, *(f"{name}: {text}" for name, text in texts.items() if text)])


def record_file_name(data: bytes) -> str:
    """Return the file name of a record: it is addressed by its content."""
    return f"{hashlib.sha256(data).hexdigest()[:32]}.json"


def decode(data: bytes, kinds: frozenset[RecordType] = TEAM_TYPES, *, again: bool = False) -> Record:
    """Return the record in a text. Raises RefusedError for anything that `encode` does not write, and for other types.

    `again` says that this function accepted the same bytes before: they are not checked again.
    """
    if len(data) > MAX_BYTES:
        raise _rejection(f"it is {len(data)} bytes; the limit is {MAX_BYTES}")
    try:
        values = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _rejection("it is not JSON") from None
    if not isinstance(values, dict) or values.pop("v", None) != VERSION or not values.keys() <= _FIELDS:
        raise _rejection("its version or format is not supported by this version of skilld")
    try:
        record = codec.read(Record, values)
    except codec.DecodeError:
        raise _rejection("one of its values has the wrong type") from None
    if again:
        return record
    if record.what not in kinds:
        raise _rejection("records of its kind are not allowed here")
    if why := _find_fault(record):
        raise _rejection(why)
    if encode(record) != data:
        raise _rejection("it is not in skilld's format")
    return record


def refusal_reason(record: Record, kinds: frozenset[RecordType] = TEAM_TYPES) -> str | None:
    """Return why others would refuse a record; None if they would not."""
    try:
        decode(encode(record), kinds)
    except RefusedError as error:
        return error.cause
    return None


def _find_fault(record: Record) -> str | None:
    """Return what is wrong with a record; None if nothing is."""
    texts = {"rule": _MAX_RULE, "quote": _MAX_QUOTE, "place": _MAX_WORDS, "section": _MAX_WORDS, "note": _MAX_WORDS}
    for name, most in texts.items():
        if not (value := getattr(record, name)):
            continue
        if len(value) > most:
            return f"its {name} is {len(value)} characters long; the limit is {most}"
        if value != safe_text(value) or value != value.strip():
            return f"its {name} contains hidden characters or line breaks"
    wrong = _fault_in_times if record.what in MACHINE_TYPES else _fault_in_facts
    return wrong(record) or (None if record.what is RecordType.WITHDRAWN else _fault_in_rule(record))


def _fault_in_facts(record: Record) -> str | None:
    days = (record.first, record.day, record.decided) if record.what is RecordType.RULE else (record.day,)
    named = [_AGENT_PATTERN.fullmatch(one) for one in record.agents]
    bare = Record(what=record.what, key=record.key, day=record.day, rev=record.rev)
    wrong = {
        "one of its numbers is out of range": not all(0 <= one <= _MAX_NUMBER for one in (record.sessions, record.rev)),
        "its agents are not valid names": len(named) > _MAX_AGENTS or None in named,
        "its key is not valid": not KEY_PATTERN.fullmatch(record.key),
        "its dates are not valid": not all(map(_is_day, days)) or record.first > record.day,
        "it has fields that a withdrawal cannot have": record.what is RecordType.WITHDRAWN and record != bare,
        "it has fields that only your own machines write": bool(record.at or record.heard),
    }
    return next((why for why, is_so in wrong.items() if is_so), None)


def _is_day(text: str) -> bool:
    """Whether a text is a day of the calendar, not 30 February, say."""
    return bool(_DAY_PATTERN.fullmatch(text)) and parse_time(text) is not None


def _fault_in_times(record: Record) -> str | None:
    """Return what is wrong with the numbers and times of a record between machines; None if nothing is."""
    days = record.first or record.day or record.decided
    wrong = {
        "one of its numbers is out of range": not 0 <= record.rev <= _MAX_NUMBER
        or bool(record.sessions or record.agents),
        "its time is not valid": bool(days) or (record.at != "" and not _TIME_PATTERN.fullmatch(record.at)),
        "its sessions are not valid": len(record.heard) > MAX_HEARD
        or None in map(_HEARD_PATTERN.fullmatch, record.heard)
        or list(record.heard) != sorted(set(record.heard)),
        "its key is not valid": not KEY_PATTERN.fullmatch(record.key) or not record.place,
    }
    return next((why for why, is_so in wrong.items() if is_so), None)


def _fault_in_rule(record: Record) -> str | None:
    if not record.rule or record.key != rule_key(record.rule, record.place):
        return "its key does not match its rule"
    states = _SAID_VALUES.get(record.what, frozenset({"", "open", "accepted"}))
    if record.kind not in _KINDS or record.target not in _TARGETS or record.said not in states:
        return "its kind, target or state is unknown"
    return _fault_in_place(record.place)


def _fault_in_place(place: str) -> str | None:
    parts = place.split("/") if place else []
    odd = any(part in {"", ".", ".."} or part.casefold() == ".git" for part in parts)
    return "its file path is not valid in a repository" if odd or "\\" in place or ":" in place else None


def _rejection(why: str) -> RefusedError:
    return RefusedError(_TITLE, why)


RecordsBySlot = Mapping[tuple[str, str], Record]
"""The records of one person by `slot`."""


def record_slot(record: Record) -> tuple[str, str]:
    """Return the slot of a record: only one record per slot is valid. A rule and its withdrawal share a slot."""
    group = RecordType.RULE if record.what is RecordType.WITHDRAWN else record.what
    return record.key, group.value


def update_records(known: RecordsBySlot, wanted: Iterable[Record]) -> dict[tuple[str, str], Record]:
    """Return `known` updated with this machine's records: a record that changed gets the next `rev`.

    What only another machine of the same person knows is kept, so that two of them converge.
    """
    after = dict(known)
    for record in wanted:
        at, before = record_slot(record), known.get(record_slot(record))
        if before is None:
            if record.what is not RecordType.WITHDRAWN:
                after[at] = replace(record, rev=1)
        elif (now := replace(combine(before, record), rev=before.rev)) != before:
            after[at] = replace(now, rev=min(before.rev + 1, _MAX_NUMBER))
    return after


def combine(before: Record, wanted: Record) -> Record:
    """Return the valid record of one slot: the later decision; for two records of one rule their combined facts."""
    if before.what is wanted.what is RecordType.RULE:
        return replace(
            wanted,
            first=min(before.first, wanted.first),
            day=max(before.day, wanted.day),
            decided=max(before.decided, wanted.decided),
            sessions=max(before.sessions, wanted.sessions),
            agents=tuple(sorted({*before.agents, *wanted.agents})[:_MAX_AGENTS]),
            said=min(before.said, wanted.said),  # accepted before open
            quote=wanted.quote or before.quote,
            section=wanted.section or before.section,
        )
    if wanted.what is RecordType.WITHDRAWN:
        return wanted if wanted.day >= before.decided and before.what is RecordType.RULE else before
    if before.what is RecordType.WITHDRAWN:
        return wanted if wanted.decided > before.day else before
    return wanted if wanted.day > before.day else before
