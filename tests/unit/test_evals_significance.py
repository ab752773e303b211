"""How certain an evaluation is: seeded trials with a noisy model, and by hand."""

from __future__ import annotations

import random
from math import comb

import pytest

from skilld.evals.results import eval_outcome
from skilld.evals.run import ComparedTexts, Plan, pending_pairs
from skilld.evals.significance import (
    ALPHA,
    BAD_SHARE,
    GOOD_SHARE,
    POWER,
    Comparison,
    Tally,
    compare,
    detectable_share,
    interval,
    p_value,
    pairs_needed,
    power,
    tally,
)
from skilld.store.evals import StoredRun
from support.eval_cases import make_case
from support.rows import for_each

TRIALS = 1000


def evaluate(ours: float, theirs: float, seed: int, cases: int = 1) -> dict[Comparison | None, int]:
    """Run evaluations as they are planned, with a model that passes these shares; returns how often each word came."""
    chance_of = random.Random(seed)
    given = tuple(make_case(number) for number in range(cases))
    plan = Plan("notes", "/p", ComparedTexts("a", "b", "p1"), given, pairs_needed(cases), "m", "m")
    pairs, stored = [pair.number for pair in pending_pairs(plan, {})], plan.stored("")
    passed, failed = StoredRun("", passed=True), StoredRun("", passed=False)
    found: dict[Comparison | None, int] = {}
    for _ in range(TRIALS):
        runs = {
            (number, side): passed if chance_of.random() < share else failed
            for number in pairs
            for side, share in ((True, ours), (False, theirs))
        }
        said = eval_outcome(stored, runs).verdict
        found[said] = found.get(said, 0) + 1
    return found


@for_each(("cases", "seed"), [(1, 1), (1, 2), (3, 3), (5, 4)])
def test_issue_17_part_5_a_bad_edit_is_called_worse(cases: int, seed: int) -> None:
    """1,000 trials, 0.8 without the edit and 0.5 with it: power of at least 0.8, with the pairs that are planned."""
    found = evaluate(0.5, 0.8, seed, cases)
    assert found[Comparison.WORSE] >= 0.8 * TRIALS
    assert found.get(Comparison.BETTER, 0) == 0


@for_each("share", [0.8, 0.5, 0.95, 0.2])
@for_each("seed", [5, 6])
def test_issue_17_part_5_no_difference_is_seldom_called_worse(share: float, seed: int) -> None:
    """1,000 trials without any difference: at most 5 % say worse; better and worse together stay below that, too."""
    found = evaluate(share, share, seed)
    assert found.get(Comparison.WORSE, 0) <= 0.05 * TRIALS
    assert TRIALS - found[Comparison.OPEN] <= 0.05 * TRIALS


def test_issue_17_part_5_a_good_edit_is_called_better() -> None:
    found = evaluate(0.8, 0.5, 7)
    assert found[Comparison.BETTER] >= 0.8 * TRIALS
    assert found.get(Comparison.WORSE, 0) == 0


def test_a_mix_of_hard_and_easy_cases_changes_no_verdict() -> None:
    """The test counts pairs of one case each: cases of 0.95 and of 0.1, both sides alike, are no difference."""
    dice = random.Random(8)
    false = 0
    for _ in range(TRIALS):
        pairs = [tuple(dice.random() < (0.95 if number % 2 else 0.1) for _ in range(2)) for number in range(52)]
        false += compare(tally((ours, theirs) for ours, theirs in pairs)) is not Comparison.OPEN
    assert false <= 0.05 * TRIALS


def test_the_planned_pairs() -> None:
    """The number that the cost is told of; the same for each case, and no smaller number would do."""
    assert [pairs_needed(cases) for cases in (1, 2, 3, 5, 10)] == [52, 52, 54, 55, 60]
    assert power(52) >= POWER
    assert all(power(pairs) < POWER for pairs in range(1, 52))
    assert (ALPHA, GOOD_SHARE, BAD_SHARE) == (0.05, 0.8, 0.5)


def test_predicted_power_matches_trials() -> None:
    """By hand for one pair fewer than can ever be significant, and for six, which all must be lost."""
    assert power(5) == 0.0
    assert power(6) == pytest.approx((0.8 * 0.5) ** 6)
    assert power(6, 1.0, 0.0) == 1.0
    assert power(40, 0.8, 0.8) <= ALPHA / 2
    assert power(3, 1.0, 1.0) == 0.0


def test_what_a_number_of_runs_can_show() -> None:
    assert [detectable_share(pairs) for pairs in (1, 5, 10, 20, 52, 100)] == [None, None, 0.06, 0.28, 0.5, 0.59]


@for_each(
    ("gained", "lost", "p"), [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (3, 3, 1.0), (0, 10, 2 / 1024)]
)
def test_the_exact_test(gained: int, lost: int, p: float) -> None:
    assert p_value(gained, lost) == pytest.approx(p)
    assert p_value(lost, gained) == p_value(gained, lost)


def test_the_exact_test_of_many_pairs() -> None:
    assert p_value(60, 40) == pytest.approx(2 * sum(comb(100, k) for k in range(41)) / 2**100)


def test_the_interval_covers_the_truth_as_often_as_stated() -> None:
    """2,000 trials each; also where the two runs of a pair go together, as those of easy and hard cases do."""
    for ours, theirs, together in ((0.8, 0.5, 0.0), (0.8, 0.8, 0.0), (0.8, 0.5, 0.5), (0.95, 0.9, 0.0)):
        dice = random.Random(9)
        held = 0
        for _ in range(2000):
            pairs = []
            for _ in range(52):
                luck = dice.random()
                other = luck if dice.random() < together else dice.random()
                pairs.append((luck < ours, other < theirs))
            low, high = interval(tally(pairs))
            held += low <= ours - theirs <= high
        assert 0.93 <= held / 2000 <= 0.995


@for_each(
    ("counted", "low", "high"), [(Tally(), -1.0, 1.0), (Tally(both=10), -0.277, 0.277), (Tally(gained=10), 0.607, 1.0)]
)
def test_the_interval_at_its_ends(counted: Tally, low: float, high: float) -> None:
    assert interval(counted) == pytest.approx((low, high), abs=0.002)


def test_no_verdict_before_the_last_pair() -> None:
    plan = Plan("notes", "/p", ComparedTexts("a", "b"), (make_case(0),), 10, "m", "m")
    runs = {(number, side): StoredRun("", not side) for number in range(9) for side in (True, False)}
    found = eval_outcome(plan.stored(""), runs)
    assert (found.verdict, found.as_json()["p"], found.tally.lost) == (None, None, 9)
    assert found.sentence == "9 of 10 pairs run; no result until all have run"
    runs |= {(9, side): StoredRun("", not side) for side in (True, False)}
    assert (
        eval_outcome(plan.stored(""), runs).sentence
        == "passed 0 of 10 with the skill, 10 of 10 without; worse, p = 0.002"
    )
    half = runs | {(9, True): StoredRun("x", None)}
    assert eval_outcome(plan.stored(""), half).verdict is None
