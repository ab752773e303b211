"""What a lint rule says: its name, what follows from it, and a sentence for the person. Imports no rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skilld.text import cut, fold, safe_text

_SHOWN = 80  # characters of the skill's text that a sentence quotes


class Severity(StrEnum):
    """What a finding, or all of them together, means for a proposal."""

    PASS = "pass"  # noqa: S105 - a severity, no password
    FLAG = "flag"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a rule found in an edit. `severity` is FLAG or REFUSE; `sentence` is safe to show anywhere."""

    rule: str
    severity: Severity
    sentence: str


def refuse(rule: str, sentence: str, shown: str = "") -> Finding:
    """Make a finding for which nothing may be proposed. `shown` is quoted behind the sentence, escaped and cut."""
    return Finding(rule, Severity.REFUSE, _sentence(sentence, shown))


def flag(rule: str, sentence: str, shown: str = "") -> Finding:
    """Make a finding that the person must see and that rules out applying the edit by itself."""
    return Finding(rule, Severity.FLAG, _sentence(sentence, shown))


def _sentence(sentence: str, shown: str) -> str:
    return f"{sentence}: {cut(safe_text(fold(shown)), _SHOWN)}" if shown else f"{sentence}."
