"""The report as values: what `--json` prints, and the source of the page and the lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta

from skilld.clock import local_date
from skilld.values import value_class

# The weeks of a report, starting on Mondays in the person's own time zone.

_MAX_WEEKS, _MIN_WEEKS = 53, 12  # a year with both ends; the fewest that make a readable plot
_WEEK = timedelta(weeks=1)


@value_class
class Weeks:
    """`number` weeks from the Monday `first` on."""

    first: date
    number: int

    @classmethod
    def spanning(cls, moments: Iterable[float], now: float) -> Weeks:
        """Return the weeks from the first of these moments (Unix times) to now, at most a year."""
        last = _monday(now)
        oldest = min((at for at in moments if 0 < at <= now), default=now)
        number = (last - _monday(oldest)) // _WEEK + 1
        number = max(_MIN_WEEKS, min(number, _MAX_WEEKS))
        return cls(last - (number - 1) * _WEEK, number)

    def index_of(self, at: float) -> int | None:
        """Return the index of a moment's week; None if it is in none of these."""
        if at <= 0:
            return None
        try:
            place = (_monday(at) - self.first) // _WEEK
        except (ValueError, OverflowError):  # no day in this time zone: a transcript may claim any time
            return None
        return place if 0 <= place < self.number else None

    def count(self, moments: Iterable[float]) -> tuple[int, ...]:
        """Return how many of these moments are in each week."""
        found = Counter(map(self.index_of, moments))
        return tuple(found[place] for place in range(self.number))

    @property
    def mondays(self) -> tuple[str, ...]:
        """The first day of each week, as text."""
        return tuple((self.first + place * _WEEK).isoformat() for place in range(self.number))

    def first_moment(self, moments: Iterable[float], now: float) -> float:
        """Return the first of these moments that is in one of the weeks; now if none is."""
        return min((at for at in moments if at <= now and self.index_of(at) is not None), default=now)

    @property
    def ends(self) -> tuple[float, ...]:
        """The Unix time at which each week ends."""
        days = (self.first + (place + 1) * _WEEK for place in range(self.number))
        return tuple(datetime(day.year, day.month, day.day).astimezone().timestamp() for day in days)


def _monday(at: float) -> date:
    day = datetime.fromtimestamp(at).astimezone().date()
    return day - timedelta(days=day.weekday())


Week = tuple[int, ...]  # one number a week, as long as `Report.weeks`


@value_class
class FileCounts:
    """A file, and how many instructions went there; `kind` is a TargetKind."""

    path: str
    kind: str
    taught: int
    accepted: int
    open: int


@value_class
class TaughtCounts:
    """Lasting instructions by destination, including "waiting" and "said"; a proposal may contain several.

    `unjudged` messages are still to be judged, so that there may be more.
    """

    total: int
    where: Mapping[str, int]
    per_week: Mapping[str, Week]
    most_in_a_week: int
    files: tuple[FileCounts, ...]
    unjudged: int = 0


@value_class
class DecisionCounts:
    """Proposal outcomes, by state; `percent` of the decided ones stayed accepted, half within `days`.

    `outcomes` are the states that any is in, where "reverted" are only those that the person took back: "replaced" are
    those that gave way to newer ones.
    """

    states: Mapping[str, int]
    percent: int | None
    days: float | None
    outcomes: Mapping[str, int]


@value_class
class Share:
    """In how many of the sessions where rules applied they were stated; each rule counts its own sessions."""

    sessions: int
    repeats: int
    percent: int | None


@value_class
class RuleRow:
    """One rule; `between` is the confidence interval in percent; `text` is set only with words."""

    path: str
    line: int
    state: str
    before: Share
    after: Share
    between: tuple[int, int]
    text: str = ""


@value_class
class WeeklyShares:
    """Shares by week, relative to the week in which each rule was added; `weeks` start below zero."""

    weeks: tuple[int, ...]
    shares: tuple[Share, ...]
    most_percent: int


@value_class
class Repeats:
    """Repeated rules. `per_week` counts statements "before" the rule was added and "after"."""

    states: Mapping[str, int]
    before: Share
    after: Share
    per_week: Mapping[str, Week]
    most_in_a_week: int
    around: WeeklyShares
    rules: tuple[RuleRow, ...]
    unread: bool  # some transcripts have not been read for this yet


@value_class
class FileWeight:
    """The tokens of a file that sessions loaded: now, and at the end of each week; None if it did not exist."""

    path: str
    sessions: int
    now: int
    change: int
    per_week: tuple[int | None, ...]


@value_class
class ModelCost:
    """What one model cost."""

    model: str
    calls: int
    tokens: int
    usd: float


@value_class
class Cost:
    """What was spent, and on which models; `usd` is 0 if no price is known. `per_week` is in `unit`."""

    calls: int
    tokens: int
    usd: float
    unit: str  # usd | tokens
    per_week: tuple[float, ...]
    most_in_a_week: float
    models: tuple[ModelCost, ...]
    accepted: int
    per_accepted: float | None  # in `unit`


@value_class
class Group:
    """An agent or a project: its sessions, and how much was taught, accepted and repeated in them."""

    name: str
    sessions: int
    taught: int
    accepted: int
    repeats: int


@value_class
class Lesson:
    """One instruction in words: the edit, and the person's quotes, redacted."""

    at: str
    what: str
    quotes: tuple[str, ...]
    where: str
    state: str


@value_class
class Report:
    """The whole report. `weeks` are the Mondays; `lessons` are the newest, and only with words.

    `since` is the time of the first event in the report; `weeks` may begin before it.
    """

    made_at: str
    since: str
    weeks: tuple[str, ...]
    words: bool
    sessions: int
    taught: TaughtCounts
    decided: DecisionCounts
    again: Repeats
    weight: tuple[FileWeight, ...]
    cost: Cost
    agents: tuple[Group, ...]
    projects: tuple[Group, ...]
    lessons: tuple[Lesson, ...] = ()

    @property
    def weeks_since(self) -> int:
        """The number of weeks since the first event."""
        first = local_date(self.since)
        return 1 + sum(monday > first for monday in self.weeks)

    @property
    def has_news(self) -> bool:
        """Whether there is anything to report."""
        decided = sum(self.decided.states.values())
        return bool(self.sessions or self.taught.total or decided or self.cost.calls or self.again.rules)
