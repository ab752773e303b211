"""Statistics of a rule: the interval of a share, and the state that may be claimed. Pure.

The interval is Wilson's at 95 %, its upper end widened by the repeats that go undetected: without a model, only
DETECTION_RATE of them are found (docs/measurements/effect.md). A model finds more, and the interval is then wider than
necessary. A state is claimed only if the whole interval lies on one side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from skilld.values import value_class

# Sessions in which a rule could matter; with fewer, nothing is claimed (docs/measurements/effect.md: what that costs).
MIN_SESSIONS = 40
# From when a rule was added to the newest of these sessions: many short ones on one day show nothing of other work.
MIN_UNUSED_SECONDS = 14 * 86400.0
DETECTION_RATE = 0.5  # share of repeats that are found without a model: 41 of the 82 that were once scored
MAX_HOLDS_SHARE = 0.25  # a rule holds if it is repeated in at most this share of sessions
MIN_REPEATED_SHARE = 0.05  # a rule counts as repeated from this share on, however many repeats were missed
_Z_95 = 1.959964  # quantile of the normal distribution for a two-sided 95 %


class RuleState(StrEnum):
    """What may be claimed about a rule."""

    HOLDS = "holds"
    REPEATED = "repeated"
    UNUSED = "unused"
    UNKNOWN = "unknown"


@value_class
class Count:
    """The number of sessions in which a rule could matter, and of those in which it was repeated."""

    sessions: int = 0
    repeats: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.sessions + other.sessions, self.repeats + other.repeats)

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the true share of repeats; 0 to 1 if nothing is known."""
        low, high = wilson(self.repeats, self.sessions)
        return low, min(1.0, high / DETECTION_RATE)


def wilson(found: int, of: int) -> tuple[float, float]:
    """Return Wilson's interval for a share; (0, 1) without any observation."""
    if not of:
        return 0.0, 1.0
    share, width = found / of, _Z_95 * _Z_95 / of
    middle = (share + width / 2) / (1 + width)
    half = math.sqrt(share * (1 - share) * width + width * width / 4) / (1 + width)
    return max(0.0, middle - half), min(1.0, middle + half)


def state_of(repeated: Sequence[bool], in_reach: int = 0) -> RuleState:
    """Return what may be claimed about a rule.

    `repeated` has one entry for each session in which the rule could matter, oldest first: whether it was repeated.
    `in_reach` counts all sessions with some work that loaded its file, whether or not it could matter; 0 for a rule
    that is younger than `MIN_UNUSED_SECONDS`.
    """
    if not repeated and in_reach >= MIN_SESSIONS:
        return RuleState.UNUSED
    count = Count(len(repeated), sum(repeated))
    if count.sessions < MIN_SESSIONS:
        return RuleState.UNKNOWN
    lately = Count(MIN_SESSIONS, sum(repeated[-MIN_SESSIONS:]))  # a rule that held for long may no longer do so
    if count.interval[0] > MIN_REPEATED_SHARE or lately.interval[0] > MIN_REPEATED_SHARE:
        return RuleState.REPEATED
    return RuleState.HOLDS if count.interval[1] < MAX_HOLDS_SHARE else RuleState.UNKNOWN
