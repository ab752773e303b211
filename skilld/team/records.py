"""One thing a person taught, or what happened to it, as it is sent to others: to a small JSON text and back. Pure.

What is read was written by a stranger: one record that breaks a rule is refused whole, never mended.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from skilld.errors import RefusedError
from skilld.text import folded, safe_text
from skilld.types import Kind, TargetKind

VERSION = 1
MAX_BYTES = 4096  # of one record
MAX_RECORDS = 500  # of one person
MAX_PEOPLE = 1000
_MAX_RULE = 400  # characters
_MAX_QUOTE = 240
_MAX_WORDS = 160  # of any other text
_MAX_NUMBER = 1_000_000
_MAX_AGENTS = 20
_PERSON = re.compile(r"[a-z0-9][a-z0-9-]{2,38}[a-z0-9]")
_KEY = re.compile(r"[0-9a-f]{16}")
_AGENT = re.compile(r"[a-z0-9-]{1,32}")
_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_TIME = re.compile(rf"{_DAY.pattern}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ")
_HEARD = re.compile(rf"{_TIME.pattern}/[a-z0-9-]{{1,32}}/[0-9a-f]{{12}}")
MAX_HEARD = 40
_KINDS = frozenset({*Kind, ""})
_TARGETS = frozenset({*TargetKind, ""})


class What(StrEnum):
    """What a record says of its rule."""

    RULE = "rule"  # this person taught it
    PROPOSED = "proposed"  # it went into a pull request
    REJECTED = "rejected"  # the team did not want it
    WITHDRAWN = "withdrawn"  # this person does not share it any longer: nothing of it is left but its key
    # Between the machines of one person only:
    DECIDED = "decided"  # it was proposed; `said` is how that stands
    LEARNED = "learned"  # it was said, and waits for a place, or does not any longer
    HEARD = "heard"  # a line of a file that had to be said again


TEAMS = frozenset({What.RULE, What.PROPOSED, What.REJECTED, What.WITHDRAWN})
MACHINES = frozenset({What.DECIDED, What.LEARNED, What.HEARD})
_SAID = {
    What.DECIDED: frozenset({"open", "accepted", "rejected", "reverted"}),
    What.LEARNED: frozenset({"waiting", "gone"}),
    What.HEARD: frozenset({""}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one person says of one rule.

    `key` is the same for the same words in the same file. `place` is the file in the repository, `first` and `day` are
    days (UTC) on which it was first and last said, `decided` is that of what was decided last; what is no rule has
    `day` alone. `rev` counts the versions of this record: of two the higher holds. `said` is open or accepted. `quote`
    is empty unless the person gives their words away.

    Between machines `at` is when it was decided or said (RFC 3339 in UTC; empty: not decided), and `heard` are the
    sessions in which it was said: time, agent and a digest of the session's id.
    """

    what: What
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


def key_of(rule: str, place: str) -> str:
    """Return the key of a rule: of its words, case and white space aside, in this file."""
    return hashlib.sha256(f"{folded(rule)}\n{place}".encode()).hexdigest()[:16]


def is_person(name: str) -> bool:
    """Whether a text can be a person's name here: 4 to 40 small letters, digits and hyphens."""
    return bool(_PERSON.fullmatch(name)) and "--" not in name


def encode(record: Record) -> bytes:
    """Return a record as the one text that it has: the same record always gives the same bytes."""
    values: dict[str, object] = {"v": VERSION}
    for name in _FIELDS:
        if value := getattr(record, name):
            values[name] = value
    return _JSON.encode(values).encode()


def name_of(data: bytes) -> str:
    """Return the file name of a record: it is addressed by its content."""
    return f"{hashlib.sha256(data).hexdigest()[:32]}.json"


def decode(data: bytes, kinds: frozenset[What] = TEAMS, *, again: bool = False) -> Record:
    """Return what a record says. Raises RefusedError for anything that `encode` does not write, and for other kinds.

    `again` says that this function took the same bytes before: they are not looked through once more.
    """
    if len(data) > MAX_BYTES:
        raise _refused(f"it is {len(data)} bytes; the limit is {MAX_BYTES}")
    try:
        values = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _refused("it is not JSON") from None
    if not isinstance(values, dict) or values.pop("v", None) != VERSION or not values.keys() <= _FIELDS:
        raise _refused("its version or format is not supported by this version of skilld")
    try:
        record = Record(**_typed(values))
    except (TypeError, ValueError):
        raise _refused("one of its values has the wrong type") from None
    if again:
        return record
    if record.what not in kinds:
        raise _refused("records of its kind are not allowed here")
    if why := _wrong(record):
        raise _refused(why)
    if encode(record) != data:
        raise _refused("it is not in skilld's format")
    return record


def unfit(record: Record, kinds: frozenset[What] = TEAMS) -> str:
    """Return why others would refuse a record; empty where they would not."""
    try:
        decode(encode(record), kinds)
    except RefusedError as error:
        return error.cause
    return ""


