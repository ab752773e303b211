"""How each record of a transcript was classified, and why: the output of `skilld inspect --explain`.

A record's shape holds keys and the names of types, and only those values that name a kind, so it can be shown to
anybody. Events are assigned to the record at their position, however late the parser returned them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skilld.agents.base import Adapter
from skilld.agents.declared import ANY, NONE, Condition, DeclaredAdapter, RecordKind, Role
from skilld.agents.tools import record_reader
from skilld.ingest import side_files
from skilld.ingest.source import source_of
from skilld.types import Event, Ignored, Malformed, Reply, SessionEnd, SessionStart, SkillUse, Span, Turn
from skilld.values import value_class

# Keys whose values name the kind of a record. Any other value may be somebody's words.
_KIND_KEYS = ("type", "kind", "role", "subtype", "method", "sessionUpdate", "source", "what")
_KIND_PATTERN = re.compile(r"[a-z][A-Za-z_./-]{0,39}")
_KEY_PATTERN = re.compile(r"[A-Za-z_$][A-Za-z_$.-]{0,39}")
_MAX_KEYS, _MAX_DEPTH = 40, 4


@value_class
class RecordExplanation:
    """One record: its position, its kind, what it was taken for and why, and its shape if its kind is unknown."""

    span: Span
    kind: str
    taken: tuple[str, ...]
    why: str
    shape: Any = None

    def as_json(self) -> dict[str, Any]:
        """Return the shape that `skilld inspect --explain --json` promises."""
        place = {"start": self.span.start, "end": self.span.end}
        return {**place, "kind": self.kind, "taken_for": list(self.taken), "why": self.why, "shape": self.shape}


def explain(path: Path, adapter: Adapter) -> Iterator[RecordExplanation]:
    """Yield an explanation of each record of a transcript, in order. Raises OSError if it cannot be read."""
    parser = adapter.parser(path)
    side_files.provide(parser, path, adapter.INFO)
    events: list[Event] = []
    places: list[tuple[Span, Mapping[str, Any] | None]] = []
    records = record_reader(adapter)
    for item in source_of(adapter.INFO, path).read_all(path):
        if isinstance(item, Span):
            places.append((item, None))
            continue
        events += parser.feed(item)
        found = [(span, record) for record, span in records(item)]
        places += found or [(Span(item.start, item.end), None)] * bool(item.data.strip())
    events += parser.flush()
    given: dict[int, list[Event]] = {}
    for event in events:
        given.setdefault(event.span.start, []).append(event)
    yield from (_explain(span, record, given.get(span.start, []), adapter) for span, record in places)


def _explain(span: Span, record: Mapping[str, Any] | None, events: list[Event], adapter: Adapter) -> RecordExplanation:
    taken = tuple(dict.fromkeys(map(_describe_event, events)))
    if record is None:
        return RecordExplanation(span, "", taken or ("nothing",), "it is not a JSON object")
    reasons = [
        _REASON_TEXTS[event.reason] for event in events if isinstance(event, Ignored) and event.reason in _REASON_TEXTS
    ]
    if not isinstance(adapter, DeclaredAdapter):
        why = reasons[0] if reasons else "" if taken else "the adapter does not read it as a turn, reply or skill"
        return RecordExplanation(span, kind_of(record), taken or ("nothing",), why)
    shaped = adapter.format.shape(record)
    kinds = list(adapter.format.kinds_of(shaped))
    if not kinds:
        return RecordExplanation(
            span,
            kind_of(shaped),
            ("an unknown kind",),
            "it does not match any kind of record that skilld knows",
            shape_of(shaped),
        )
    kinds = [kind for kind in kinds if kind.role is not Role.SKILL or _SKILL_USE in taken]
    names = taken or tuple(dict.fromkeys(kind.role.value for kind in kinds))
    return RecordExplanation(span, kind_of(shaped), names, "; ".join([*map(_describe_match, kinds), *reasons[:1]]))


_SKILL_USE = Role.SKILL.value
_REASON_TEXTS = {
    "not-typed": "it is not in the agent's prompt history",
    "not typed": "it is not in the agent's prompt history",
    "subagent": "no human took part in this session",
    "headless": "nobody was at the keyboard",
    "unsigned": "the client does not say that a human sent it",
}


def _describe_event(event: Event) -> str:
    match event:
        case Turn():
            return f"a turn ({event.how.value})"
        case Ignored():
            return f"not a turn: {event.reason}"
        case SkillUse():
            return _SKILL_USE
        case Reply():
            return "a reply"
        case SessionEnd() | SessionStart():
            return "the end of a session" if isinstance(event, SessionEnd) else "the start of a session"
        case Malformed():
            return "malformed"


def _describe_match(kind: RecordKind) -> str:
    marks = [*_describe_conditions(kind.when)]
    if part := " and ".join(_describe_conditions(kind.part)):
        marks.append(f"{kind.each} has an element where {part}")
    name = f"{kind.role.value} ({kind.why})" if kind.role is Role.NOTHING and kind.why else kind.role.value
    return f"{name} because {', '.join(marks)}"


def _describe_conditions(when: Condition) -> Iterator[str]:
    for place, asked in when.items():
        if asked in (ANY, NONE):
            yield f"{place} is {'present' if asked == ANY else 'absent'}"
        else:
            wanted = (asked,) if isinstance(asked, str) else asked
            yield f"{place} is {' or '.join('absent' if each == NONE else each for each in wanted)}"


def kind_of(record: Mapping[str, Any]) -> str:
    """Return the name of a record's kind, from two levels of keys: `type=message message.role=user`."""
    names = [*_kind_names("", record)]
    for key, below in record.items():
        if isinstance(below, dict) and _KEY_PATTERN.fullmatch(key):
            names += _kind_names(f"{key}.", below)
    return " ".join(names[:6])


def _kind_names(before: str, record: Mapping[str, Any]) -> Iterator[str]:
    for key in _KIND_KEYS:
        found = record.get(key)
        if isinstance(found, str) and _KIND_PATTERN.fullmatch(found):
            yield f"{before}{key}={found}"


def shape_of(value: object, depth: int = _MAX_DEPTH) -> Any:  # noqa: ANN401 - JSON
    """Return the keys and types of a value, but no values, nor keys that may be values (digits, paths, long ones)."""
    if isinstance(value, dict):
        keys = [key for key in list(value)[:_MAX_KEYS] if isinstance(key, str)]
        return {
            (key if _KEY_PATTERN.fullmatch(key) else "..."): shape_of(value[key], depth - 1) if depth else "..."
            for key in keys
        }
    if isinstance(value, list):
        return [shape_of(value[0], depth - 1)] if value and depth else []
    return {str: "string", bool: "boolean", int: "number", float: "number"}.get(type(value), "null")
