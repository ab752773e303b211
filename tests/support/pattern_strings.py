"""Strings that are expensive for a regular expression: a prefix, many repetitions, then a mismatch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

# Python's own reader of patterns: nobody else reads possessive ones and atomic groups.
_parser: Any = re._parser  # type: ignore[attr-defined]
c: Any = re._constants  # type: ignore[attr-defined]

# One of each sort: of a class those are taken that it holds.
_ALPHABET = " \n\ta0.-(<\"'\\/,:_#*`=@A[{|é漢я\u3000"
_MANY = 100  # repetitions from which a bounded one counts as unbounded
_OF_A_CLASS, _OF_A_BRANCH, _PER_PATTERN = 2, 3, 24
_BREAK = "\x01"  # no pattern asks for it

Pump = tuple[str, str, str]


def slow_strings(pattern: re.Pattern[Any]) -> list[Pump]:
    """Return (before, what to repeat, after) for a pattern, each once, the plainest first."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found: dict[Pump, None] = {}
    for before, unit in islice(_repeats(tree, ""), _PER_PATTERN):
        for start in dict.fromkeys(("", before)):
            found.setdefault((start, unit, _BREAK))
        if before:
            found.setdefault(("", before + unit, _BREAK))
            found.setdefault(("", before, _BREAK))
    return [pump for pump in found if pump[1]]


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    for code, argument in tree:
        if code in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            _, most, inside = argument
            if most >= _MANY:
                yield from ((before, unit) for unit in _samples(inside))
            yield from _repeats(inside, before)
        elif code is c.SUBPATTERN:
            yield from _repeats(argument[3], before)
        elif code is c.ATOMIC_GROUP:
            yield from _repeats(argument, before)
        elif code is c.BRANCH:
            for branch in argument[1]:
                yield from _repeats(branch, before)
        elif code in (c.ASSERT, c.ASSERT_NOT):
            yield from _repeats(argument[1], before)
        before += next(iter(_samples([(code, argument)])), "")


def _samples(tree: Any) -> list[str]:
    """Return a few strings that a part of a pattern matches, as far as it can tell without lookarounds."""
    found = [""]
    for code, argument in tree:
        parts = _samples_of(code, argument)
        found = list(dict.fromkeys(a + b for a in found for b in parts))[:_OF_A_CLASS]
    return found


def _samples_of(code: Any, argument: Any) -> Sequence[str]:  # noqa: PLR0911 - one case a node
    if code is c.LITERAL:
        return [chr(argument)]
    if code is c.NOT_LITERAL:
        return [letter for letter in _ALPHABET if ord(letter) != argument][:_OF_A_CLASS]
    if code is c.ANY:
        return [" ", "a", "<", "漢"]
    if code is c.IN:
        return _of_class(argument)
    if code in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
        least, most, inside = argument
        return [one * max(least, min(1, most)) for one in _samples(inside)]
    if code is c.SUBPATTERN:
        return _samples(argument[3])
    if code is c.ATOMIC_GROUP:
        return _samples(argument)
    if code is c.BRANCH:
        return [one for branch in argument[1][:_OF_A_BRANCH] for one in _samples(branch)[:2]]
    return [""]


def _of_class(items: Any) -> list[str]:
    held = [letter for letter in _ALPHABET if _holds(items, letter)]
    if held:
        # The first and the last: blanks stand first, letters of other scripts last.
        return list(dict.fromkeys(held[: _OF_A_CLASS - 1] + held[-1:]))
    firsts = [chr(argument if code is c.LITERAL else argument[0]) for code, argument in items if code is not c.NEGATE]
    return firsts[:1]


def _holds(items: Any, letter: str) -> bool:
    negated = False
    for code, argument in items:
        if code is c.NEGATE:
            negated = True
        elif (
            (code is c.LITERAL and ord(letter) == argument)
            or (code is c.RANGE and argument[0] <= ord(letter) <= argument[1])
            or (code is c.CATEGORY and re.match(_CATEGORIES[argument], letter))
        ):
            return not negated
    return negated


_CATEGORIES = {
    c.CATEGORY_SPACE: r"\s",
    c.CATEGORY_NOT_SPACE: r"\S",
    c.CATEGORY_WORD: r"\w",
    c.CATEGORY_NOT_WORD: r"\W",
    c.CATEGORY_DIGIT: r"\d",
    c.CATEGORY_NOT_DIGIT: r"\D",
}
