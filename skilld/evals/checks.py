"""The checks on an answer: text that must or must not be in it, or a closed question to a judge. Pure.

Both are plain statements in the file, so other tools can grade them too: code checks `The output contains "pnpm"` and
`The output does not contain "npm"`; a model judges everything else true or false.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilld.classify.offline.choices import chosen_part, refused_part
from skilld.text import fold
from skilld.values import value_class

_MAX_LITERAL = 80  # characters
_OPEN, _CLOSE = "\"'`\u201c\u2018\u00ab", "\"'`\u201d\u2019\u00bb"
_LITERAL_STATEMENT = re.compile(
    rf"(?:the )?(?:output|answer|reply|response) (?P<verb>contains|includes|mentions|has|does not (?:contain|include|"
    rf"mention|have)|doesn['\u2019]t (?:contain|include|mention|have)|never (?:contains|includes|mentions|has)) "
    rf"(?:the (?:text|word|phrase|string) )?(?P<open>[{_OPEN}])(?P<text>[^\n]{{1,200}})(?P<close>[{_CLOSE}])\.?",
    re.IGNORECASE,
)
_QUOTED_TEXT = re.compile(r"`([^`\n]{1,80})`|\"([^\"\n]{1,80})\"|\u201c([^\u201d\n]{1,80})\u201d")
# A ban of the words that follow, without a condition: "never commit without `make check`" does not ban `make check`.
_BAN = re.compile(r"(?:please )?(?:never|do not|don['\u2019]t|avoid|stop)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:unless|except|without|only|until|before|after|if|when\w*|while|where|but|instead|than|as)\b", re.IGNORECASE
)
_WORD_CHARACTER = re.compile(r"\w")
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")
_FOLLOWED = "The output follows this instruction: {}"


@value_class
class Literal:
    """A text that an answer must contain, or must not."""

    text: str
    wanted: bool

    def holds(self, answer: str) -> bool:
        """Whether an answer meets it: whole words, case-sensitive except for a capital at the beginning."""
        sought = {self.text, self.text[:1].upper() + self.text[1:]}
        return any(_contains(one, answer) for one in sought) is self.wanted


def parse_literal(statement: str) -> Literal | None:
    """Return the check in a statement that code can do; None if it needs a judge."""
    found = _LITERAL_STATEMENT.fullmatch(fold(statement))
    if not found or {found["open"], found["close"]} & {*_APOSTROPHE.sub("", found["text"])}:
        return None  # `"a" and "b"` is two texts
    verb = found["verb"].casefold()
    return Literal(found["text"], wanted=not ("not" in verb or "n't" in verb or "n\u2019t" in verb or "never" in verb))


def literal_statement(text: str, *, wanted: bool) -> str:
    """Return the statement that code checks: an answer contains a text, or does not."""
    quoted = f"\u201c{text}\u201d" if '"' in text else f'"{text}"'
    return f"The output {'contains' if wanted else 'does not contain'} {quoted}"


def judged_statements(statements: Sequence[str]) -> list[str]:
    """Return the statements that need a judge."""
    return [one for one in statements if parse_literal(one) is None]


def passes_code(statements: Sequence[str], answer: str) -> bool:
    """Whether an answer passes every check that code can do; an empty answer never does."""
    checks = [parse_literal(one) for one in statements]
    return bool(answer.strip()) and all(one.holds(answer) for one in checks if one is not None)


def statements_for(change: str) -> list[str]:
    """Return the statements that are true of an answer that follows a change: for code if it names words, or a judge.

    Only a choice between named words, or a ban of one, is left to code: a text that is required in general need not
    occur in a particular answer.
    """
    refused = _literals(refused_part(change))
    if not refused and _BAN.match(fold(change)) and not _CONDITION.search(change):
        refused = _literals(change)
    wanted = [one for one in _literals(chosen_part(change)) if one not in refused] if refused else []
    if not refused or any(_contains(one, other) for one in refused for other in wanted):
        return [_FOLLOWED.format(fold(change))]
    return [literal_statement(one, wanted=True) for one in wanted] + [
        literal_statement(one, wanted=False) for one in refused
    ]


def _literals(text: str) -> list[str]:
    found = (next(group for group in match.groups() if group) for match in _QUOTED_TEXT.finditer(text))
    return list(dict.fromkeys(one for one in found if '"' not in one and len(one) <= _MAX_LITERAL and one.strip()))


def _contains(text: str, answer: str) -> bool:
    """Whether an answer contains a text as whole words."""
    before, behind = (
        mark if _WORD_CHARACTER.match(char) else "" for mark, char in ((r"(?<!\w)", text[0]), (r"(?!\w)", text[-1]))
    )
    return re.search(before + re.escape(text) + behind, answer) is not None
