"""A worker's result as rows: nothing stored replaces or removes something else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from skilld.clock import parse_time
from skilld.proposals import results
from skilld.proposals.remarks import describe_age
from skilld.protocol import BatchJob, BatchResult, NewLearning
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.types import ClosedBy, Evidence, How, Kind, Outcome, Span, Turn
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


def test_a_proposal_is_as_old_as_its_judging_and_names_the_day_of_older_words(store: Store, tmp_path: Path) -> None:
    """After a look back, a batch may wait for hours in which its proposal does not exist."""
    rows, days = store.transcripts, {"t1": "2024-03-01", "t2": "2024-03-05"}
    file = rows.add_file("claude-code", "/t.jsonl", tmp_path.stat(), baseline=0)
    rows.record_activity("claude-code", "s1", cwd=None, activity=0.0)
    for number, (key, day) in enumerate(days.items()):
        turn = Turn(key, "claude-code", "s1", "x", f"{day}T12:00:00Z", How.TYPED, Span(number, number + 1))
        rows.add_turn(turn, file.id, counts=True, lasting=True)
    store.batches.add(BATCH, ["t1", "t2"])
    store.batches.finish("b1", "proposed", "", "2026-03-02T15:00:00Z")
    now = (parse_time("2026-03-02T15:09:00Z") or 0) + 1
    old = replace(PROPOSAL, batch_id="b1", evidence=(Evidence("t1", QUOTE), Evidence("t2", QUOTE)))
    assert describe_age(store, old, now) == "9 minutes ago, said on 2024-03-05"
    assert describe_age(store, replace(old, evidence=old.evidence[:1]), now) == "9 minutes ago, said on 2024-03-01"
    assert describe_age(store, replace(old, evidence=(Evidence("gone", QUOTE),)), now) == "9 minutes ago"
    assert describe_age(store, replace(old, batch_id="mine-1", evidence=()), now) == "6 hours ago", "no batch is known"
    store.batches.finish("b1", "proposed", "", "2024-03-06T11:00:00Z")
    same_day = parse_time("2024-03-06T11:30:00Z") or 0
    assert describe_age(store, old, same_day) == "30 minutes ago", "said less than a day before"
