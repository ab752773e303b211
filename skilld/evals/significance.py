"""Statistics of an evaluation: an exact test over pairs, an interval, and the number of pairs needed. Pure.

A pair is one case run once with the edit and once without. Only pairs with different outcomes tell the sides apart:
without a real difference, either side is equally likely to pass alone, whatever the case, so an exact binomial test on
these pairs (McNemar's) holds however the cases differ.

The number of pairs is fixed before the first run, and nothing is claimed before the last: looking after every pair, and
stopping at will, errs far more often than ALPHA says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from functools import cache

from skilld.effect.figures import wilson
from skilld.values import value_class

ALPHA = 0.05  # probability of "better" or "worse" if there is no difference
POWER = 0.85  # of detecting the drop below; high enough that no 1,000 simulated evaluations fall below 80 %
GOOD_SHARE, BAD_SHARE = 0.8, 0.5  # the drop to detect: the share of passed runs before and after a bad edit
MAX_PAIRS = 200
_STEP = 0.01


class Comparison(StrEnum):
    """What may be claimed about the side with the edit."""

    BETTER = "better"
    WORSE = "worse"
    OPEN = "no difference shown"


@value_class
class Tally:
    """The number of pairs that passed on both sides, only with the edit, only without it, and on neither."""

    both: int = 0
    gained: int = 0
    lost: int = 0
    none: int = 0

    @property
    def pairs(self) -> int:
        """The number of all pairs."""
        return self.both + self.gained + self.lost + self.none

    @property
    def with_it(self) -> int:
        """The number of passed runs with the edit."""
        return self.both + self.gained

    @property
    def without(self) -> int:
        """The number of passed runs without the edit."""
        return self.both + self.lost


def tally(pairs: Iterable[tuple[bool, bool]]) -> Tally:
    """Count pairs: for each, whether the run with the edit passed, and the run without."""
    found = list(pairs)
    return Tally(*(found.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))


def p_value(gained: int, lost: int) -> float:
    """Return the two-sided p of the exact test: the probability of such a gap, or a larger one, by chance."""
    number, fewer = gained + lost, min(gained, lost)
    below = sum(math.comb(number, k) for k in range(fewer + 1))
    return min(1.0, 2 * below / (1 << number))


def compare(counted: Tally) -> Comparison:
    """Return what may be claimed once all pairs are in."""
    if p_value(counted.gained, counted.lost) > ALPHA:
        return Comparison.OPEN
    return Comparison.BETTER if counted.gained > counted.lost else Comparison.WORSE


def interval(counted: Tally) -> tuple[float, float]:
    """Return the 95 % interval of the difference (with minus without, -1 to 1): Newcombe's for pairs."""
    pairs = counted.pairs
    if not pairs:
        return -1.0, 1.0
    ours, theirs = counted.with_it / pairs, counted.without / pairs
    (low, high), (low2, high2) = wilson(counted.with_it, pairs), wilson(counted.without, pairs)
    phi = _correlation(counted)
    down, up = ours - low, high - ours
    down2, up2 = theirs - low2, high2 - theirs
    below = math.sqrt(max(0.0, down * down - 2 * phi * down * up2 + up2 * up2))
    above = math.sqrt(max(0.0, up * up - 2 * phi * up * down2 + down2 * down2))
    return max(-1.0, ours - theirs - below), min(1.0, ours - theirs + above)


def _correlation(counted: Tally) -> float:
    """Return the correlation of the two runs of a pair, with Newcombe's continuity correction."""
    rows = counted.with_it * (counted.pairs - counted.with_it)
    columns = counted.without * (counted.pairs - counted.without)
    if not rows or not columns:
        return 0.0
    cross = float(counted.both * counted.none - counted.gained * counted.lost)
    if cross > 0:
        cross = max(0.0, cross - counted.pairs / 2)
    return cross / math.sqrt(rows * columns)


def power(pairs: int, good: float = GOOD_SHARE, bad: float = BAD_SHARE) -> float:
    """Return the probability of "worse" for an edit that lowers the share of passes from `good` to `bad`.

    The runs of a pair are assumed to be independent, the worst case: if they correlate, fewer pairs differ by chance,
    and a drop is easier to detect.
    """
    lost, gained = good * (1 - bad), bad * (1 - good)
    apart = lost + gained
    if not apart:
        return 0.0
    share = gained / apart
    worse = (sum(_binomial(k, n, share) for k in range(_critical_gains(n) + 1)) for n in range(pairs + 1))
    return sum(_binomial(n, pairs, apart) * seen for n, seen in enumerate(worse))


def pairs_needed(cases: int = 1) -> int:
    """Return the fewest pairs, equally many per case, that detect a drop from GOOD_SHARE to BAD_SHARE with POWER."""
    return next((n for n in range(cases, MAX_PAIRS + cases, cases) if power(n) >= POWER), cases)


def detectable_share(pairs: int) -> float | None:
    """Return the highest share of passes below GOOD_SHARE that so many pairs detect with POWER, or None."""
    low, high = 0, round(GOOD_SHARE / _STEP)  # in steps down from GOOD_SHARE: lower shares are easier to detect
    if power(pairs, GOOD_SHARE, 0.0) < POWER:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(pairs, GOOD_SHARE, GOOD_SHARE - middle * _STEP) >= POWER else (middle, high)
    return round(GOOD_SHARE - high * _STEP, 2)


@cache
def _critical_gains(number: int) -> int:
    """Return the most gains among so many differing pairs that still mean "worse"; -1 if none do."""
    return next((k for k in range(number // 2, -1, -1) if 2 * k < number and p_value(k, number - k) <= ALPHA), -1)


def _binomial(k: int, number: int, share: float) -> float:
    return math.comb(number, k) * math.pow(share, k) * math.pow(1 - share, number - k)
