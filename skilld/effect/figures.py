"""What counts mean: the interval of a share, and what may be claimed about a rule. Pure.

The interval is Wilson's at 95 %, its upper end widened by what the ears miss: of what is said again they hear HEARD
(docs/effect.md); a model hears more, and then it is wider than it need be. A state is claimed only where the whole
interval lies on one side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

MIN_SESSIONS = (
    40  # sessions in which a rule could matter: with fewer nothing is said (docs/effect.md has what it costs)
)
HEARD = 0.5  # share of repeats that are heard without a model: 41 of the 82 that were scored once
MAX_HOLDS_SHARE = 0.25  # share of sessions up to which a rule holds
MIN_REPEATED_SHARE = 0.05  # from which it is repeated: at least this, whatever was missed
_Z = 1.959964  # of the normal distribution, 95 % between both ends


class RuleState(StrEnum):
    """What may be said of a rule."""

    HOLDS = "holds"
    REPEATED = "repeated"
    UNUSED = "unused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Count:
    """The sessions in which a rule could matter, and in how many of them it was said again."""

    sessions: int = 0
    repeats: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.sessions + other.sessions, self.repeats + other.repeats)

    @property
    def interval(self) -> tuple[float, float]:
        """Between which shares of such sessions the truth lies; 0 to 1 where nothing is known."""
        low, high = wilson(self.repeats, self.sessions)
        return low, min(1.0, high / HEARD)


def wilson(found: int, of: int) -> tuple[float, float]:
    """Return Wilson's interval for a share; (0, 1) of nothing."""
    if not of:
        return 0.0, 1.0
    share, width = found / of, _Z * _Z / of
    middle = (share + width / 2) / (1 + width)
    half = math.sqrt(share * (1 - share) * width + width * width / 4) / (1 + width)
    return max(0.0, middle - half), min(1.0, middle + half)


def state_of(repeated: Sequence[bool], in_reach: int = 0) -> RuleState:
    """Return what may be said of a rule.

    `repeated` says of each session in which it could matter, oldest first, whether it was said again. `in_reach` counts
    all sessions that were held where its file is read, whether or not it could matter.
    """
    if not repeated and in_reach >= MIN_SESSIONS:
        return RuleState.UNUSED
    count = Count(len(repeated), sum(repeated))
    if count.sessions < MIN_SESSIONS:
        return RuleState.UNKNOWN
    lately = Count(MIN_SESSIONS, sum(repeated[-MIN_SESSIONS:]))  # it may have held for long, and not any more
    if count.interval[0] > MIN_REPEATED_SHARE or lately.interval[0] > MIN_REPEATED_SHARE:
        return RuleState.REPEATED
    return RuleState.HOLDS if count.interval[1] < MAX_HOLDS_SHARE else RuleState.UNKNOWN
