"""Cases of a skill, for tests that care for their number or for one of their fields."""

from __future__ import annotations

from skilld.evals.book import Case
from skilld.evals.shelf import Kept


def kept(number: int, *statements: str) -> Kept:
    """Return a case with a prompt of its own."""
    return Kept(
        Case(str(number), f"Write the notes of version {number}", "", statements or ("It is short",)), "/e.json"
    )
