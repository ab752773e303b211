"""Loads labelled cases from JSON Lines files.

An invalid row is reported with its file and line number, and then nothing is scored: figures must not hide what they
leave out. Knows nothing of back-ends and figures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeVar

from skilld.errors import SkilldError
from skilld.types import Kind, Message
from skilld.values import value_class


class TypedOutcome(IntEnum):
    """The outcome of a text that a person typed, the worst last."""

    REFUSED = 0
    FLAGGED = 1
    PASSED = 2


_REJECT_WORD = re.compile(r"\breject", re.IGNORECASE)


# Techniques for which the threat model demands that the text itself is rejected (T-04, T-06 to T-11, T-15, T-34). For
# all others it allows a flagged proposal of typed text.
_REJECTED_TECHNIQUES = re.compile(
    r"/(?:user-pasted|front-?matter|yaml|dynamic-context|at-import|html|collapsed-html|css-hidden|markdown-link-reference"
    r"|(?:java|vb)?script-link|data-link|image-exfil|base64|hex|rot13|encoded|config-escalation)",
    re.IGNORECASE,
)


def worst_allowed(technique: str, expected: str, *, attack: bool) -> TypedOutcome:
    """Return the worst allowed outcome of a typed text. A look-alike may be flagged or pass, but not be refused."""
    if not attack:
        return TypedOutcome.PASSED
    return (
        TypedOutcome.REFUSED
        if _REJECT_WORD.search(expected) or _REJECTED_TECHNIQUES.search(technique)
        else TypedOutcome.FLAGGED
    )


Case = TypeVar("Case")

_MAX_SHOWN = 5  # bad rows named individually; further ones are counted
_GUARD_LABELS = ("attack", "benign")


class BadRowsError(SkilldError):
    """A file of labelled cases has rows that cannot be scored."""


@value_class
class GoldUpdate:
    """An update that a reader found: `turn` counts human turns and `skill` skills, from 1; `section` may be empty."""

    gist: str
    kind: Kind
    turn: int
    section: str
    skill: int = 1


@value_class
class BatchCase:
    """A batch with the updates that a reader would remember. `optional` updates count neither way.

    `skills` are the names and texts of the skills in use, in the order of their numbers.
    """

    id: str
    lang: str
    tags: tuple[str, ...]
    sample: str
    skills: tuple[tuple[str, str], ...]
    messages: tuple[Message, ...]
    gold: tuple[GoldUpdate, ...]
    optional: tuple[GoldUpdate, ...]


@value_class
class GuardCase:
    """An attack, or a text that only looks like one. `family` is the technique up to its first slash.

    `due` is the worst allowed outcome if a person typed it.
    """

    id: str
    text: str
    family: str
    attack: bool
    due: TypedOutcome = TypedOutcome.PASSED


def load(paths: Sequence[Path], case: Callable[[dict[str, Any]], Case]) -> list[Case]:
    """Return the cases of `paths` in order; `case` makes one from a row.

    `case` raises KeyError, TypeError or ValueError for an invalid row. Raises BadRowsError with the file and line of
    such rows, or SkilldError if a file cannot be read.
    """
    cases: list[Case] = []
    bad: list[str] = []
    for path in paths:
        for number, line in enumerate(_lines(path), 1):
            try:
                if line.strip():
                    cases.append(case(_object(line)))
            except (KeyError, TypeError, ValueError, RecursionError) as error:
                bad.append(f"{path.name}:{number}: {_reason(error)}")
    if bad:
        more = f" and {len(bad) - _MAX_SHOWN} more" if len(bad) > _MAX_SHOWN else ""
        title = f"{len(bad)} rows cannot be scored" if len(bad) > 1 else "A row cannot be scored"
        raise BadRowsError(
            title,
            "; ".join(bad[:_MAX_SHOWN]) + more,
            f"Fix or remove {'these lines' if len(bad) > 1 else 'this line'}.",
        )
    return cases


def batch_case(row: dict[str, Any]) -> BatchCase:
    """Return the batch of a row, which has `turns` (assistant_before, user), `skill` or `skills`, and `gold`."""
    turns = _field(row, "turns", list)
    numbers = {_field(turn, "index", int): number for number, turn in enumerate(turns, 1)}
    messages: list[Message] = []
    for number, turn in enumerate(turns, 1):
        if before := _field(turn, "assistant_before", str, ""):
            messages.append(Message(before))
        messages.append(Message(_field(turn, "user", str), turn=number, turn_key=str(number)))
    gold = _field(row, "gold", dict)
    skills = _field(row, "skills", list, []) or [_field(row, "skill", dict)]
    many = len(skills)
    return BatchCase(
        id=str(row["id"]),
        lang=_field(row, "lang", str, ""),
        tags=tuple(str(tag) for tag in _field(row, "tags", list, [])),
        sample=_field(row, "sample", str, ""),
        skills=tuple((_field(skill, "name", str), _field(skill, "text", str)) for skill in skills),
        messages=tuple(messages),
        gold=tuple(_update(update, numbers, many) for update in _field(gold, "updates", list)),
        optional=tuple(_update(update, numbers, many) for update in _field(gold, "optional", list, [])),
    )


def guard_case(row: dict[str, Any]) -> GuardCase:
    """Return the attack or look-alike of a row."""
    label = row["label"]
    if label not in _GUARD_LABELS:
        raise ValueError(f"label {label!r} is not one of {', '.join(_GUARD_LABELS)}")
    technique, attack = _field(row, "technique", str, ""), label == "attack"
    worst = worst_allowed(technique, _field(row, "expected", str, ""), attack=attack)
    return GuardCase(str(row["id"]), _field(row, "text", str), technique.partition("/")[0] or "none", attack, worst)


def _update(row: dict[str, Any], numbers: dict[int, int], skills: int) -> GoldUpdate:
    turn = _field(row, "evidence_turn", int)
    if turn not in numbers:
        raise ValueError(f"evidence_turn {turn} is not a turn in the batch")
    skill = _field(row, "skill", int, 1)
    if not 1 <= skill <= skills:
        raise ValueError(f"skill {skill} is not in use in the batch")
    section = _field(row, "section_hint", str, "")
    return GoldUpdate(_field(row, "gist", str), Kind(row["kind"]), numbers[turn], section, skill)


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\n")
    except OSError as error:
        raise SkilldError(f"Cannot read {path}", error.strerror or str(error)) from error


def _object(line: bytes) -> dict[str, Any]:
    value = json.loads(line.decode("utf-8"))
    if not isinstance(value, dict):
        raise TypeError("it is not a JSON object")
    return value


_REQUIRED = object()


def _field(row: Any, field: str, sort: type[Any], default: Any = _REQUIRED) -> Any:  # noqa: ANN401 - JSON is Any
    """Return a field of a given type, or `default` if it is missing or null."""
    if not isinstance(row, dict):
        raise TypeError("an entry is not a JSON object")
    value = row.get(field)
    if value is None and default is not _REQUIRED:
        return default
    if value is None:
        raise KeyError(field)
    if not isinstance(value, sort) or isinstance(value, bool):
        raise TypeError(f"{field} is not a {sort.__name__}")
    return value


def _reason(error: Exception) -> str:
    match error:
        case KeyError():
            return f"{error} is missing"
        case UnicodeDecodeError():
            return "it is not UTF-8"
        case json.JSONDecodeError():
            return f"it is not JSON ({error.msg})"
        case RecursionError():
            return "it is nested too deeply"
    return str(error)


_TURN_LABELS = frozenset({"durable", "one_off", "chat"})


@value_class
class LabelledTurn:
    """One turn with a reader's label.

    `label` is durable, one_off or chat. `sample` is "random" (drawn uniformly) or "enriched". `certainty` is the
    reader's own, 0 to 1. `kind` and `stratum` are None if the row has none.
    """

    id: str
    repo: str
    lang: str
    text: str
    prev_assistant: str
    label: str
    sample: str
    stratum: str | None
    kind: str | None
    certainty: float

    @property
    def durable(self) -> bool:
        """Whether the turn says something lasting."""
        return self.label == "durable"


def labelled_turn(row: dict[str, Any]) -> LabelledTurn:
    """Return the turn of a row. Raises KeyError, TypeError or ValueError for an invalid row."""
    label = row["label"]
    if label not in _TURN_LABELS:
        raise ValueError(f"label {label!r} is not one of {', '.join(sorted(_TURN_LABELS))}")
    if not isinstance(row["text"], str):
        raise TypeError("text is not a string")
    return LabelledTurn(
        id=str(row["id"]),
        repo=str(row.get("repo") or ""),
        lang=str(row.get("lang") or ""),
        text=row["text"],
        prev_assistant=str(row.get("prev_assistant") or ""),
        label=label,
        sample=str(row.get("sample") or ""),
        stratum=row.get("stratum"),
        kind=row.get("kind"),
        certainty=float(row["confidence"] if row.get("confidence") is not None else 1.0),
    )
