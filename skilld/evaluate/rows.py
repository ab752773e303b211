"""A labelled turn as it stands in a row of JSON: the row in, a `LabelledTurn` out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_LABELS = frozenset({"durable", "one_off", "chat"})


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


def labelled_turn(row: dict[str, Any]) -> LabelledTurn:
    """Return the turn of a row. Raises KeyError, TypeError or ValueError where it is none."""
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
