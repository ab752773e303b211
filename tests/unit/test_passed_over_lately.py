"""The newest things that were passed over are kept for two weeks, unless something came of their words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skilld.proposals.passed_over import forget_ask, load_passed_over
from skilld.proposals.results import record_result
from skilld.protocol import BatchJob, BatchResult, NewLearning
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.types import ClosedBy, Evidence, Kind, Outcome
from support.proposals import make_proposal

DAY = 86400.0
NOW = 1_790_000_000.0
BATCH = StoredBatch("b1", "codex", "s1", ClosedBy.IDLE, "pending", BatchJob(cwd="/p"), 0, "2026-01-01T00:00:00Z")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "skilld.db")


def _said(turn: str, quote: str) -> NewLearning:
    return NewLearning(turn, quote, f"{quote}.", Kind.PREFERENCE, 0.2, None, "its wording is unknown")


def _record(
    store: Store, *said: NewLearning, at: float = NOW, result: BatchResult | None = None, batch: StoredBatch = BATCH
) -> None:
    base = result or BatchResult(outcome=Outcome.NOTHING)
    with store.transaction():
        record_result(store, batch, replace(base, passed_over=said), at)


def test_the_newest_twenty_of_a_project_are_kept_for_two_weeks_each_once(store: Store) -> None:
    for number in range(25):
        for _ in range(2):
            _record(store, _said(f"t{number}", f"never do {number}"), at=NOW + number)
    kept = load_passed_over(store, NOW + DAY)
    assert [one.quote for one in kept] == [f"never do {number}" for number in range(24, 4, -1)]
    assert (kept[0].project, kept[0].session_id) == ("/p", "s1")
    assert load_passed_over(store, NOW + 15 * DAY) == []
    _record(store, _said("t99", "never again"), at=NOW + 15 * DAY)
    assert [one.quote for one in load_passed_over(store, NOW + 10)] == ["never again"], "old ones are deleted"
    _record(store, at=NOW + 30 * DAY)
    assert load_passed_over(store, NOW + 10) == [], "also where nothing was passed over"


def test_other_projects_push_none_out_until_there_are_two_hundred(store: Store) -> None:
    _record(store, _said("first", "never do this"))
    for number in range(1, 12):
        batch = replace(BATCH, job=BatchJob(cwd=f"/p{number}"))
        _record(store, *(_said(f"t{number}-{n}", f"never do {n}") for n in range(25)), batch=batch)
        kept = load_passed_over(store, NOW)
        assert len(kept) == min(20 * number + 1, 200)
        assert ("never do this" in [one.quote for one in kept]) == (number < 10)


def test_words_of_a_learning_or_proposal_are_not_passed_over(store: Store) -> None:
    learned = NewLearning("t1", "always sign, never push", "Always sign.", Kind.FACT, 0.8, None, "no file")
    proposed = make_proposal(id="p1", evidence=(Evidence("t2", "never mock"),))
    result = BatchResult(outcome=Outcome.PROPOSED, proposals=(proposed,), learnings=(learned,))
    said = _said("t1", "never push"), _said("t2", "never mock"), _said("t3", "never push")
    _record(store, *said, result=result)
    assert [one.turn_key for one in load_passed_over(store, NOW)] == ["t3"]
    forget_ask(store, load_passed_over(store, NOW))
    assert load_passed_over(store, NOW) == []
