"""How significant a comparison is: an exact test over pairs, an interval, and the number of pairs needed.

A pair is one case run once with the edit and once without. Only pairs that came out differently tell the two apart:
with no difference between them it is as likely that the one with the edit passed as the other one, whichever case it
was, so a binomial test on these (McNemar's, exact) holds whatever the cases are and however hard. Pure.

The number of pairs is set before the first run, and nothing is claimed before the last: who looks at every pair, and
stops when it suits, is wrong far more often than ALPHA says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from skilld.effect.figures import wilson

ALPHA = 0.05  # of saying "better" or "worse", both together, where there is no difference
POWER = 0.85  # of seeing what is looked for: planned so that no draw of 1,000 evaluations falls below 80 %
GOOD, BAD = 0.8, 0.5  # what is looked for: a skill that passes 80 % of its runs, and 50 % after a bad edit
MOST_PAIRS = 200
_STEP = 0.01


class Word(StrEnum):
    """What may be said of the side with the edit."""

    BETTER = "better"
    WORSE = "worse"
    OPEN = "no difference shown"


@dataclass(frozen=True, slots=True)
class Tally:
    """How many pairs passed on both sides, only with the edit, only without, and on none."""

    both: int = 0
    gained: int = 0
    lost: int = 0
    none: int = 0

    @property
    def pairs(self) -> int:
        """All of them."""
        return self.both + self.gained + self.lost + self.none

    @property
    def with_it(self) -> int:
        """How many runs with the edit passed."""
        return self.both + self.gained

    @property
    def without(self) -> int:
        """How many runs without the edit passed."""
        return self.both + self.lost


def tally(pairs: Iterable[tuple[bool, bool]]) -> Tally:
    """Count pairs, each telling whether the run with the edit passed, and the one without."""
    found = list(pairs)
    return Tally(*(found.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))


def chance(gained: int, lost: int) -> float:
    """Return the p of the exact test, both directions: how likely such a gap, or a larger one, is by chance alone."""
    number, fewer = gained + lost, min(gained, lost)
    below = sum(math.comb(number, k) for k in range(fewer + 1))
    return min(1.0, 2 * below / (1 << number))


def word(counted: Tally) -> Word:
    """Return what may be said once all pairs are in."""
    if chance(counted.gained, counted.lost) > ALPHA:
        return Word.OPEN
    return Word.BETTER if counted.gained > counted.lost else Word.WORSE


def interval(counted: Tally) -> tuple[float, float]:
    """Return between which differences (with minus without, -1 to 1) the truth lies, at 95 %: Newcombe's for pairs."""
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
    """Return how much the two runs of a pair go together, drawn in towards none, as Newcombe has it."""
    rows = counted.with_it * (counted.pairs - counted.with_it)
    columns = counted.without * (counted.pairs - counted.without)
    if not rows or not columns:
        return 0.0
    cross = float(counted.both * counted.none - counted.gained * counted.lost)
    if cross > 0:
        cross = max(0.0, cross - counted.pairs / 2)
    return cross / math.sqrt(rows * columns)


def power(pairs: int, good: float = GOOD, bad: float = BAD) -> float:
    """Return how likely "worse" is said of an edit that takes the share of passes from `good` to `bad`.

    The runs of a pair are taken as independent, which two runs of one case are at best: where they go together, fewer
    pairs come out differently by chance, and a drop is seen more easily.
    """
    lost, gained = good * (1 - bad), bad * (1 - good)
    apart = lost + gained
    if not apart:
        return 0.0
    share = gained / apart
    worse = (sum(_binomial(k, n, share) for k in range(_critical(n) + 1)) for n in range(pairs + 1))
    return sum(_binomial(n, pairs, apart) * seen for n, seen in enumerate(worse))


def pairs_needed(cases: int = 1) -> int:
    """Return the fewest pairs, the same number for each case, that see a drop from GOOD to BAD with POWER."""
    return next((n for n in range(cases, MOST_PAIRS + cases, cases) if power(n) >= POWER), cases)


def seen_with(pairs: int) -> float | None:
    """Return the highest share of passes, down from GOOD, that so many pairs tell from it with POWER; None: none."""
    low, high = 0, round(GOOD / _STEP)  # in steps down from GOOD: the lower the other one, the easier it is seen
    if power(pairs, GOOD, 0.0) < POWER:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(pairs, GOOD, GOOD - middle * _STEP) >= POWER else (middle, high)
    return round(GOOD - high * _STEP, 2)


@cache
def _critical(number: int) -> int:
    """Return the most gains among so many pairs with which the others still mean "worse"; -1 where none do."""
    return next((k for k in range(number // 2, -1, -1) if 2 * k < number and chance(k, number - k) <= ALPHA), -1)


def _binomial(k: int, number: int, share: float) -> float:
    return math.comb(number, k) * math.pow(share, k) * math.pow(1 - share, number - k)
