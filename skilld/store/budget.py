"""The daily budget for models: whether a limit is reached, the table of costs, and the booking of each call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from skilld.classify.backends.paid_calls import ModelCall
from skilld.clock import local_day
from skilld.store.connection import Table
from skilld.text import format_usd
from skilld.types import Usage

if TYPE_CHECKING:
    from skilld.store.database import Store


class Limits(Protocol):
    """The limits of one day; 0 means no limit."""

    @property
    def calls(self) -> int:
        """Model calls."""

    @property
    def tokens(self) -> int:
        """Tokens, in and out."""

    @property
    def usd(self) -> float:
        """US dollars."""


# How a spent limit is told, by the name of its setting.
_SPENT_WORDS = {"calls": "model calls used", "tokens": "tokens used", "usd": "spent"}


def spent_limit(today: Usage, limits: Limits) -> str | None:
    """Return which limit today's usage has reached, as a clause for the person; None if none has."""
    used = {"calls": today.calls, "tokens": today.tokens_in + today.tokens_out, "usd": today.usd}
    for name, words in _SPENT_WORDS.items():
        limit: float = getattr(limits, name)
        if limit and used[name] >= limit:
            shown = [format_usd(one) if name == "usd" else f"{one:,}" for one in (used[name], limit)]
            return f"{shown[0]} of {shown[1]} {words}"
    return None


def raise_command(spent: str) -> str:
    """Return the command that raises the limit that `spent_limit` says is reached."""
    name = next(name for name, words in _SPENT_WORDS.items() if spent.endswith(words))
    return f"skilld config set budget.{name} NUMBER"


TEST_QUESTION = "(test question)"  # booked in place of a skill when it is checked that the judge answers
_MAX_CALL_COST = 10**9  # tokens or dollars: a call that claims more is booked with this


def _credible(usage: Usage) -> Usage:
    """Return a usage that can be booked. The endpoint reports it: SQLite cannot store every number."""
    tokens_in, tokens_out = (min(max(0, count), _MAX_CALL_COST) for count in (usage.tokens_in, usage.tokens_out))
    return Usage(usage.calls, tokens_in, tokens_out, min(max(0.0, usage.usd), float(_MAX_CALL_COST)))


class UsageLog(Table):
    """The table of costs."""

    def add(self, day: str, model: str, skill: str, usage: Usage) -> None:
        """Book calls on `day` (YYYY-MM-DD)."""
        self.correct(day, model, skill, Usage(), usage)

    def correct(self, day: str, model: str, skill: str, booked: Usage, used: Usage) -> None:
        """Book what was used in place of what was `booked` before, which was expected."""
        more = _credible(used) - booked
        self._db.execute(
            """INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (day, model, skill) DO UPDATE SET calls = calls + excluded.calls,
               tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out,
               usd = usd + excluded.usd""",
            (day, model, skill, more.calls, more.tokens_in, more.tokens_out, more.usd),
        )

    def on(self, day: str, skill: str | None = None) -> Usage:
        """Return what was spent on `day`, in total or on one skill."""
        row = self._db.execute(
            """SELECT coalesce(sum(calls), 0), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
               coalesce(sum(usd), 0.0) FROM usage WHERE day = ?1 AND (?2 IS NULL OR skill = ?2)""",
            (day, skill),
        ).fetchone()
        return Usage(*row)

    def last_answer(self, model: str) -> str:
        """Return the newest day on which a model wrote anything; empty if there is none."""
        query = "SELECT coalesce(max(day), '') FROM usage WHERE model = ? AND tokens_out > 0"
        return str(self._db.execute(query, (model,)).fetchone()[0])

    def rows(self) -> list[dict[str, Any]]:
        """Return everything booked, newest day first, without models that were never reached."""
        query = "SELECT * FROM usage WHERE calls > 0 ORDER BY day DESC, model, skill"
        return [dict(row) for row in self._db.execute(query)]


class Account:
    """Books a job's calls under a skill, or what stands in its place, as long as no limit of the day is reached.

    `limits` may be a function that returns the limits in force, if they can change meanwhile. `share` is the number of
    such accounts that the budget must suffice for: with 2, half of it may be used.
    """

    def __init__(
        self,
        store: Store,
        limits: Limits | Callable[[], Limits],
        skill: str,
        *,
        share: int = 1,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._skill, self._share, self._now = store, skill, share, now
        self._limits: Callable[[], Limits] = limits if callable(limits) else lambda: limits
        self._day = ""  # of the call in progress

    def spent_limit(self) -> str | None:
        """Return which limit is reached, or None."""
        today = self._store.usage.on(local_day(self._now()))
        return spent_limit(sum([today] * self._share, Usage()), self._limits())

    def charge(self, call: ModelCall) -> str:
        """Book a call; return why it may not be made, empty if it may.

        Before it is made, it is booked with its expected size, in the transaction that looks at the limits.
        """
        with self._store.transaction():
            if call.used is None:
                if why := self.spent_limit():
                    return f"today's budget is spent: {why}"
                self._day = local_day(self._now())
                self._store.usage.add(self._day, call.model, self._skill, call.expected)
            else:
                self._store.usage.correct(self._day, call.model, self._skill, call.expected, call.used)
        return ""