def _typed(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        if name in {"sessions", "rev"}:
            if type(value) is not int:
                raise TypeError(name)
        elif name in {"agents", "heard"}:
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                raise TypeError(name)
            value = tuple(value)  # noqa: PLW2901 - the same value, frozen
        elif not isinstance(value, str):
            raise TypeError(name)
        found[name] = What(value) if name == "what" else value
    return found


def _wrong(record: Record) -> str:
    """Return what is wrong with a record, else the empty string."""
    texts = {"rule": _MAX_RULE, "quote": _MAX_QUOTE, "place": _MAX_WORDS, "section": _MAX_WORDS, "note": _MAX_WORDS}
    for name, most in texts.items():
        if not (value := getattr(record, name)):
            continue
        if len(value) > most:
            return f"its {name} is {len(value)} characters long; the limit is {most}"
        if value != safe_text(value) or value != value.strip():
            return f"its {name} contains hidden characters or line breaks"
    wrong = _wrong_times if record.what in MACHINES else _wrong_facts
    return wrong(record) or (_wrong_rule(record) if record.what is not What.WITHDRAWN else "")


def _wrong_facts(record: Record) -> str:
    days = (record.first, record.day, record.decided) if record.what is What.RULE else (record.day,)
    named = [_AGENT.fullmatch(one) for one in record.agents]
    bare = Record(what=record.what, key=record.key, day=record.day, rev=record.rev)
    wrong = {
        "one of its numbers is out of range": not all(0 <= one <= _MAX_NUMBER for one in (record.sessions, record.rev)),
        "its agents are not valid names": len(named) > _MAX_AGENTS or None in named,
        "its key is not valid": not _KEY.fullmatch(record.key),
        "its dates are not valid": None in map(_DAY.fullmatch, days) or record.first > record.day,
        "it has fields that a withdrawal cannot have": record.what is What.WITHDRAWN and record != bare,
        "it has fields that only your own machines write": bool(record.at or record.heard),
    }
    return next((why for why, is_so in wrong.items() if is_so), "")


def _wrong_times(record: Record) -> str:
    """Return what is wrong with the numbers and times of a record between machines."""
    days = record.first or record.day or record.decided
    wrong = {
        "one of its numbers is out of range": not 0 <= record.rev <= _MAX_NUMBER
        or bool(record.sessions or record.agents),
        "its time is not valid": bool(days) or (record.at != "" and not _TIME.fullmatch(record.at)),
        "its sessions are not valid": len(record.heard) > MAX_HEARD
        or None in map(_HEARD.fullmatch, record.heard)
        or list(record.heard) != sorted(set(record.heard)),
        "its key is not valid": not _KEY.fullmatch(record.key) or not record.place,
    }
    return next((why for why, is_so in wrong.items() if is_so), "")


def _wrong_rule(record: Record) -> str:
    if not record.rule or record.key != key_of(record.rule, record.place):
        return "its key does not match its rule"
    said = _SAID.get(record.what, frozenset({"", "open", "accepted"}))
    if record.kind not in _KINDS or record.target not in _TARGETS or record.said not in said:
        return "its kind, target or state is unknown"
    return _wrong_place(record.place)


def _wrong_place(place: str) -> str:
    parts = place.split("/") if place else []
    odd = any(part in {"", ".", ".."} or part.casefold() == ".git" for part in parts)
    return "its file path is not valid in a repository" if odd or "\\" in place or ":" in place else ""


def _refused(why: str) -> RefusedError:
    return RefusedError(_TITLE, why)


Kept = Mapping[tuple[str, str], Record]
"""The records of one person by `slot`."""


def slot(record: Record) -> tuple[str, str]:
    """Return what a record is about: of each slot one record holds. A rule and its withdrawal share theirs."""
    group = What.RULE if record.what is What.WITHDRAWN else record.what
    return record.key, group.value


def merged(*sets: Iterable[Record]) -> dict[tuple[str, str], Record]:
    """Return the union of records: of each slot the one with the highest `rev`, then the greatest text.

    The same whatever the order and however often: nothing is locked, and nothing conflicts.
    """
    kept: dict[tuple[str, str], Record] = {}
    for record in (one for records in sets for one in records):
        at = slot(record)
        if at not in kept or _rank(record) > _rank(kept[at]):
            kept[at] = record
    return kept


def _rank(record: Record) -> tuple[int, bytes]:
    return record.rev, encode(record)


def renewed(known: Kept, wanted: Iterable[Record]) -> dict[tuple[str, str], Record]:
    """Return `known` with what this machine says now: a record that changed gets the next `rev`.

    What another machine of the same person knows more is kept, so that two of them come to rest.
    """
    after = dict(known)
    for record in wanted:
        at, before = slot(record), known.get(slot(record))
        if before is None:
            if record.what is not What.WITHDRAWN:
                after[at] = replace(record, rev=1)
        elif (now := replace(together(before, record), rev=before.rev)) != before:
            after[at] = replace(now, rev=min(before.rev + 1, _MAX_NUMBER))
    return after


def together(before: Record, wanted: Record) -> Record:
    """Return what holds of one slot: a decision of a later day; of two records of one rule all that either knows."""
    if before.what is wanted.what is What.RULE:
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
    if wanted.what is What.WITHDRAWN:
        return wanted if wanted.day >= before.decided and before.what is What.RULE else before
    if before.what is What.WITHDRAWN:
        return wanted if wanted.decided > before.day else before
    return wanted if wanted.day > before.day else before
