"""Labelled turns as they stand in files of JSON lines.

Files in, `LabelledTurn`s out; a row that cannot be used is reported with its file and line number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilld.errors import SkilldError

_LABELS = frozenset({"durable", "one_off", "chat"})
_SHOWN = 5  # bad rows named one by one; more are counted


class BadRowsError(SkilldError):
    """A file of labelled cases has rows that cannot be scored."""


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """One turn with what a reader said of it.

    `label` is durable, one_off or chat. `sample` is "random" (drawn uniformly) or "enriched". `certainty` is the
    reader's own, 0 to 1. `kind` and `stratum` are None where the row has none.
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


def load_turns(paths: Sequence[Path]) -> list[LabelledTurn]:
    """Return the labelled turns of `paths` in order.

    Raises BadRowsError naming file and line of every row that is not one, so that no row is left out unseen, and
    OSError where a file cannot be read.
    """
    turns: list[LabelledTurn] = []
    bad: list[str] = []
    for path in paths:
        for number, line in _lines(path):
            try:
                turns.append(_turn(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                bad.append(f"{path.name}:{number}: {_why(error)}")
    if bad:
        more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
        raise BadRowsError(
            f"{len(bad)} rows cannot be scored", "; ".join(bad[:_SHOWN]) + more, "Mend or remove these lines."
        )
    return turns


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line


def _turn(row: dict[str, Any]) -> LabelledTurn:
    label = row["label"]
    if label not in _LABELS:
        raise ValueError(f"label {label!r} is none of {', '.join(sorted(_LABELS))}")
    if not isinstance(row["text"], str):
        raise TypeError("text is no string")
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


def _why(error: Exception) -> str:
    return f"no field {error}" if isinstance(error, KeyError) else str(error)
