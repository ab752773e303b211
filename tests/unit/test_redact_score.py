"""Scores on labelled texts: by hand on a few rows, and thresholds on the development file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skilld.redact import Redactor
from skilld.scoring.secrets import figures, judge, outcome_rows, secret_case
from support.rows import for_each

DATA = Path(__file__).parents[2].parent / "shared" / "data"
REDACTOR = Redactor(bytes(32))


def row(number: int, text: str, *, secret: bool, kind: str, tier: str = "format") -> dict[str, Any]:
    sample = base64.b64encode(text.encode()).decode()
    return {"id": f"r{number}", "sample_b64": sample, "should_redact": secret, "kind": kind, "tier": tier}


ROWS = [
    row(1, "password=hunter22", secret=True, kind="keyword"),
    row(2, "sesame, open", secret=True, kind="keyword"),
    row(3, "run the tests", secret=False, kind="keyword"),
    row(4, "api_key=k2f9Lq81Zt", secret=False, kind="other", tier="keyword-entropy"),
    row(5, "password='letmein'", secret=True, kind="other", tier="keyword-entropy"),
    row(6, "password='letmein'", secret=False, kind="doubtful", tier="ambiguous-negative"),
    row(7, "10.0.0.7", secret=True, kind="ip", tier="optional-pii"),
]


def scores_of(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return figures([judge(secret_case(each), REDACTOR) for each in rows])


def test_scores_of_a_few_rows() -> None:
    assert scores_of(ROWS) == {
        "kind": "secrets",
        "n": 7,
        "recall_by_tier": {"format": 0.5, "keyword-entropy": 1.0, "optional-pii": 0.0},
        "negatives_flagged": 0.5,
        "not_counted": {
            "ambiguous-negative": {"secrets": 0, "found": 0, "harmless": 1, "flagged": 1},
            "optional-pii": {"secrets": 1, "found": 0, "harmless": 0, "flagged": 0},
        },
        "by_kind": {
            "keyword": {"secrets": 2, "found": 1, "harmless": 1, "flagged": 0},
            "other": {"secrets": 1, "found": 1, "harmless": 1, "flagged": 1},
        },
    }


def test_no_rows_give_empty_scores() -> None:
    empty = figures([])
    assert (empty["n"], empty["recall_by_tier"], empty["negatives_flagged"]) == (0, {}, 0.0)


def test_an_outcome_holds_labels_and_no_text() -> None:
    assert outcome_rows([judge(secret_case(ROWS[0]), REDACTOR)]) == [
        {"id": "r1", "kind": "keyword", "tier": "format", "should_redact": True, "flagged": True}
    ]


@for_each("broken", [{"sample_b64": "?"}, {"should_redact": "yes"}, {"sample_b64": None}])
def test_an_invalid_row_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        secret_case(ROWS[0] | broken)


def test_a_missing_field_is_refused() -> None:
    with pytest.raises(KeyError):
        secret_case({"id": "r1", "sample_b64": "", "should_redact": True, "kind": "k"})


def lines(name: str) -> Iterator[dict[str, Any]]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


@pytest.mark.parametrize("half", [0, 1], ids=["seen", "unseen"])
def test_the_thresholds_hold_on_both_halves_of_the_development_file(half: int) -> None:
    """The rules were written with the first half (by hash of the id) in view; the second was only ever counted."""
    rows = [line for line in lines("security/secrets.dev.jsonl") if _half_of(line["id"]) == half]
    scored = scores_of(rows)
    assert scored["recall_by_tier"]["format"] >= 0.99
    assert scored["recall_by_tier"]["keyword-entropy"] >= 0.80


def test_harmless_texts_of_the_development_file_are_mostly_left_alone() -> None:
    assert scores_of(lines("security/secrets.dev.jsonl"))["negatives_flagged"] <= 0.2


def test_real_typed_text_is_left_unchanged() -> None:
    """Secrets were taken out of these turns before, so whatever is touched is a mistake."""
    touched = [turn["id"] for turn in lines("eval/turns.dev.jsonl") if REDACTOR.findings(turn["text"])]
    assert touched == []


def _half_of(row_id: str) -> int:
    return hashlib.sha256(row_id.encode()).digest()[0] & 1


SENTENCES = Path(__file__).parents[1] / "data/secrets"


# The rules were written with the first half in view. Each held set was scored once, and no rule changed to its rows:
# 0.89 and 0.02 for the first, with the rules as they were then; 0.92 and 0 for the second, by another writer.
@for_each(("half", "recall", "flagged"), [("dev", 0.99, 0.01), ("held", 0.88, 0.03), ("held2", 0.91, 0.02)])
def test_s7_the_scores_of_natural_sentences_hold(half: str, recall: float, flagged: float) -> None:
    text = (SENTENCES / f"sentences.{half}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    scored = scores_of(rows)
    assert scored["recall_by_tier"]["sentence"] >= recall
    assert scored["negatives_flagged"] <= flagged


def test_no_word_of_a_seed_phrase_may_remain() -> None:
    class FirstWord:
        def redact(self, text: str) -> str:
            return text.replace("gift", "[x]")

    row = {"id": "r", "kind": "seed", "tier": "sentence", "should_redact": True}
    row |= {"sample_b64": "Z2lmdCB2aWxsYWdl", "secrets_b64": ["Z2lmdCB2aWxsYWdl"]}  # gift village
    assert not judge(secret_case(row), FirstWord()).flagged
