"""What a lint rule says: its name, what follows from it, and a sentence for the person. Imports no rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from skilld.edit.change import Change
from skilld.edit.tokens import is_forbidden
from skilld.text import cut, fold, folded, safe_text

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


# Lint rules that are nothing but a pattern and a sentence: how to write them down, and the one way to run them.
#
# `verbs`, `nouns` and `near` give regular expressions for English as people write it, so that a rule's table reads
# as a list of words.

_SPACE = re.compile(r"\s{2,}")


class Phrase(NamedTuple):
    """One rule. What its pattern finds is let pass where the sentence forbids it.

    A refusal becomes a flag where the sentence forbids what is found, or where the person typed it word for word: a
    real wish is shown, not blocked.
    """

    rule: str
    severity: Severity
    sentence: str
    pattern: re.Pattern[str]


def phrase(rule: str, severity: Severity, sentence: str, *alternatives: str) -> Phrase:
    """Make a phrase out of regular expressions, any of which may match, in whatever case."""
    return Phrase(rule, severity, sentence, re.compile("|".join(f"(?:{part})" for part in alternatives), re.IGNORECASE))


def verbs(words: str) -> str:
    """Return an expression for the regular forms of the blank-separated verbs."""
    return rf"\b(?:{'|'.join(_verb(word) for word in words.split())})\b"


def _verb(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return rf"{word[:-1]}(?:y|ies|ied|ying)"
    stem = word.removesuffix("e")
    return rf"{stem}(?:(?:e|es|ed|ing|s)|{stem[-1]}(?:ed|ing))?"


def nouns(words: str) -> str:
    """Return an expression for the blank-separated nouns in both numbers; an underscore stands for white space.

    With a question mark behind the underscore the white space may be missing.
    """
    return rf"\b(?:{'|'.join(_noun(word) for word in words.split())})\b"


def _noun(word: str) -> str:
    word = word.replace("_?", r"[\s-]*").replace("_", r"[\s-]+")
    return rf"{word[:-1]}(?:y|ies)" if re.search(r"[^aeiou]y$", word) else rf"{word}(?:e?s)?"


def near(first: str, second: str, within: int = 70) -> str:
    """Return an expression for both in one sentence and in this order, at most `within` characters apart."""
    return rf"(?:{first})[^.\n]{{0,{within}}}?(?:{second})"


def squeezed(text: str) -> str:
    """Return `text` with every run of white space made one blank, or one line's end: a run can hide nothing."""
    return _SPACE.sub(lambda run: "\n" if "\n" in run[0] else " ", text)


def find(change: Change, phrases: Iterable[Phrase], text: str) -> Iterator[Finding]:
    """Yield what the phrases find in `text`, except what the edit only takes over from a line it replaces."""
    for rule, severity, sentence, pattern in phrases:
        for match in change.matches(pattern, text):
            forbidden = is_forbidden(text, match.start())
            if severity is Severity.REFUSE:
                wanted = forbidden or folded(match[0]) in change.said
                yield (flag if wanted else refuse)(rule, sentence, match[0])
            elif not forbidden:
                yield flag(rule, sentence, match[0])


SET_ASIDE = verbs("ignore disregard forget override bypass dismiss neglect")
