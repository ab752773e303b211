"""When to show a notice, and about what. Pure: what is open, what was shown, the rules and a clock in, a digest out.

The first news is told at once; what follows is gathered until `minutes_between` have passed. Every notice tells of all
that is open, so one that is never looked at comes back once a day, and a trouble never takes the place of a proposal.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from skilld.clock import day, minute_of_day

_DAY = 86400.0
_EARLY = 120.0  # a reminder comes so many seconds early, so that none is missed where quiet hours begin


@dataclass(frozen=True, slots=True)
class Rules:
    """What the person asked for.

    `quiet` are two minutes of their day, from 0: no notice from the first up to the second, over midnight where the
    first is later. `snoozed_until` is a Unix time.
    """

    per_day: int = 12
    minutes_between: float = 15
    quiet: tuple[int, int] | None = None
    snoozed_until: float = 0.0


@dataclass(frozen=True, slots=True)
class Shown:
    """A notice that was shown at a Unix time: of which proposals it told, and of which causes of trouble."""

    at: float
    proposals: frozenset[str]
    causes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Digest:
    """What to tell now: ids of proposals and causes of trouble."""

    proposals: tuple[str, ...]
    causes: tuple[str, ...]


def due(
    proposals: Sequence[str], causes: Sequence[str], shown: Sequence[Shown], rules: Rules, now: float
) -> Digest | None:
    """Return what to tell now (Unix time), or None.

    `proposals` are the ids of all that wait to be looked at, `causes` names of troubles of today, `shown` the notices
    of the last days in any order. What the clock says was shown later than now counts for its day only.
    """
    if not proposals and not causes:
        return None
    told = frozenset().union(*(notice.proposals for notice in shown))
    today = [notice for notice in shown if day(notice.at) == day(now)]
    past = [notice for notice in shown if notice.at <= now]
    new_causes = tuple(cause for cause in dict.fromkeys(causes) if not any(cause in notice.causes for notice in today))
    if not (set(proposals) - told or new_causes or _is_forgotten(proposals, past, now)):
        return None
    last = max((notice.at for notice in past), default=0.0)
    waits = now < rules.snoozed_until or is_quiet(rules.quiet, now) or now - last < rules.minutes_between * 60
    if waits or len(today) >= rules.per_day:
        return None
    return Digest(tuple(dict.fromkeys(proposals)), new_causes)


def is_quiet(hours: tuple[int, int] | None, now: float) -> bool:
    """Whether a Unix time lies in the person's quiet hours."""
    if hours is None:
        return False
    start, end = hours
    minute = minute_of_day(now)
    return start <= minute < end if start < end else minute >= start or minute < end


def _is_forgotten(proposals: Collection[str], past: Sequence[Shown], now: float) -> bool:
    """Whether proposals wait of which the last notice is a day old."""
    told = [notice.at for notice in past if not notice.proposals.isdisjoint(proposals)]
    return bool(proposals) and now - max(told, default=0.0) >= _DAY - _EARLY
