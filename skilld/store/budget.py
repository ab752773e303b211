"""The daily budget for models: whether a limit is reached, and the table of costs."""

from __future__ import annotations

from typing import Any, Protocol

from skilld.store.connection import Table
from skilld.types import Usage


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


def spent_limit(today: Usage, limits: Limits) -> str | None:
    """Return which limit today's usage has reached, as a clause for the person; None if none has."""
    if limits.calls and today.calls >= limits.calls:
        return f"{today.calls} of {limits.calls} model calls used"
    tokens = today.tokens_in + today.tokens_out
    if limits.tokens and tokens >= limits.tokens:
        return f"{tokens} of {limits.tokens} tokens used"
    if limits.usd and today.usd >= limits.usd:
        return f"${today.usd:.2f} of ${limits.usd:.2f} spent"
    return None


TEST_QUESTION = "(test question)"  # booked in place of a skill when it is checked that the judge answers
_MAX_JOB_COST = 10**9  # tokens or dollars: a job that claims more is booked with this


class UsageLog(Table):
    """The table of costs."""

    def add(self, day: str, model: str, skill: str, usage: Usage) -> None:
        """Book one job's calls on `day` (YYYY-MM-DD)."""
        if not usage.calls:
            return
        # The endpoint reports the tokens: SQLite cannot store every number, and no cost is negative.
        tokens = [min(max(0, count), _MAX_JOB_COST) for count in (usage.tokens_in, usage.tokens_out)]
        self._db.execute(
            """INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (day, model, skill) DO UPDATE SET calls = calls + excluded.calls,
               tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out,
               usd = usd + excluded.usd""",
            (day, model, skill, usage.calls, *tokens, min(max(0.0, usage.usd), float(_MAX_JOB_COST))),
        )

    def on(self, day: str, skill: str | None = None) -> Usage:
        """Return what was spent on `day`, in total or on one skill."""
        row = self._db.execute(
            """SELECT coalesce(sum(calls), 0), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
               coalesce(sum(usd), 0.0) FROM usage WHERE day = ?1 AND (?2 IS NULL OR skill = ?2)""",
            (day, skill),
        ).fetchone()
        return Usage(*row)

    def rows(self) -> list[dict[str, Any]]:
        """Return everything booked, newest day first."""
        return [dict(row) for row in self._db.execute("SELECT * FROM usage ORDER BY day DESC, model, skill")]
