"""Is there anything left of today's budget? Pure."""

from __future__ import annotations

from typing import Protocol

from skilld.types import Usage


class Limits(Protocol):
    """The limits of one day; 0 is none."""

    @property
    def calls(self) -> int:
        """Model calls."""

    @property
    def tokens(self) -> int:
        """Tokens, in and out."""

    @property
    def usd(self) -> float:
        """US dollars."""


def why_spent(today: Usage, limits: Limits) -> str:
    """Return which limit today's usage has reached, as a clause for the person; empty where none has."""
    if limits.calls and today.calls >= limits.calls:
        return f"{today.calls} of {limits.calls} model calls were made today"
    tokens = today.tokens_in + today.tokens_out
    if limits.tokens and tokens >= limits.tokens:
        return f"{tokens} of {limits.tokens} tokens were used today"
    if limits.usd and today.usd >= limits.usd:
        return f"${today.usd:.2f} of ${limits.usd:.2f} were spent today"
    return ""
