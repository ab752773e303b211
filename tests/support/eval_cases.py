"""Evaluation cases for tests that depend only on their number or on one field."""

from __future__ import annotations

from skilld.evals.case_file import Case
from skilld.evals.stored_cases import CaseToRun


def make_case(number: int, *statements: str) -> CaseToRun:
    """Return a case with its own prompt."""
    return CaseToRun(
        Case(str(number), f"Write the notes of version {number}", "", statements or ("It is short",)), "/e.json"
    )
