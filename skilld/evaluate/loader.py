"""Loads labelled cases from JSON Lines files.

Files in, cases out. A row that is none is reported with its file and line number, and then nothing is scored: a figure
must not hide what it left out. Knows nothing of back-ends and figures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeVar

from skilld.errors import SkilldError
from skilld.types import Kind, Message


class Typed(IntEnum):
    """What became of a text that a person typed, worst last."""

    REFUSED = 0
    FLAGGED = 1
    PASSED = 2


_REJECTS = re.compile(r"\breject", re.IGNORECASE)


# Techniques whose threat says "rejected" or "no proposal" of the text itself (T-04, T-06 to T-11, T-15, T-34). Of all
# others the rows' threat model says of typed text: at most a flagged proposal.
_REJECTED = re.compile(
    r"/(?:user-pasted|front-?matter|yaml|dynamic-context|at-import|html|collapsed-html|css-hidden|markdown-link-reference"
    r"|(?:java|vb)?script-link|data-link|image-exfil|base64|hex|rot13|encoded|config-escalation)",
    re.IGNORECASE,
)


def due(technique: str, expected: str, *, attack: bool) -> Typed:
    """Return the worst that may become of a typed text. A look-alike may be flagged or pass, never be refused."""
    if not attack:
        return Typed.PASSED
    return Typed.REFUSED if _REJECTS.search(expected) or _REJECTED.search(technique) else Typed.FLAGGED


Case = TypeVar("Case")

_SHOWN = 5  # bad rows named one by one; more are counted
_LABELS = ("attack", "benign")


class BadRowsError(SkilldError):
    """A file of labelled cases has rows that cannot be scored."""


@dataclass(frozen=True, slots=True)
class GoldUpdate:
    """What a reader found in a batch: `turn` counts human turns and `skill` skills, from 1; `section` may be empty."""

    gist: str
    kind: Kind
    turn: int
    section: str
    skill: int = 1


@dataclass(frozen=True, slots=True)
class BatchCase:
    """A batch with what a reader would remember of it. `optional` updates are neither demanded nor punished.

    `skills` are name and text of those in use, in the order of their numbers.
    """

    id: str
    lang: str
    tags: tuple[str, ...]
    sample: str
    skills: tuple[tuple[str, str], ...]
    messages: tuple[Message, ...]
    gold: tuple[GoldUpdate, ...]
    optional: tuple[GoldUpdate, ...]


@dataclass(frozen=True, slots=True)
class GuardCase:
    """A text that attacks, or only looks like it. `family` is the technique up to its first slash.

    `due` is the worst that may become of it where a person typed it.
    """

    id: str
    text: str
    family: str
    attack: bool
    due: Typed = Typed.PASSED


def load(paths: Sequence[Path], case: Callable[[dict[str, Any]], Case]) -> list[Case]:
    """Return the cases of `paths` in order, each made of its row by `case`.

    `case` raises KeyError, TypeError or ValueError for a row that is none. Raises BadRowsError naming file and line of
    such rows, SkilldError if a file cannot be read.
    """
    cases: list[Case] = []
    bad: list[str] = []
    for path in paths:
        for number, line in enumerate(_lines(path), 1):
            try:
                if line.strip():
                    cases.append(case(_object(line)))
            except (KeyError, TypeError, ValueError, RecursionError) as error:
                bad.append(f"{path.name}:{number}: {_why(error)}")
    if bad:
        more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
        title = f"{len(bad)} rows cannot be scored" if len(bad) > 1 else "A row cannot be scored"
        raise BadRowsError(
            title, "; ".join(bad[:_SHOWN]) + more, f"Fix or remove {'these lines' if len(bad) > 1 else 'this line'}."
        )
    return cases


def batch_case(row: dict[str, Any]) -> BatchCase:
    """Return the batch of a row: turns with assistant_before and user, `skill` or a list `skills`, gold."""
    turns = _typed(row, "turns", list)
    numbers = {_typed(turn, "index", int): number for number, turn in enumerate(turns, 1)}
    messages: list[Message] = []
    for number, turn in enumerate(turns, 1):
        if before := _typed(turn, "assistant_before", str, ""):
            messages.append(Message(before))
        messages.append(Message(_typed(turn, "user", str), turn=number, turn_key=str(number)))
    gold = _typed(row, "gold", dict)
    skills = _typed(row, "skills", list, []) or [_typed(row, "skill", dict)]
    many = len(skills)
    return BatchCase(
        id=str(row["id"]),
        lang=_typed(row, "lang", str, ""),
        tags=tuple(str(tag) for tag in _typed(row, "tags", list, [])),
        sample=_typed(row, "sample", str, ""),
        skills=tuple((_typed(skill, "name", str), _typed(skill, "text", str)) for skill in skills),
        messages=tuple(messages),
        gold=tuple(_update(update, numbers, many) for update in _typed(gold, "updates", list)),
        optional=tuple(_update(update, numbers, many) for update in _typed(gold, "optional", list, [])),
    )


def guard_case(row: dict[str, Any]) -> GuardCase:
    """Return the attack or the look-alike of a row."""
    label = row["label"]
    if label not in _LABELS:
        raise ValueError(f"label {label!r} is not one of {', '.join(_LABELS)}")
    technique, attack = _typed(row, "technique", str, ""), label == "attack"
    worst = due(technique, _typed(row, "expected", str, ""), attack=attack)
    return GuardCase(str(row["id"]), _typed(row, "text", str), technique.partition("/")[0] or "none", attack, worst)


def _update(row: dict[str, Any], numbers: dict[int, int], skills: int) -> GoldUpdate:
    turn = _typed(row, "evidence_turn", int)
    if turn not in numbers:
        raise ValueError(f"evidence_turn {turn} is not a turn in the batch")
    skill = _typed(row, "skill", int, 1)
    if not 1 <= skill <= skills:
        raise ValueError(f"skill {skill} is not in use in the batch")
    section = _typed(row, "section_hint", str, "")
    return GoldUpdate(_typed(row, "gist", str), Kind(row["kind"]), numbers[turn], section, skill)


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


def _typed(row: Any, field: str, sort: type[Any], default: Any = _REQUIRED) -> Any:  # noqa: ANN401 - JSON is Any
    """Return a field that must be of a sort; `default` where it is missing or null."""
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


def _why(error: Exception) -> str:
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


# A labelled turn as it stands in a row of JSON: the row in, a `LabelledTurn` out.

_ROWS_LABELS = frozenset({"durable", "one_off", "chat"})


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """One turn with what a reader said of it.

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
        """Whether the turn holds something lasting."""
        return self.label == "durable"


def labelled_turn(row: dict[str, Any]) -> LabelledTurn:
    """Return the turn of a row. Raises KeyError, TypeError or ValueError if it is none."""
    label = row["label"]
    if label not in _ROWS_LABELS:
        raise ValueError(f"label {label!r} is not one of {', '.join(sorted(_ROWS_LABELS))}")
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
