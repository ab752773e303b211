"""Scores the redactor on labelled texts: rows and a redactor in, figures out.

A text counts as flagged when redacting changes it. Rows of the tiers in `REPORTED` have no right answer that everybody
shares; they get figures of their own and count nowhere else. Knows nothing of how secrets are found.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from skilld.evaluate.turns import grouped

REPORTED = frozenset({"ambiguous-negative", "optional-pii"})


class Redacts(Protocol):
    """What is scored."""

    def redact(self, text: str) -> str:
        """Return `text` without its secrets."""


@dataclass(frozen=True, slots=True)
class SecretCase:
    """A text with what a reader said of it. `kind` is the sort of secret it holds or only looks like.

    `parts` are the secrets themselves, where the row has them: none of them may be left.
    """

    id: str
    text: str
    kind: str
    tier: str
    secret: bool
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A case and whether the redactor changed its text; of one with parts, whether it left none of them."""

    case: SecretCase
    flagged: bool


def secret_case(row: Mapping[str, Any]) -> SecretCase:
    """Return the case of a row, with its texts in base64, so that no scanner takes the file for a leak.

    Raises KeyError, TypeError or ValueError for a row that is none.
    """
    if not isinstance(row["should_redact"], bool):
        raise TypeError("should_redact must be true or false")
    return SecretCase(
        id=str(row["id"]),
        text=_decoded(row["sample_b64"]),
        kind=str(row["kind"]),
        tier=str(row["tier"]),
        secret=row["should_redact"],
        parts=tuple(map(_decoded, row.get("secrets_b64", ()))),
    )


def _decoded(encoded: str) -> str:
    return base64.b64decode(encoded, validate=True).decode("utf-8", "replace")


def judge(case: SecretCase, redactor: Redacts) -> JudgedText:
    """Put one text through the redactor."""
    redacted = redactor.redact(case.text)
    return JudgedText(case, not _left(case, redacted) if case.parts else redacted != case.text)


def _left(case: SecretCase, redacted: str) -> bool:
    """Whether a secret is left. Of a seed phrase, which has blanks, no single word may be."""
    words = {word for part in case.parts if case.kind == "seed" for word in part.split()}
    return any(part in redacted for part in case.parts) or not words.isdisjoint(redacted.split())


def figures(judged: list[JudgedText]) -> dict[str, Any]:
    """Return recall by tier, the share of harmless texts flagged (0 if there are none), and counts by kind."""
    counted = [case for case in judged if case.case.tier not in REPORTED]
    secrets = grouped((one.case.tier, one) for one in judged if one.case.secret)
    reported = grouped((one.case.tier, one) for one in judged if one.case.tier in REPORTED)
    kinds = grouped((one.case.kind, one) for one in counted)
    return {
        "kind": "secrets",
        "n": len(judged),
        "recall_by_tier": {tier: _share(group) for tier, group in secrets.items()},
        "negatives_flagged": _share([case for case in counted if not case.case.secret]),
        "not_counted": {tier: _counts(group) for tier, group in reported.items()},
        "by_kind": {kind: _counts(group) for kind, group in kinds.items()},
    }


def rows_out(judged: Iterable[JudgedText]) -> list[dict[str, Any]]:
    """Return the outcome of each case: no texts, only ids and labels."""
    return [
        {
            "id": each.case.id,
            "kind": each.case.kind,
            "tier": each.case.tier,
            "should_redact": each.case.secret,
            "flagged": each.flagged,
        }
        for each in judged
    ]


def _share(judged: list[JudgedText]) -> float:
    return sum(case.flagged for case in judged) / len(judged) if judged else 0.0


def _counts(judged: list[JudgedText]) -> dict[str, int]:
    counts = Counter((case.case.secret, case.flagged) for case in judged)
    return {
        "secrets": counts[True, True] + counts[True, False],
        "found": counts[True, True],
        "harmless": counts[False, True] + counts[False, False],
        "flagged": counts[False, True],
    }
