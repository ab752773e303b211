"""The report as values: what `--json` prints, and what the page and the lines are made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

# The weeks of a report, starting on Mondays in the person's own time zone.

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
        found = Counter(map(self.place, moments))
        return tuple(found[place] for place in range(self.number))

    @property
    def mondays(self) -> tuple[str, ...]:
        """The first day of each, as text."""
        return tuple((self.first + place * _WEEK).isoformat() for place in range(self.number))

    def oldest(self, moments: Iterable[float], now: float) -> float:
        """Return the oldest of these moments up to now that is in a week; now if none is."""
        return min((at for at in moments if at <= now and self.place(at) is not None), default=now)

    @property
    def ends(self) -> tuple[float, ...]:
        """The Unix time at which each is over."""
        days = (self.first + (place + 1) * _WEEK for place in range(self.number))
        return tuple(datetime(day.year, day.month, day.day).astimezone().timestamp() for day in days)


def _monday(at: float) -> date:
    day = datetime.fromtimestamp(at).astimezone().date()
    return day - timedelta(days=day.weekday())


Week = tuple[int, ...]  # one number a week, as long as `Report.weeks`


@dataclass(frozen=True, slots=True)
class Place:
    """A file, and what of what was taught went there; `kind` is a TargetKind."""

    path: str
    kind: str
    taught: int
    accepted: int
    open: int


@dataclass(frozen=True, slots=True)
class Taught:
    """Lasting things said, by where they went, "waiting" for a file, or "said" in one; a proposal may hold several."""

    total: int
    where: Mapping[str, int]
    per_week: Mapping[str, Week]
    most_in_a_week: int
    files: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """Proposal outcomes, by state; `percent` of the decided ones stayed accepted, half within `days`."""

    states: Mapping[str, int]
    percent: int | None
    days: float | None


@dataclass(frozen=True, slots=True)
class Share:
    """In how many of the sessions in which rules could matter they were said; each rule counts its own."""

    sessions: int
    repeats: int
    percent: int | None


@dataclass(frozen=True, slots=True)
class RuleRow:
    """What became of a rule; `between` are the percents between which the truth lies. `text` only with words."""

    path: str
    line: int
    state: str
    before: Share
    after: Share
    between: tuple[int, int]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """The same by weeks from the one in which each rule came in; `weeks` from below zero up."""

    weeks: tuple[int, ...]
    shares: tuple[Share, ...]
    most_percent: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """What was said again. `per_week` counts it "before" the rule was added and "after"."""

    states: Mapping[str, int]
    before: Share
    after: Share
    per_week: Mapping[str, Week]
    most_in_a_week: int
    around: Around
    rules: tuple[RuleRow, ...]
    unread: bool  # transcripts that were not read for this yet


@dataclass(frozen=True, slots=True)
class FileWeight:
    """The tokens of a file that sessions loaded: now, and at each week's end, None if it was not there."""

    path: str
    sessions: int
    now: int
    change: int
    per_week: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What one model cost."""

    model: str
    calls: int
    tokens: int
    usd: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What was spent, and what for; `usd` is 0 if no price is known. `per_week` is in `unit`."""

    calls: int
    tokens: int
    usd: float
    unit: str  # usd | tokens
    per_week: tuple[float, ...]
    most_in_a_week: float
    models: tuple[ModelCost, ...]
    accepted: int
    per_accepted: float | None  # in `unit`


@dataclass(frozen=True, slots=True)
class Group:
    """An agent or a project: its sessions, and what was taught, accepted and said again in them."""

    name: str
    sessions: int
    taught: int
    accepted: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was taught, in words: the edit, and the person's own words, redacted."""

    at: str
    what: str
    quotes: tuple[str, ...]
    where: str
    state: str


@dataclass(frozen=True, slots=True)
class Report:
    """The whole of it. `weeks` are the Mondays; `lessons` are the newest, and only with words.

    `since` is when the first thing happened that is told of; `weeks` may begin before it.
    """

    made_at: str
    since: str
    weeks: tuple[str, ...]
    words: bool
    sessions: int
    taught: Taught
    decided: DecisionCounts
    again: Repeats
    weight: tuple[FileWeight, ...]
    cost: Cost
    agents: tuple[Group, ...]
    projects: tuple[Group, ...]
    lessons: tuple[Lesson, ...] = ()

    @property
    def weeks_since(self) -> int:
        """How many of the weeks there are since there is anything to tell."""
        return 1 + sum(monday > self.since for monday in self.weeks)

    @property
    def has_news(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.sessions or self.taught.total or self.cost.calls or self.again.rules)
