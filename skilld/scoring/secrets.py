"""Scores the redactor on labelled texts.

A text counts as flagged if redacting changes it. Rows of UNSCORED_TIERS have no answer that everybody agrees on; they
get figures of their own and count nowhere else. Knows nothing of how secrets are found.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from skilld.scoring.turns import group_by_key
from skilld.values import value_class

UNSCORED_TIERS = frozenset({"ambiguous-negative", "optional-pii"})


class TextRedactor(Protocol):
    """The redactor to score."""

    def redact(self, text: str) -> str:
        """Return `text` without its secrets."""


@value_class
class SecretCase:
    """A labelled text. `kind` is the kind of secret that it contains or only looks like.

    `parts` are the secrets themselves, if the row has them: none of them may remain.
    """

    id: str
    text: str
    kind: str
    tier: str
    secret: bool
    parts: tuple[str, ...] = ()


@value_class
class JudgedText:
    """A case and whether the redactor changed its text or, for a case with parts, removed all of them."""

    case: SecretCase
    flagged: bool


def secret_case(row: Mapping[str, Any]) -> SecretCase:
    """Return the case of a row, whose texts are in base64 so that no scanner takes the file for a leak.

    Raises KeyError, TypeError or ValueError for an invalid row.
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


def judge(case: SecretCase, redactor: TextRedactor) -> JudgedText:
    """Redact the text of a case and score the result."""
    redacted = redactor.redact(case.text)
    return JudgedText(case, not _is_leaked(case, redacted) if case.parts else redacted != case.text)


def _is_leaked(case: SecretCase, redacted: str) -> bool:
    """Whether a secret remains. Of a seed phrase, which contains blanks, not even one word may remain."""
    words = {word for part in case.parts if case.kind == "seed" for word in part.split()}
    return any(part in redacted for part in case.parts) or not words.isdisjoint(redacted.split())


def figures(judged: list[JudgedText]) -> dict[str, Any]:
    """Return recall by tier, the share of harmless texts flagged (0 if there are none), and counts by kind."""
    counted = [case for case in judged if case.case.tier not in UNSCORED_TIERS]
    secrets = group_by_key((one.case.tier, one) for one in judged if one.case.secret)
    reported = group_by_key((one.case.tier, one) for one in judged if one.case.tier in UNSCORED_TIERS)
    kinds = group_by_key((one.case.kind, one) for one in counted)
    return {
        "kind": "secrets",
        "n": len(judged),
        "recall_by_tier": {tier: _share(group) for tier, group in secrets.items()},
        "negatives_flagged": _share([case for case in counted if not case.case.secret]),
        "not_counted": {tier: _counts(group) for tier, group in reported.items()},
        "by_kind": {kind: _counts(group) for kind, group in kinds.items()},
    }


def outcome_rows(judged: Iterable[JudgedText]) -> list[dict[str, Any]]:
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
