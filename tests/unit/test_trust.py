from __future__ import annotations

import pytest

from skilld.proposals.past_decisions import threshold


@pytest.mark.parametrize(
    ("yes", "no", "expected"),
    [(0, 0, 0.5), (0, 1, 0.58), (0, 2, 0.633), (0, 6, 0.74), (0, 99, 0.8), (9, 0, 0.5), (2, 4, 0.58), (3, 3, 0.5)],
)
def test_each_rejection_raises_the_threshold_and_each_acceptance_lowers_it_within_bounds(
    yes: int, no: int, expected: float
) -> None:
    assert threshold(yes, no) == expected
