"""The weeks of a report, starting on Mondays in the person's own time zone. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

_MAX, _MIN_COUNT = 53, 12  # a year with both its ends; and what a plot needs to look like one
_WEEK = timedelta(weeks=1)


@dataclass(frozen=True, slots=True)
class Weeks:
    """`number` weeks, from a Monday on."""

    first: date
    number: int

    @classmethod
    def over(cls, moments: Iterable[float], now: float) -> Weeks:
        """Return the weeks from the oldest of these moments (Unix times) to now, a year at most."""
        last = _monday(now)
        oldest = min((at for at in moments if 0 < at <= now), default=now)
        number = (last - _monday(oldest)) // _WEEK + 1
        number = max(_MIN_COUNT, min(number, _MAX))
        return cls(last - (number - 1) * _WEEK, number)

    def place(self, at: float) -> int | None:
        """Return the week of a moment, from 0; None if it is none of these."""
        if at <= 0:
            return None
        place = (_monday(at) - self.first) // _WEEK
        return place if 0 <= place < self.number else None

    def count(self, moments: Iterable[float]) -> tuple[int, ...]:
        """Return how many of these moments are in each week."""
        found = [0] * self.number
        for at in moments:
            place = self.place(at)
            if place is not None:
                found[place] += 1
        return tuple(found)

    @property
    def mondays(self) -> tuple[str, ...]:
        """The first day of each, as text."""
        return tuple((self.first + place * _WEEK).isoformat() for place in range(self.number))

    @property
    def ends(self) -> tuple[float, ...]:
        """The Unix time at which each is over."""
        days = (self.first + (place + 1) * _WEEK for place in range(self.number))
        return tuple(datetime(day.year, day.month, day.day).astimezone().timestamp() for day in days)


def _monday(at: float) -> date:
    day = datetime.fromtimestamp(at).astimezone().date()
    return day - timedelta(days=day.weekday())
