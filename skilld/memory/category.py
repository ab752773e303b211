"""What sort of knowledge a lasting thing is: tool usage, pattern, decision or architecture. Pure, by its words."""

from __future__ import annotations

import re
from enum import StrEnum


class Category(StrEnum):
    """The four categories."""

    TOOL_USAGE = "tool_usage"
    PATTERN = "pattern"
    DECISION = "decision"
    ARCHITECTURE = "architecture"


# The first that fits: what names parts of a system is architecture even where it names a tool too.
_SIGNS: tuple[tuple[Category, re.Pattern[str]], ...] = (
    (
        Category.ARCHITECTURE,
        re.compile(
            r"\b(?:modules?|layers?|packages?|services?|schemas?|interfaces?|dependenc(?:y|ies)|architectures?|components?"
            r"|boundar(?:y|ies)|adapters?|database tables?|lives? (?:in|under)|belongs? (?:in|to))\b",
            re.IGNORECASE,
        ),
    ),
    (
        Category.DECISION,
        re.compile(
            r"\b(?:we (?:use|chose|do not|don't)|decided|instead of|rather than|over|prefer|not \w+,? but)\b|, not ",
            re.IGNORECASE,
        ),
    ),
    (
        Category.TOOL_USAGE,
        re.compile(r"`[^`]+`|\b(?:run|use|install|command|flags?|options?|cli|script|--[a-z][\w-]+)\b", re.IGNORECASE),
    ),
)


def category(text: str) -> Category:
    """Return the category of an instruction; a pattern of working where nothing says otherwise."""
    return next((name for name, sign in _SIGNS if sign.search(text)), Category.PATTERN)
