"""Evaluations and runs in the store: paid results survive a lost database, and answers are not kept long."""

from __future__ import annotations

from pathlib import Path

from skilld.daemon.recovery import open_store
from skilld.evals.results import FLAG_PREFIX, outcomes_of, result_lines, with_flag
from skilld.store import Store
from skilld.store.evals import StoredCase, StoredEval, StoredRun
from support.proposals import make_proposal

EVAL = StoredEval("e1", "notes", "/p", "p1", False, "m", "j", 6, (StoredCase("/f", "1"),), "2026-03-02T09:00:00Z")  # noqa: FBT003 - a field
NOW = 1_772_500_000.0


def filled_store(path: Path, *, ours: bool) -> Store:
    """Return a store with an evaluation whose runs passed only on one side."""
    store = open_store(path, NOW)
    store.proposals.add(make_proposal(id="p1"))
    with store.transaction():
        store.evals.add(EVAL)
        for number in range(EVAL.pairs):
            for side in (True, False):
                store.evals.save_run("e1", number, StoredRun("an answer " * 100, None), ours=side)
                store.evals.save_run("e1", number, StoredRun("an answer " * 100, side is ours), ours=side)
    return store


def test_runs_survive_a_lost_database_and_only_failed_answers_keep_their_beginning(tmp_path: Path) -> None:
    store = filled_store(tmp_path / "skilld.db", ours=True)
    runs = store.evals.runs("e1")
    store.close()
    for file in tmp_path.glob("skilld.db*"):
        file.unlink()
    again = open_store(tmp_path / "skilld.db", NOW)
    assert again.evals.get("e1") == EVAL
    assert again.evals.runs("e1") == runs
    again.evals.add(EVAL)
    assert again.evals.runs("e1") == runs, "begun again it stays as it is"
    assert [one.id for one in again.evals.of_proposal("p1")] == ["e1"]
    assert again.evals.of_proposal("p2") == []
    again.close()
    assert {len(run.answer) for (_, side), run in runs.items() if side} == {0}
    assert {len(run.answer) for (_, side), run in runs.items() if not side} == {400}
    assert len(runs) == 12


def test_a_proposal_shows_its_newest_evaluation_without_repeating_itself(tmp_path: Path) -> None:
    store = filled_store(tmp_path / "skilld.db", ours=False)
    proposal = store.proposals.get("p1")
    assert proposal
    line = "passed 0 of 6 with the edit, 6 of 6 without; worse, p = 0.031"
    assert result_lines(store, proposal) == [f"evals: {line}"]
    (eval_outcome,) = outcomes_of(store, proposal)
    worse = with_flag(proposal, eval_outcome)
    assert worse.flags == (FLAG_PREFIX + line,)
    assert result_lines(store, worse) == []
    assert with_flag(worse, eval_outcome).flags == worse.flags, "and not twice"
    store.close()
