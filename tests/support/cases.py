"""Cases of a skill, for tests that care for their number or for one of their fields."""

from __future__ import annotations

from skilld.evals.case_file import Case
from skilld.evals.stored_cases import CaseToRun


def kept(number: int, *statements: str) -> CaseToRun:
    """Return a case with a prompt of its own."""
    return CaseToRun(
        Case(str(number), f"Write the notes of version {number}", "", statements or ("It is short",)), "/e.json"
    )
