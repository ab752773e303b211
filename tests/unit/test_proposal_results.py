"""A worker's result as rows: nothing stored replaces or removes something else."""

from __future__ import annotations

from dataclasses import replace

from skilld.proposals import results
from skilld.protocol import BatchJob, BatchResult, NewLearning
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.types import ClosedBy, Evidence, Kind, Outcome
from support.proposals import make_proposal

NOW = 1_780_000_000.0
QUOTE = "always pnpm here, and the changelog in german"
BATCH = StoredBatch(
    "b1", "claude-code", "s1", next(iter(ClosedBy)), "pending", BatchJob(turns=("t1",)), 1, "2026-03-02T09:00:00Z"
)


def _learning(change: str, *, for_now: bool = False) -> NewLearning:
    return NewLearning(
        turn="t1", quote=QUOTE, change=change, kind=Kind.PREFERENCE, confidence=0.9, skill=None, why_kept="no place",
        for_now=for_now, place_kind=None, place="",
    )  # fmt: skip


PNPM, CHANGELOG = _learning("Use pnpm."), _learning("Write the changelog in German.")
RESULT = BatchResult(outcome=Outcome.NOTHING)
PROPOSAL = make_proposal(evidence=(Evidence("t1", QUOTE),), summary="Use pnpm.")


def _kept_changes(store: Store) -> set[str]:
    return {learning.change for learning in store.learnings.all()}


def test_two_learnings_with_the_same_words_are_both_kept_once(store: Store) -> None:
    for _ in range(2):
        results.record_result(store, BATCH, replace(RESULT, learnings=(PNPM, CHANGELOG)), NOW)
    assert sorted(learning.change for learning in store.learnings.all()) == [PNPM.change, CHANGELOG.change]


def test_a_learning_beside_a_proposal_with_the_same_words_stays(store: Store) -> None:
    results.record_result(store, BATCH, replace(RESULT, learnings=(CHANGELOG,)), NOW, proposed_now=[PROPOSAL])
    results.record_result(store, BATCH, replace(RESULT, proposals=(PROPOSAL,)), NOW)
    assert _kept_changes(store) == {CHANGELOG.change}
    results.record_result(store, BATCH, replace(RESULT, proposals=(PROPOSAL,), learnings=(CHANGELOG,)), NOW)
    assert _kept_changes(store) == {CHANGELOG.change}


def test_a_learning_kept_until_it_could_be_proposed_is_removed(store: Store) -> None:
    waiting = replace(RESULT, learnings=(_learning("Use pnpm.", for_now=True),))
    results.record_result(store, BATCH, waiting, NOW)
    assert len(results.temporary_learnings(store, waiting)) == 1
    results.record_result(store, BATCH, replace(RESULT, proposals=(PROPOSAL,)), NOW)
    assert _kept_changes(store) == set()
