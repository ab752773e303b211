"""The checks on an answer: text that must or must not be in it, or a closed question to a judge.

Both are plain statements in the file, so that any other tool can grade them too: `The output contains "pnpm"` and
`The output does not contain "npm"` are looked up, everything else is judged true or false by a model. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skilld.classify.offline.choices import chosen_part, turned_down
from skilld.text import fold

_MAX_LITERAL = 80  # characters
_OPEN, _CLOSE = "\"'`\u201c\u2018\u00ab", "\"'`\u201d\u2019\u00bb"
_STATED = re.compile(
    rf"(?:the )?(?:output|answer|reply|response) (?P<verb>contains|includes|mentions|has|does not (?:contain|include|"
    rf"mention|have)|doesn['\u2019]t (?:contain|include|mention|have)|never (?:contains|includes|mentions|has)) "
    rf"(?:the (?:text|word|phrase|string) )?[{_OPEN}](?P<text>[^\n]{{1,200}})[{_CLOSE}]\.?",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"`([^`\n]{1,80})`|\"([^\"\n]{1,80})\"|\u201c([^\u201d\n]{1,80})\u201d")
# A ban of the very words that follow, and nothing that says when: else "never commit without `make check`" bans that.
_BANS = re.compile(r"(?:please )?(?:never|do not|don['\u2019]t|avoid|stop)\b", re.IGNORECASE)
_DEPENDS = re.compile(
    r"\b(?:unless|except|without|only|until|before|after|if|when\w*|while|where|but|instead|than|as)\b", re.IGNORECASE
)
_WORDY = re.compile(r"\w")
_WITH, _WITHOUT = 'The output contains "{}"', 'The output does not contain "{}"'
_KEPT = "The output follows this instruction: {}"


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that must stand in an answer, or must not."""

    text: str
    wanted: bool

    def holds(self, answer: str) -> bool:
        """Whether an answer has it as wanted: whole words, as they are written; a small first letter may be large."""
        sought = {self.text, self.text[:1].upper() + self.text[1:]}
        return any(_stands(one, answer) for one in sought) is self.wanted


def literal(statement: str) -> Literal | None:
    """Return the check that a statement is for code; None if it takes a judge."""
    found = _STATED.fullmatch(fold(statement))
    if not found:
        return None
    verb = found["verb"].casefold()
    return Literal(found["text"], wanted=not ("not" in verb or "n't" in verb or "n\u2019t" in verb or "never" in verb))


def questions(statements: Sequence[str]) -> list[str]:
    """Return the statements that take a judge."""
    return [one for one in statements if literal(one) is None]


def passes_code(statements: Sequence[str], answer: str) -> bool:
    """Whether all that code can check of an answer holds; an empty answer never does."""
    checks = [literal(one) for one in statements]
    return bool(answer.strip()) and all(one.holds(answer) for one in checks if one is not None)


def statements_for(change: str) -> list[str]:
    """Return what is true of an answer that keeps to a change: by code where it names words, else for a judge.

    Only a choice between named words, or a ban of one, is left to code: that a text must be there in general says
    nothing of one answer.
    """
    refused = _literals(turned_down(change))
    if not refused and _BANS.match(fold(change)) and not _DEPENDS.search(change):
        refused = _literals(change)
    wanted = [one for one in _literals(chosen_part(change)) if one not in refused] if refused else []
    if not refused or any(_stands(one, other) for one in refused for other in wanted):
        return [_KEPT.format(fold(change))]
    return [*(_WITH.format(one) for one in wanted), *(_WITHOUT.format(one) for one in refused)]


def _literals(text: str) -> list[str]:
    found = (next(group for group in match.groups() if group) for match in _LITERAL.finditer(text))
    return list(dict.fromkeys(one for one in found if '"' not in one and len(one) <= _MAX_LITERAL and one.strip()))


def _stands(text: str, answer: str) -> bool:
    """Whether a text is in an answer with no letter or digit of another word next to it."""
    before, behind = (
        mark if _WORDY.match(char) else "" for mark, char in ((r"(?<!\w)", text[0]), (r"(?!\w)", text[-1]))
    )
    return re.search(before + re.escape(text) + behind, answer) is not None
